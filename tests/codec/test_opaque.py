"""What an operator reads without the classes is shown by field and written again byte for byte."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

import pydantic
import pytest

from keepset.codec import Codec, Opaque, TypeRegistry
from keepset.errors import DecodeError


class Colour(enum.Enum):
    RED = "r"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Item:
    name: str
    tags: set[Colour] = field(default_factory=set)


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    size: int = 3
    _seen: bool = pydantic.PrivateAttr(default=True)


@dataclass
class Money:
    cents: int


def _writer() -> Codec:
    types = TypeRegistry()
    for cls in (Colour, Access, Item, Model):
        types.register(f"shop/{cls.__name__}", cls)
    types.register("shop/Money", Money, to=lambda money: money.cents, back=Money)
    return Codec(types)


READER = Codec(TypeRegistry(), opaque=True)
VALUES: list[Any] = [
    Colour.RED,
    Access.READ | Access.WRITE,
    Item("lamp", {Colour.RED}),
    Model(size=4, colour="red"),  # type: ignore[call-arg]  # an extra field is what is tested
    Model(),
    Money(5),
    {Colour.RED: [Item("a"), {"deep": (Item("b"), Money(1))}]},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_read_as_opaque_is_written_again_byte_for_byte(value: object) -> None:
    data = _writer().pack(value)
    assert READER.pack(READER.unpack(data)) == data


def test_an_opaque_object_has_its_stored_name_and_its_fields() -> None:
    read = READER.unpack(_writer().pack(Item("lamp")))
    assert isinstance(read, Opaque)
    assert read.name == "shop/Item"
    assert read.payload == ({"name": "lamp", "tags": set()},)
    assert dict(READER.parts(read) or ())["name"] == "lamp"


def test_a_class_that_is_known_is_read_as_opaque_as_well_and_no_code_of_it_is_run() -> None:
    def back(_: object) -> Money:
        raise AssertionError("an inspection ran a class's code")

    types = TypeRegistry()
    types.register("shop/Money", Money, to=lambda money: money.cents, back=back)
    read = Codec(types, opaque=True).unpack(_writer().pack(Money(5)))
    assert isinstance(read, Opaque)
    assert read.payload == (5,)


def test_a_codec_that_is_not_opaque_refuses_an_unknown_name() -> None:
    with pytest.raises(DecodeError):
        Codec(TypeRegistry()).unpack(_writer().pack(Item("lamp")))


def test_an_object_without_a_name_is_refused() -> None:
    data = _writer().pack(Money(5))
    damaged = data.replace(b"shop/Money", b"\xc0" * 10)
    with pytest.raises(DecodeError):
        READER.unpack(damaged)
