"""What a step gives is cut to what a resumed step would see, and the step's own values stay."""

import collections
import copy
import dataclasses
import traceback
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, TypedDict

import attrs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from keepset.codec import Withheld
from keepset.contracts import Drop, Extract, Keep, contract_of
from keepset.contracts.paths import parse_glob
from keepset.contracts.pruned import pruned
from keepset.errors import PolicyError
from tests.contracts.making import state


class Message(BaseModel):
    content: str
    response_metadata: dict[str, Any] = {}
    usage: int | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    content: str


class Choice(BaseModel):
    message: Message


class Completion(BaseModel):
    choices: list[Choice]


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    text: str
    raw: dict[str, int]
    size: int


@attrs.frozen
class Attrs:
    text: str
    raw: list[int] = attrs.field(factory=lambda: [0])


class Struct(msgspec.Struct, frozen=True):
    text: str
    raw: bytes = b""


class Named(NamedTuple):
    text: str
    raw: str = ""


def cut(value: Any, *globs: str) -> Any:
    made = state(field=Annotated[Any, Keep(without=globs)])
    return contract_of(made).admit({"field": value})["field"]


RAW = {"tokens": 3}


@pytest.mark.parametrize(
    ("value", "glob", "left"),
    [
        ({"a": 1, "b": 2}, "b", {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, "*.b", {"a": {"c": 2}}),
        ({"a": [{"b": 1}, {"c": 2}]}, "a[*].b", {"a": [{}, {"c": 2}]}),
        ([{"a": 1}, {"a": 2}], "[1].a", [{"a": 1}, {}]),
        ([1, 2], "[*]", []),
        ((1, {"x": 1}), "[*].x", (1, {})),
        ({"usage_in": 1, "usage_out": 2, "use": 3}, "usage_*", {"use": 3}),
        ({"a": {"b": {"x": 1}}, "x": 2}, "**.x", {"a": {"b": {}}}),
        ({"a.b": 1, "c": 2}, '["a.b"]', {"c": 2}),
        ({3: "x", (1,): {"b": 1}}, "*.b", {3: "x", (1,): {}}),
        (
            [Message(content="a", response_metadata=RAW, usage=3)],
            "*.response_metadata",
            [Message(content="a", usage=3)],
        ),
        (Message(content="a", usage=3), "usage", Message(content="a")),
        (
            Message(content="a", response_metadata={"x": 1, "y": 2}),
            "*.x",
            Message(content="a", response_metadata={"y": 2}),
        ),
        (Part("a", RAW, 3), "raw", Part("a", {}, 3)),
        (Attrs("a", [1]), "raw", Attrs("a", [0])),
        (Struct("a", b"x"), "raw", Struct("a")),
        (Named("a", "x"), "raw", Named("a")),
        (SimpleNamespace(a=1, b=2), "b", SimpleNamespace(a=1)),
        (collections.deque([{"b": 1}], 3), "*.b", collections.deque([{}], 3)),
        (collections.OrderedDict(a=1, b=2), "b", collections.OrderedDict(a=1)),
        ({"a": 1}, "nothing", {"a": 1}),
        ("text", "**", "text"),
    ],
)
def test_what_a_path_names_is_left_out_of_a_copy(value: Any, glob: str, left: Any) -> None:
    before = copy.deepcopy(value)
    found = cut(value, glob)
    assert found == left
    assert type(found) is type(left)
    assert value == before
    assert cut(found, glob) == found


def test_a_value_in_which_nothing_is_named_is_the_same_object() -> None:
    value = [{"a": Message(content="x")}, Part("a", {}, 1)]
    assert cut(value, "**.response_metadata", "*.raw", "[7].a") is value


def test_what_is_not_affected_is_shared() -> None:
    value = [{"a": 1}, {"b": 2}]
    found = cut(value, "*.b")
    assert found[0] is value[0]


def test_a_deque_keeps_its_bound() -> None:
    assert cut(collections.deque([1, 2], 5), "[*]").maxlen == 5


def test_an_attribute_that_is_reset_counts_as_never_set() -> None:
    message = Message(content="a", usage=3)
    found = cut(message, "usage")
    assert found.model_fields_set == {"content"}
    assert message.model_fields_set == {"content", "usage"}


def test_an_extra_attribute_of_an_open_model_goes() -> None:
    value = Open(content="a", more={"x": 1}, other=2)  # type: ignore[call-arg]  # extra is allowed
    assert cut(value, "other").model_extra == {"more": {"x": 1}}
    assert cut(value, "more.x").model_extra == {"more": {}, "other": 2}
    assert value.model_extra == {"more": {"x": 1}, "other": 2}


def test_an_attribute_that_can_be_neither_defaulted_nor_emptied_is_refused_by_its_path() -> None:
    with pytest.raises(PolicyError) as caught:
        cut([Part("a", RAW, 424242)], "*.size")
    assert caught.value.code == "without.required"
    assert "field[0].size" in caught.value.message
    assert "424242" not in str(caught.value)


def test_a_value_that_holds_itself_twice_does_not_hold_up_the_walk() -> None:
    value: dict[str, Any] = {"b": 1}
    value["one"] = value["two"] = value
    found = cut(value, "**.b")
    assert "b" not in found
    assert found["one"] is value


class State(TypedDict):
    answer: Annotated[str, Extract("choices[0].message.content")]
    size: Annotated[int, Extract(len)]
    part: Annotated[dict[str, Any], Extract("message")]
    gone: Annotated[int, Drop()]
    reset: Annotated[list[int], Drop(default=[])]
    question: Annotated[str, Keep()]


CONTRACT = contract_of(State)
ANSWER = {"choices": [{"message": {"content": "yes"}}]}


@pytest.mark.parametrize(
    "response",
    [ANSWER, Completion.model_validate(ANSWER), SimpleNamespace(**ANSWER)],
)
def test_a_path_leads_through_keys_attributes_and_indexes(response: object) -> None:
    assert CONTRACT.admit({"answer": response}) == {"answer": "yes"}


def test_an_index_counts_from_the_end_where_it_is_negative() -> None:
    made = state(last=Annotated[int, Extract("[-1]")])
    assert contract_of(made).admit({"last": [1, 2, 3]}) == {"last": 3}


def test_a_function_extracts_and_its_result_may_be_anything() -> None:
    assert CONTRACT.admit({"size": [1, 2, 3]}) == {"size": 3}


class OddError(Exception):
    """An Exception and no more."""


class Hostile:
    @property
    def choices(self) -> object:
        raise OddError("planted")


def refuse(value: object) -> object:
    raise OddError(f"planted {value}")


@pytest.mark.parametrize("what", [refuse, "choices[0]"])
def test_an_exception_of_what_extracts_is_told_by_its_type_alone(what: Any) -> None:
    contract = contract_of(state(answer=Annotated[str, Extract(what)]))
    with pytest.raises(PolicyError) as caught:
        contract.admit({"answer": Hostile()})
    assert caught.value.code == "extract.failed"
    assert caught.value.message.startswith("answer: ")
    assert "OddError" in caught.value.message
    assert "planted" not in "".join(traceback.format_exception(caught.value))


def test_an_error_of_ours_inside_a_function_that_extracts_is_the_one_that_is_seen() -> None:
    contract = contract_of(state(answer=Annotated[str, Extract(lambda value: f"{value}!")]))
    with pytest.raises(PolicyError) as caught:
        contract.admit({"answer": Withheld("secret.name", "answer")})
    assert caught.value.code == "secret.withheld"


def test_a_plain_value_is_already_extracted() -> None:
    assert CONTRACT.admit({"answer": "yes"}) == {"answer": "yes"}
    assert CONTRACT.admit({"answer": None}) == {"answer": None}


def test_a_value_of_the_declared_type_into_which_the_path_does_not_lead_passes() -> None:
    assert CONTRACT.admit({"part": {"message": {"a": 1}}}) == {"part": {"a": 1}}
    assert CONTRACT.admit({"part": {"a": 1}}) == {"part": {"a": 1}}


def test_only_what_a_step_has_changed_is_extracted() -> None:
    once = {"size": 3, "part": {"message": {"x": 1}}}
    assert CONTRACT.admit(once, changed=set()) == once
    assert CONTRACT.admit(once, changed={"part"}) == {"size": 3, "part": {"x": 1}}


@pytest.mark.parametrize("response", [{"choices": []}, {"choice": 1}, [1], Message(content="a")])
def test_a_path_that_leads_nowhere_is_refused_with_the_field_and_the_type(response: object) -> None:
    with pytest.raises(PolicyError) as caught:
        CONTRACT.admit({"answer": response})
    assert caught.value.code == "extract.path"
    assert caught.value.message.startswith(f"answer: a {type(response).__name__}")


def test_a_dropped_field_has_its_default_or_is_absent_at_once() -> None:
    assert CONTRACT.admit({"gone": 1, "reset": [1], "question": "?"}) == {
        "reset": [],
        "question": "?",
    }


def test_fields_that_a_step_does_not_give_are_not_added() -> None:
    assert CONTRACT.admit({"question": "?"}) == {"question": "?"}


KEYS = st.sampled_from(["a", "b", "ab"])
VALUES = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=12,
)
PIECES = st.sampled_from(["a", "b", "*", "**", "a*", "[*]", "[0]"])


def glob_of(pieces: list[str]) -> str:
    return "".join(p if p.startswith("[") or not i else f".{p}" for i, p in enumerate(pieces))


@given(VALUES, st.lists(PIECES, min_size=1, max_size=3).map(glob_of))
def test_cutting_never_touches_the_value_that_was_given(value: Any, glob: str) -> None:
    before = copy.deepcopy(value)
    pruned(value, parse_glob(glob), ())
    assert value == before


@given(VALUES, KEYS)
def test_no_key_of_a_name_is_left_anywhere(value: Any, name: str) -> None:
    def holds(place: Any) -> bool:
        if isinstance(place, dict):
            return name in place or any(map(holds, place.values()))
        return isinstance(place, list | tuple) and any(map(holds, place))

    assert not holds(pruned(value, parse_glob(f"**.{name}"), ()))


def test_a_value_deeper_than_the_stack_is_cut_as_far_as_one_can_be_stored() -> None:
    value: Any = {"raw": 1}
    for depth in range(3_000):
        value = {"down": value, **({"raw": depth} if depth > 2_750 else {})}
    found = cut(value, "**.raw")
    for _ in range(249):
        assert list(found) == ["down"]
        found = found["down"]
