"""A contract names the classes of what it keeps, and no others."""

import collections
import dataclasses
import enum
import sqlite3
from typing import Annotated, Generic, NamedTuple, TypedDict, TypeVar

import attrs
import msgspec
import pytest
from pydantic import BaseModel, ConfigDict

from keepset.contracts import Drop, Extract, Keep, check, contract, contract_of
from keepset.errors import SchemaError
from tests.contracts.making import state

T = TypeVar("T")


class Color(enum.Enum):
    RED = 1


class Elsewhere:
    class Color(enum.Enum):
        BLUE = 2


Elsewhere.Color.__qualname__ = "Color"


class Point(NamedTuple):
    x: int
    color: Color


@attrs.define
class Made:
    point: Point


class Struct(msgspec.Struct):
    made: dict[str, Made]


class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    struct: Struct | None


class Between(TypedDict):
    models: tuple[Model, ...]


@dataclasses.dataclass
class Box(Generic[T]):
    item: T


class Outer:
    @dataclasses.dataclass
    class Inner:
        again: "list[Outer.Inner]"


class Dropped(BaseModel):
    x: int


class Extracted(BaseModel):
    x: int


@contract(name="shop", epoch=1)
class State(TypedDict):
    between: Annotated[list[Between], Keep()]
    box: Box[Outer.Inner]
    dropped: Annotated[Dropped, Drop()]
    extracted: Annotated[Extracted, Extract("x")]
    db: Annotated[sqlite3.Connection | None, Drop()]


def test_every_class_of_what_is_kept_is_named_under_the_contract_however_deep() -> None:
    assert contract_of(State).classes == {
        "shop/Model": Model,
        "shop/Struct": Struct,
        "shop/Made": Made,
        "shop/Point": Point,
        "shop/Color": Color,
        "shop/Box": Box,
        "shop/Outer.Inner": Outer.Inner,
        "shop/Extracted": Extracted,
    }


def test_a_local_class_has_its_whole_qualified_name() -> None:
    @dataclasses.dataclass
    class Local:
        x: int

    class Holder(TypedDict):
        local: Local

    (name,) = contract_of(Holder).classes
    assert name.endswith("Holder/" + Local.__qualname__)
    assert "<locals>" in name


def test_two_classes_with_one_name_are_found_and_cannot_be_written() -> None:
    items = Annotated[collections.deque[Elsewhere.Color], Keep(max_bytes=9)]
    contract = contract_of(state(one=Annotated[Color, Keep()], items=items))
    found = [problem for problem in check(contract) if problem.severity == "error"]
    assert [(p.code, p.path) for p in found] == [("class.same-name", "items[*]")]
    with pytest.raises(SchemaError) as caught:
        _ = contract.classes
    assert caught.value.code == "class.same-name"


def test_one_class_in_two_places_is_no_problem() -> None:
    class Twice(TypedDict):
        one: Annotated[Color, Keep()]
        two: Annotated[Color | None, Keep()]

    assert check(Twice) == []
    assert list(contract_of(Twice).classes.values()) == [Color]
