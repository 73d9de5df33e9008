"""The shape changes with what is stored, and with nothing else."""

import collections
import collections.abc
import dataclasses
import enum
import json
import types
import typing
from collections.abc import Callable
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypeVar,
)

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from keepset.contracts import Drop, Extract, Keep, Refetch, Reopen, Scratch, Secret, contract_of
from tests.contracts.making import filled, state, typeddict, union

T = TypeVar("T")
UserId = NewType("UserId", str)
Many: Any = TypeAliasType("Many", list[T], type_params=(T,))  # type: ignore[arg-type]  # it takes typing's too
BoundT = TypeVar("BoundT", bound=int)


def older(name: str) -> Any:
    """Give one of typing's older names for a type."""
    return getattr(typing, name)


def shape(annotation: Any) -> str:
    return contract_of(state(field=annotation)).shape


def kept(annotation: Any) -> str:
    return shape(Annotated[annotation, Keep()])


def load(ids: object) -> object:
    return ids


def fetch(ids: object) -> object:
    return ids


def connect() -> object:
    return object()


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Box(Generic[T]):
    item: T


@dataclasses.dataclass
class Node:
    value: int
    children: "list[Node]"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (filled(older("List"), int), list[int]),
        (filled(older("Dict"), str, int), dict[str, int]),
        (filled(older("Optional"), int), int | None),
        (filled(older("Union"), int, str), str | int),
        (filled(older("Sequence"), int), collections.abc.Sequence[int]),
        (Literal["a", "b"], Literal["b", "a"]),
        (filled(Literal, "a", None), Literal["a"] | None),
        (union(Literal["a"], Literal["b"]), Literal["a", "b"]),
        (UserId, str),
        (Many[int], list[int]),
        (types.GenericAlias(Many, (int,)), list[int]),  # what the statement `type` gives
        (BoundT, int),
        (Annotated[int, "a host's marker"], int),
        (list[Annotated[int, "a host's marker"]], list[int]),
        (Annotated[int | str, "x"] | None, int | str | None),
        (Any, object),
        (T, Any),
        (None, type(None)),
        (typing.LiteralString, str),
        (UserId | str, str),
    ],
)
def test_the_spelling_of_a_type_does_not_count(one: Any, other: Any) -> None:
    assert kept(one) == kept(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (int, str),
        (int, bool),
        (list[int], list[str]),
        (list[int], set[int]),
        (int, int | None),
        (tuple[int], tuple[int, int]),
        (tuple[int], tuple[int, ...]),
        (dict[str, int], dict[int, str]),
        (Literal[1], Literal[True]),
        (Literal[1], Literal["1"]),
        (Literal["a"], str),
        (Box[int], Box[str]),
        (Box[int], Box[list[int]]),
        (Node, Box[int]),
        (Color, Literal["red", "blue"]),
        (collections.deque[int], list[int]),
    ],
)
def test_another_type_is_another_shape(one: Any, other: Any) -> None:
    assert kept(one) != kept(other)


def item(kind: str = "dataclass", name: str = "Item", **members: Any) -> Any:
    members = members or {"text": str, "size": int}
    if kind == "dataclass":
        return dataclasses.make_dataclass(name, members.items())
    if kind == "struct":
        return msgspec.defstruct(name, members.items())
    if kind == "typeddict":
        return typeddict(name, members)
    if kind == "namedtuple":
        return NamedTuple(name, members.items())
    return type(name, (BaseModel,), {"__annotations__": members, "__module__": __name__})


