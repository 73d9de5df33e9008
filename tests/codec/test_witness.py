"""A witness says that models are what they were only where their bytes are the same."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, PrivateAttr

from keepset.codec import Codec, TypeRegistry, Witness
from tests.codec.values import VALUES


class Message(BaseModel):
    """As a host's messages are: texts, numbers and containers that are most often empty."""

    model_config = ConfigDict(extra="allow")

    content: Any
    number: Any = 0
    extras: dict[str, Any] = {}
    calls: list[Any] = []


class Other(Message):
    """Another class with the same fields."""


class Private(BaseModel):
    """Holds what no field says."""

    content: str
    _seen: int = PrivateAttr(default=0)


class Text(str):
    """Equal to a text, and another type."""

    __slots__ = ()


REGISTRY = TypeRegistry()
for cls in (Message, Other, Private):
    REGISTRY.register(f"tests/{cls.__name__}", cls)
CODEC = Codec(REGISTRY)


def several() -> list[Message]:
    return [Message(content=f"text {number}", number=number) for number in range(9)]


def witness(items: list[Any]) -> Witness:
    made = CODEC.witness(items)
    assert made is not None
    return made


def test_models_that_nobody_touched_are_what_they_were() -> None:
    items = several()
    seen = witness(items)
    assert seen.sees(items)
    assert seen.sees([*items, "more"])
    assert seen.sees(list(items))


def _replace(name: str, value: Any, at: int = 4) -> Callable[[list[Any]], None]:
    return lambda items: vars(items[at]).__setitem__(name, value)


def _swap(attributes: dict[str, Any]) -> None:
    attributes["content"] = attributes.pop("content")


def _rename(attributes: dict[str, Any]) -> None:
    attributes["others"] = attributes.pop("calls")


def _shift(items: list[Any]) -> None:
    first, second = vars(items[4]), vars(items[5])
    gone = first.popitem()
    later = dict(second)
    second.clear()
    second.update([gone, *((f"{key} ", value) for key, value in later.items())])


CHANGES: dict[str, Callable[[list[Any]], Any]] = {
    "an equal text of another type": _replace("content", Text("text 4")),
    "True for 1": _replace("number", bool(1), 1),
    "a float for an int": _replace("number", 4.0),
    "a new text": _replace("content", "new"),
    "an entry in an empty mapping": lambda items: items[4].extras.update(key=1),
    "an item in an empty list": lambda items: items[4].calls.append(1),
    "an attribute that is no field": _replace("cached", 1),
    "an attribute that is gone": lambda items: vars(items[4]).pop("calls"),
    "two attributes that changed places": lambda items: _swap(vars(items[4])),
    "an attribute under another name": lambda items: _rename(vars(items[4])),
    "one attribute that went over to a neighbour": _shift,
    "a field that counts as given": lambda items: items[4].__pydantic_fields_set__.add("calls"),
    "a field that no longer counts": lambda items: items[4].__pydantic_fields_set__.clear(),
    "an extra field": lambda items: items[4].__pydantic_extra__.update(more=1),
    "another model": lambda items: items.__setitem__(4, copy.deepcopy(items[4])),
    "another class": lambda items: object.__setattr__(items[4], "__class__", Other),
    "one model less": lambda items: items.pop(),
    "two models that changed places": lambda items: items.reverse(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed(what: str) -> None:
    items = several()
    seen = witness(items)
    CHANGES[what](items)
    assert not seen.sees(items)


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed_in_models_that_came_later(what: str) -> None:
    items = several()
    seen = witness(items[:2])
    assert seen.add(items[2:3])
    assert seen.add(items[3:])
    assert seen.sees(items)
    CHANGES[what](items)
    assert not seen.sees(items)


@pytest.mark.parametrize("deep", [[{"a": [1]}], {"a": {"b": [1, {"c": 2}]}}, [[[]]]])
def test_a_change_far_below_is_noticed(deep: Any) -> None:
    items = [Message(content="text", extras={"in": copy.deepcopy(deep)}) for _ in range(200)]
    seen = witness(items)
    assert seen.sees(items)
    inner = items[77].extras["in"]
    while inner:
        inner = inner[0] if isinstance(inner, list) else next(iter(inner.values()))
        if isinstance(inner, list):
            inner.append("new")
            break
    assert not seen.sees(items)


@given(VALUES, VALUES, st.booleans())
def test_what_a_witness_sees_packs_into_the_same_bytes(a: Any, b: Any, put: bool) -> None:  # noqa: FBT001 - a parameter of the test
    items = [Message(content=a), Message(content=[a], calls=[a, {"in": a}])]
    before = CODEC.pack(items)
    seen = witness(items)
    assert seen.sees(items)
    if put:
        items[1].calls[1]["in"] = b
    else:
        vars(items[0])["content"] = b
    if seen.sees(items):
        assert CODEC.pack(items) == before


@pytest.mark.parametrize(
    "items",
    [
        [Message(content=1), {"content": 1}],
        [Private(content="text")],
        [Message.model_validate({"content": 1, "more": 2})],
        ["text"],
    ],
    ids=["a mapping among them", "private attributes", "extra fields", "a text"],
)
def test_there_is_no_witness_of_what_is_not_told_by_fields_alone(items: list[Any]) -> None:
    assert CODEC.witness(items) is None
