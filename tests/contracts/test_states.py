"""Every kind of state is read alike: its fields, rules, defaults and what may be absent."""

import dataclasses
import operator
from typing import (
    Annotated,
    Any,
    Generic,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    TypeVar,
)

import msgspec
import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field

from keepset.contracts import MISSING, Drop, Keep, Scratch, Secret, contract_of
from keepset.errors import SchemaError, UsageError
from tests.contracts.making import state

T = TypeVar("T")
U = TypeVar("U")
UserId = NewType("UserId", str)


class AsDict(TypedDict):
    question: Annotated[str, Keep(personal=True)]
    ids: Annotated[list[str], Keep(), operator.add]
    key: Annotated[str, Secret("env:KEY")]
    note: NotRequired[str]


@dataclasses.dataclass
class AsDataclass:
    question: Annotated[str, Keep(personal=True)]
    ids: Annotated[list[str], Keep(), operator.add]
    key: Annotated[str, Secret("env:KEY")]
    note: str = ""


class AsModel(BaseModel):
    question: Annotated[str, Keep(personal=True)]
    ids: Annotated[list[str], Keep(), operator.add]
    key: Annotated[str, Secret("env:KEY")]
    note: str = ""


class AsStruct(msgspec.Struct):
    question: Annotated[str, Keep(personal=True)]
    ids: Annotated[list[str], Keep(), operator.add]
    key: Annotated[str, Secret("env:KEY")]
    note: str = ""


@pytest.mark.parametrize("kind", [AsDict, AsDataclass, AsModel, AsStruct])
def test_every_kind_of_state_has_the_same_fields_and_rules(kind: type) -> None:
    fields = contract_of(kind).fields
    assert list(fields) == ["question", "ids", "key", "note"]
    assert [field.rule for field in fields.values()] == [
        Keep(personal=True),
        Keep(),
        Secret("env:KEY"),
        Keep(),
    ]
    assert [field.declared for field in fields.values()] == [True, True, True, False]
    assert [field.required for field in fields.values()] == [True, True, True, False]
    assert fields["ids"].annotation == list[str]
    assert fields["ids"].metadata == (Keep(), operator.add)


def test_only_a_typeddict_may_lack_a_field() -> None:
    assert contract_of(AsDict).fields["note"].optional
    assert not contract_of(AsDataclass).fields["note"].optional


class Partial(TypedDict, total=False):
    loose: str
    tight: Required[str]
    inside: Annotated[Required[str], Keep()]
    outside: Required[Annotated[str, Keep()]]


class Whole(Partial):
    added: str
    free: Annotated[NotRequired[int], Keep(), operator.add]


def test_required_and_not_required_are_seen_in_every_place_and_through_inheritance() -> None:
    fields = contract_of(Whole).fields
    optional = {name for name, field in fields.items() if field.optional}
    assert optional == {"loose", "free"}
    assert fields["free"].annotation is int
    assert fields["inside"].declared
    assert fields["outside"].declared


class Extended(typing_extensions.TypedDict):
    fixed: typing_extensions.ReadOnly[Annotated[str, Keep(personal=True)]]
    free: typing_extensions.NotRequired[Annotated[int, Keep()]]


def test_a_typeddict_of_typing_extensions_is_read_like_any_other() -> None:
    fields = contract_of(Extended).fields
    assert fields["fixed"].rule == Keep(personal=True)
    assert fields["fixed"].annotation is str
    assert [field.optional for field in fields.values()] == [False, True]


@dataclasses.dataclass
class Base:
    first: Annotated[int, Keep(max_bytes=10)]


@dataclasses.dataclass
class Child(Base):
    second: Annotated[list[int], Scratch(list)] = dataclasses.field(default_factory=list)
    derived: int = dataclasses.field(default=1, init=False)
    shared: Any = dataclasses.field(default=None, kw_only=True)


def test_fields_of_a_base_and_those_that_the_constructor_does_not_take_are_fields() -> None:
    fields = contract_of(Child).fields
    assert list(fields) == ["first", "second", "derived", "shared"]
    assert fields["first"].rule == Keep(max_bytes=10)
    assert fields["second"].fill({}) == []
    assert fields["second"].fill({}) is not fields["second"].fill({})


