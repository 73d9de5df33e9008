"""A class in a state gains and loses members while runs are stored."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, NamedTuple, NotRequired, TypedDict, TypeVar

import attrs
import msgspec
import pytest
from pydantic import BaseModel

from keepset.codec import GLOBAL, Codec
from keepset.contracts import Differences, Keep, compare, contract_of
from keepset.errors import DecodeError
from tests.contracts.making import state

T = TypeVar("T")


@dataclass
class Plain:
    text: str


@dataclass
class PlainLonger(Plain):
    sizes: list[int] = field(default_factory=list)


@dataclass
class PlainRequired(Plain):
    size: int


@dataclass
class PlainWider:
    text: str | None


@dataclass
class PlainRetyped:
    text: int


class Model(BaseModel):
    text: str


class ModelLonger(Model):
    size: int = 1


class ModelRequired(Model):
    size: int


class Struct(msgspec.Struct):
    text: str


class StructLonger(Struct):
    size: int = 1


class StructRequired(Struct):
    size: int


@attrs.define
class Attrs:
    text: str


@attrs.define
class AttrsLonger(Attrs):
    size: int = 1


@attrs.define
class AttrsRequired(Attrs):
    size: int


class Named(NamedTuple):
    text: str


class NamedLonger(NamedTuple):
    text: str
    size: int = 1


class NamedRequired(NamedTuple):
    text: str
    size: int


class Color(enum.Enum):
    RED = 1


class ColorLonger(enum.Enum):
    RED = 1
    BLUE = 2


class ColorOther(enum.Enum):
    RED = 3


class Mapping(TypedDict):
    text: str


class MappingLonger(Mapping):
    size: NotRequired[int]


class MappingRequired(Mapping):
    size: int


@dataclass
class Box(Generic[T]):
    item: T


@dataclass
class BoxLonger(Generic[T]):
    item: T
    size: int = 1


@dataclass
class Holder:
    plain: Plain


@dataclass
class HolderLonger:
    plain: PlainLonger


@dataclass
class HolderRequired:
    plain: PlainRequired


for kind in ("Plain", "Model", "Struct", "Attrs", "Named", "Color", "Mapping", "Box", "Holder"):
    for how in ("Longer", "Required", "Wider", "Retyped", "Other"):
        if kind + how in globals():
            globals()[kind + how].__qualname__ = kind

LONGER = [
    (Plain, PlainLonger),
    (Model, ModelLonger),
    (Struct, StructLonger),
    (Attrs, AttrsLonger),
    (Named, NamedLonger),
]
REQUIRED = [
    (Plain, PlainRequired),
    (Model, ModelRequired),
    (Struct, StructRequired),
    (Attrs, AttrsRequired),
    (Named, NamedRequired),
]


def differences(old: Any, new: Any) -> Differences:
    was, now = state(order=Annotated[old, Keep()]), state(order=Annotated[new, Keep()])
    return compare(contract_of(was).structure, contract_of(now))


def read_as(value: Any, new: Any) -> Any:
    """Write an instance and read it as the class that it has become."""
    name = type(value).__qualname__
    written = Codec(GLOBAL.with_types({name: type(value)})).pack(value)
    return Codec(GLOBAL.with_types({name: new})).unpack(written)


@pytest.mark.parametrize(("old", "new"), LONGER)
def test_a_class_that_gains_a_member_with_a_default_is_no_obstacle_and_is_read(
    old: Any, new: Any
) -> None:
    found = differences(old, new)
    assert found.compatible
    assert found.sentences == ("order: its type is wider than it was",)
    assert read_as(old(text="a"), new) == new(text="a")


@pytest.mark.parametrize(("old", "new"), REQUIRED)
def test_a_class_that_gains_a_member_without_a_default_is_refused_by_name(
    old: Any, new: Any
) -> None:
    (found,) = differences(old, new).changed
    assert not found.compatible
    assert found.reason == f"class {old.__qualname__} has gained size, which has no default"
    assert f"Give size of {old.__qualname__} a default" in found.hint
    with pytest.raises(DecodeError, match="size"):
        read_as(old(text="a"), new)


@pytest.mark.parametrize(("new", "old"), LONGER)
def test_a_class_that_loses_a_member_is_refused_by_name(old: Any, new: Any) -> None:
    (found,) = differences(old, new).changed
    assert not found.compatible
    assert f"class {new.__qualname__} has lost size" in found.reason
    assert f"in {new.__qualname__}" in found.hint
    with pytest.raises(DecodeError, match="size"):
        read_as(old(text="a"), new)


@pytest.mark.parametrize(
    ("old", "new", "compatible"),
    [
        (list[Plain], list[PlainLonger], True),
        (dict[str, Plain] | None, dict[str, PlainLonger] | None, True),
        (list[Plain], list[PlainRequired], False),
        (Holder, HolderLonger, True),
        (Holder, HolderRequired, False),
        (Box[int], BoxLonger[int], True),
        (Box[int], Box[str], False),
        (Mapping, MappingLonger, True),
        (MappingLonger, Mapping, True),
        (Mapping, MappingRequired, False),
        (MappingLonger, MappingRequired, False),
        (Plain, PlainWider, True),
        (PlainWider, Plain, False),
        (Plain, PlainRetyped, False),
        (Color, ColorLonger, True),
        (ColorLonger, Color, False),
        (Color, ColorOther, False),
    ],
)
def test_a_class_is_compared_by_what_it_reads_wherever_it_stands(
    old: Any, new: Any, *, compatible: bool
) -> None:
    found = differences(old, new)
    assert found.changed != ()
    assert found.compatible is compatible


def test_a_class_that_has_become_one_of_another_kind_is_refused() -> None:
    class Other(BaseModel):
        text: str

    Other.__qualname__ = "Plain"
    (found,) = differences(Plain, Other).changed
    assert not found.compatible
    assert found.reason == "class Plain is of another kind"