KINDS = ["dataclass", "struct", "typeddict", "namedtuple", "pydantic"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_of_a_nested_class_counts_wherever_it_is(kind: str) -> None:
    same = kept(filled(list, item(kind)))
    assert same == kept(filled(list, item(kind, size=int, text=str)))
    assert same != kept(filled(list, item(kind, text=str)))
    assert same != kept(filled(list, item(kind, text=str, size=str)))
    assert same != kept(filled(list, item(kind, name="Other")))


def test_the_kind_of_a_nested_class_counts() -> None:
    assert len({kept(item(kind)) for kind in KINDS}) == len(KINDS)


def test_a_member_that_may_be_absent_counts() -> None:
    assert kept(item("typeddict", a=int)) != kept(item("typeddict", a=NotRequired[int]))
    assert shape(Annotated[int, Keep()]) != shape(NotRequired[Annotated[int, Keep()]])


def test_docstrings_modules_defaults_and_the_order_of_fields_do_not_count() -> None:
    plain = dataclasses.make_dataclass("Item", [("a", int), ("b", int)])
    other = dataclasses.make_dataclass(
        "Item",
        [("b", int, dataclasses.field(default=1)), ("a", int, dataclasses.field(default=2))],
        namespace={"__doc__": "Another text.", "__module__": "elsewhere"},
    )
    assert kept(plain) == kept(other)
    a, b = Annotated[int, Keep()], Annotated[str, Keep()]
    assert contract_of(state(a=a, b=b)).shape == contract_of(state(b=b, a=a)).shape


def test_the_kind_and_name_of_the_state_itself_do_not_count() -> None:
    @dataclasses.dataclass
    class AsDataclass:
        field: Annotated[int, Keep()] = 3

    assert contract_of(AsDataclass).shape == shape(int)


def test_an_undeclared_field_has_the_shape_of_a_plain_keep() -> None:
    assert shape(int) == kept(int)


@pytest.mark.parametrize(
    "rule",
    [Refetch(load, using="field"), Reopen(connect), Secret("env:K"), Scratch(connect), Drop()],
)
def test_the_type_of_a_field_that_is_not_kept_does_not_count(rule: object) -> None:
    assert shape(Annotated[int, rule]) == shape(Annotated[str, rule])


def test_the_type_of_an_extracted_field_counts() -> None:
    assert shape(Annotated[int, Extract("a")]) != shape(Annotated[str, Extract("a")])


RULES: list[object] = [
    Keep(),
    Keep(personal=True),
    Keep(max_bytes=10),
    Keep(max_bytes=11),
    Keep(append_only=True),
    Keep(without="a"),
    Keep(without=("a", "b")),
    Keep(secrets="refuse"),
    Keep(allow="handle"),
    Keep(subject="field"),
    Refetch(load, using="field"),
    Refetch(fetch, using="field"),
    Refetch(load, using="other"),
    Refetch(load, using="field", pin="report"),
    Refetch(load, using="field", pin="refuse"),
    Reopen(connect),
    Scratch(connect),
    Secret("env:A"),
    Secret("env:B"),
    Extract("a.b"),
    Extract("a.c"),
    Extract(load),
    Drop(),
    Drop(default=None),
]


def test_every_kind_of_rule_and_every_option_is_another_shape() -> None:
    assert len({shape(Annotated[int, rule]) for rule in RULES}) == len(RULES)


def test_a_function_counts_by_its_name_and_not_by_its_code() -> None:
    def other(ids: object) -> object:
        return [ids]

    other.__name__ = "load"
    plain = shape(Annotated[int, Refetch(load, using="field")])
    assert plain == shape(Annotated[int, Refetch(other, using="field")])
    assert plain == shape(Annotated[int, Refetch(fetch, using="field", name="load")])
    assert plain != shape(Annotated[int, Refetch(load, using="field", name="fetch")])


def test_a_default_is_a_value_and_never_in_the_structure() -> None:
    contract = contract_of(state(field=Annotated[str, Drop(default="planted-value")]))
    assert "planted-value" not in contract.structure
    assert shape(Annotated[str, Drop(default="a")]) == shape(Annotated[str, Drop(default="b")])


def test_an_enum_counts_by_its_members() -> None:
    one, other = enum.Enum("Color", {"RED": 1}), enum.Enum("Color", {"RED": 1, "BLUE": 2})
    assert kept(one) != kept(other)
    odd = [enum.Enum("Color", {"RED": object()}) for _ in range(2)]
    assert kept(odd[0]) == kept(odd[1])


def test_a_class_that_holds_itself_has_a_structure_that_ends() -> None:
    found = json.loads(contract_of(state(field=Node)).structure)
    assert found["fields"]["field"]["type"] == {"class": "Node"}
    assert found["classes"]["Node"]["members"]["children"]["type"] == ["list", {"class": "Node"}]


def test_a_deep_diamond_of_classes_is_described_in_linear_size() -> None:
    cls: Any = item(name="C0")
    for depth in range(1, 40):
        cls = item(name=f"C{depth}", left=cls, right=cls)
    assert len(contract_of(state(field=cls)).structure) < 10_000


def test_the_structure_is_canonical_json_and_the_shape_32_digits_of_its_digest() -> None:
    contract = contract_of(state(field=Annotated[Box[int] | None, Keep(personal=True)]))
    again = json.dumps(json.loads(contract.structure), sort_keys=True, separators=(",", ":"))
    assert contract.structure == again
    assert len(contract.shape) == 32
    assert set(contract.shape) <= set("0123456789abcdef")


def test_a_shape_stays_the_same_from_release_to_release() -> None:
    fields = {
        "docs": Annotated[list[Box[int]], Keep(max_bytes=9)],
        "color": Annotated[Color | None, Keep()],
        "db": Annotated[object, Reopen(connect)],
    }
    assert contract_of(state(**fields)).shape == "15c0fdb20fc1e64d380fd6b69c0dbfb9"


LEAVES = st.sampled_from([int, str, bytes, Color, Node, Any])
TYPES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda t: filled(list, t)),
        inner.map(lambda t: filled(dict, str, t)),
        inner.map(lambda t: filled(Box, t)),
        st.lists(inner, min_size=2, max_size=3).map(lambda ts: filled(tuple, *ts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda ts: union(*ts)),
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("abcd"), TYPES, min_size=1), st.randoms())
def test_shuffled_fields_and_unions_have_the_same_structure(
    fields: dict[str, Any], chance: Any
) -> None:
    names = list(fields)
    chance.shuffle(names)
    shuffled = {name: _shuffle(fields[name], chance.shuffle) for name in names}
    assert contract_of(state(**fields)).structure == contract_of(state(**shuffled)).structure


def _shuffle(annotation: Any, shuffle: Callable[[list[Any]], None]) -> Any:
    arguments = [_shuffle(argument, shuffle) for argument in typing.get_args(annotation)]
    if not arguments:
        return annotation
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        shuffle(arguments)
        return union(*arguments)
    return origin[tuple(arguments)]
