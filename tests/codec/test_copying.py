"""A copy of a value that was unpacked is what unpacking again gives, and nobody else has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from pydantic import BaseModel, ConfigDict, PrivateAttr, RootModel

from keepset.codec import Codec, TypeRegistry
from tests.codec.exact import same
from tests.codec.values import VALUES


class Message(BaseModel):
    """As a host's messages are."""

    model_config = ConfigDict(extra="allow")

    content: Any
    number: Any = 0
    calls: list[Any] = []


class Strict(BaseModel):
    """Has no extra fields."""

    content: Any


class Private(BaseModel):
    """Holds what no field says."""

    content: Any
    _seen: list[int] = PrivateAttr(default_factory=list)


class Bare(RootModel[list[int]]):
    """Is a list, nearly."""


MODELS = (Message, Strict, Private, Bare)
TYPES = TypeRegistry()
for cls in MODELS:
    TYPES.register(f"tests/{cls.__name__}", cls)
CODEC = Codec(TYPES)


def changeable(value: Any) -> Iterator[Any]:
    """Give all parts of a value that may change."""
    if isinstance(value, BaseModel):
        yield value
        yield value.__dict__
        yield value.__pydantic_fields_set__
        parts = [*value.__dict__.values(), value.__pydantic_extra__, value.__pydantic_private__]
    elif isinstance(value, list | dict | set | bytearray):
        yield value
        parts = [*value.values()] if isinstance(value, dict) else [*value]
    else:
        parts = [*value] if isinstance(value, tuple) else []
    for part in parts:
        yield from changeable(part)


def nothing_in_common(one: Any, other: Any) -> bool:
    return {id(part) for part in changeable(one)}.isdisjoint(map(id, changeable(other)))


@given(VALUES)
def test_a_copy_cannot_be_told_apart_and_shares_nothing_that_could_change(value: Any) -> None:
    unpacked = CODEC.unpack(CODEC.pack(value))
    copied = CODEC.copy(unpacked)
    assert same(copied, unpacked)
    assert nothing_in_common(copied, unpacked)


def with_private() -> Private:
    made = Private(content=[{}])
    made._seen.append(1)
    return made


@pytest.mark.parametrize(
    "value",
    [
        Message(content=[{"type": "text"}]),
        Message(content="", number=[1], calls=[{"args": {}}]),
        Message.model_validate({"content": "", "more": [1]}),
        Strict(content=Strict(content={"a": [()]})),
        with_private(),
        Bare([1, 2]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_copied_model_is_what_unpacking_gives(value: BaseModel) -> None:
    unpacked = CODEC.unpack(CODEC.pack([value]))[0]
    copied = CODEC.copy(unpacked)
    assert copied == unpacked
    assert type(copied) is type(unpacked)
    assert copied.model_fields_set == unpacked.model_fields_set
    assert copied.__pydantic_extra__ == unpacked.__pydantic_extra__
    assert copied.__pydantic_private__ == unpacked.__pydantic_private__
    assert CODEC.pack(copied) == CODEC.pack(unpacked)
    assert nothing_in_common(copied, unpacked)


def test_a_value_that_is_as_deep_as_can_be_stored_is_copied() -> None:
    value: Any = []
    for _ in range(200):
        value = [value, {"below": value}] if len(str(value)) < 50 else [value]
    assert CODEC.copy(CODEC.unpack(CODEC.pack(value))) == value