@dataclasses.dataclass
class Box(Generic[T]):
    item: Annotated[T, Keep()]
    items: Annotated[dict[str, list[T]], Keep()]


@dataclasses.dataclass
class Crate(Box[list[U]], Generic[U]):
    label: Annotated[U, Keep()]


class Pair(TypedDict, Generic[T]):
    left: Annotated[T, Keep()]
    right: Annotated[Optional[T], Keep()]  # noqa: UP045 - the older way of writing is tested


class IntPair(Pair[int]):
    extra: str


class Model(BaseModel, Generic[T]):
    item: Annotated[T, Keep()]


class Cell(msgspec.Struct, Generic[T]):
    item: Annotated[T, Keep()]


@pytest.mark.parametrize(
    ("made", "field", "annotation"),
    [
        (Box[int], "item", int),
        (Box[int], "items", dict[str, list[int]]),
        (Crate[str], "item", list[str]),
        (Crate[str], "label", str),
        (Pair[int], "left", int),
        (IntPair, "left", int),
        (IntPair, "right", int | None),
        (Model[int], "item", int),
        (Cell[int], "item", int),
        (Box, "item", T),
    ],
)
def test_type_variables_are_filled_in(made: Any, field: str, annotation: object) -> None:
    assert contract_of(made).fields[field].annotation == annotation


class Defaults(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    given: int = 3
    listed: list[int] = [1]
    made: dict[str, int] = Field(default_factory=dict)
    dependent: int = Field(default_factory=lambda data: data["given"] + 1)
    dropped: Annotated[int, Drop(default=7)] = 8


def test_defaults_are_given_as_the_state_would_make_them() -> None:
    fields = contract_of(Defaults).fields
    assert fields["given"].default == 3
    assert fields["listed"].fill({}) == [1]
    assert fields["listed"].fill({}) is not fields["listed"].fill({})
    assert fields["made"].fill({}) == {}
    assert fields["dependent"].fill({"given": 4}) == 5
    assert (fields["dropped"].default, fields["dropped"].fill({})) == (7, 7)


def test_a_default_of_drop_is_a_copy_each_time() -> None:
    class State(TypedDict):
        seen: Annotated[list[int], Drop(default=[])]

    field = contract_of(State).fields["seen"]
    first = field.fill({})
    assert isinstance(first, list)
    first.append(1)
    assert field.fill({}) == []


def test_a_field_without_default_has_none() -> None:
    field = contract_of(AsDict).fields["question"]
    assert field.default is MISSING
    assert field.fill({}) is MISSING


class Plain:
    name: str


@pytest.mark.parametrize("thing", [Plain, int, dict, list[int], 3, None, "State", {}])
def test_what_is_no_state_is_refused_with_what_is_one(thing: object) -> None:
    with pytest.raises(UsageError) as caught:
        contract_of(thing)
    assert caught.value.code == "contract.not-a-state"
    assert "TypedDict" in caught.value.hint


@pytest.mark.parametrize(
    ("annotation", "code"),
    [
        (Annotated[str, Keep(), Secret("env:KEY")], "rule.two"),
        (Annotated[Annotated[str, Keep()], Keep()], "rule.two"),
        (Annotated[str, Keep], "marker.class"),
        (Annotated[str, Secret], "marker.class"),
        (Keep, "marker.class"),
    ],
)
def test_a_declaration_that_can_be_read_in_two_ways_makes_no_contract(
    annotation: Any, code: str
) -> None:
    made = state(field=annotation)
    with pytest.raises(SchemaError) as caught:
        contract_of(made)
    assert caught.value.code == code
    assert "State.field" in caught.value.message


def test_a_rule_as_a_default_value_makes_no_contract() -> None:
    @dataclasses.dataclass
    class State:
        field: Any = Keep()  # noqa: RUF009 - the mistake that is tested

    with pytest.raises(SchemaError) as caught:
        contract_of(State)
    assert caught.value.code == "marker.default"


def test_a_rule_in_place_of_a_type_makes_no_contract() -> None:
    @dataclasses.dataclass
    class State:
        field: Keep()  # type: ignore[valid-type]  # the mistake that is tested

    with pytest.raises(SchemaError) as caught:
        contract_of(State)
    assert caught.value.code == "marker.bare"
