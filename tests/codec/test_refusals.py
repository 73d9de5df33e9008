from __future__ import annotations

import asyncio
import enum
import io
import re
import socket
import sqlite3
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Any

import ormsgpack
import pytest

from keepset.codec import Codec
from keepset.errors import PolicyError

CODEC = Codec()


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Real(float):
    pass


class Listing(list[int]):
    pass


class Colour(enum.Enum):
    RED = 1


def _generator() -> Iterator[int]:
    yield 1


async def _async_generator() -> AsyncIterator[int]:
    yield 1


UNKNOWN: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: sqlite3.connect(":memory:"), "sqlite3.Connection", "Reopen(factory)"),
    (threading.Lock, "_thread.lock", "Reopen(factory)"),
    (io.StringIO, "_io.StringIO", "Reopen(factory)"),
    (socket.socket, "socket.socket", "Reopen(factory)"),
    (lambda: re, "module", "Drop()"),
    (lambda: len, "builtin_function_or_method", "Drop()"),
    (lambda: _generator, "function", "Drop()"),
    (lambda: int, "type", "Drop()"),
    (_generator, "generator", "keep a list"),
    (_async_generator, "async_generator", "keep a list"),
    (lambda: iter([1]), "list_iterator", "keep a list"),
    (lambda: memoryview(b"x"), "memoryview", "bytes"),
    (object, "object", "to=…, back=…"),
    (lambda: Text("x"), f"{__name__}.Text", "to=…, back=…"),
    (lambda: Number(1), f"{__name__}.Number", "to=…, back=…"),
    (lambda: Real(1), f"{__name__}.Real", "to=…, back=…"),
    (Listing, f"{__name__}.Listing", "to=…, back=…"),
    (lambda: Colour.RED, f"{__name__}.Colour", 'register("colour/1", Colour)'),
    (lambda: ormsgpack.Ext(1, b"x"), "ormsgpack.Ext", "to=…, back=…"),
    (lambda: ormsgpack.Fragment(b"\x01"), "ormsgpack.Fragment", "to=…, back=…"),
    (asyncio.Event, "asyncio.locks.Event", "to=…, back=…"),
]


@pytest.mark.parametrize(("make", "name", "hint"), UNKNOWN, ids=[name for _, name, _ in UNKNOWN])
def test_a_value_of_an_unknown_type_is_refused_with_its_path(
    make: Callable[[], Any], name: str, hint: str
) -> None:
    value = make()
    states = [
        ({"docs": [1, 2, 3, {"client": value}]}, "docs[3].client"),
        ({"a": (1, {"k": [value]})}, "a[1].k[0]"),
        (OrderedDict(x=[b"\xc4", value]), "x[1]"),
        (value, ""),
    ]
    for state, path in states:
        with pytest.raises(PolicyError) as caught:
            CODEC.pack(state)
        assert caught.value.code == "codec.unknown-type"
        assert caught.value.message.startswith(f"{path}: {name} is" if path else f"{name} is")
        assert hint in caught.value.hint
    if hasattr(value, "close"):
        value.close()


def test_the_path_begins_where_the_caller_says() -> None:
    with pytest.raises(PolicyError, match=r"^state\.items\[4\]\.x: object "):
        CODEC.pack({"x": object()}, ("state", "items", 4))


def test_bytes_in_disguise_are_not_taken_for_bytes() -> None:
    assert type(CODEC.unpack(CODEC.pack({"a": [bytearray(b"x" * 300)]}))["a"][0]) is bytearray
    with pytest.raises(PolicyError, match=r"^a\[0\]: memoryview"):
        CODEC.pack({"a": [memoryview(b"x")]})


def test_text_that_looks_like_framing_of_bytes_is_stored_as_text() -> None:
    words = ["ąćęłńśźż", "şığ", "Ÿ", 0xC4, 0xC5C6, 1.1]
    assert CODEC.unpack(CODEC.pack(words)) == words


@pytest.mark.parametrize("kind", [Counter, OrderedDict])
def test_attributes_on_a_mapping_are_not_lost_silently(kind: Any) -> None:
    value = kind()
    value.note = 1
    with pytest.raises(PolicyError, match=r"^m: a .* with attributes") as caught:
        CODEC.pack({"m": value})
    assert caught.value.code == "codec.extra-attributes"


def test_a_defaultdict_with_a_function_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"^d: a defaultdict whose factory"):
        CODEC.pack({"d": defaultdict(lambda: 1)})


def test_a_time_zone_that_has_no_name_is_refused() -> None:
    class Own(tzinfo):
        def utcoffset(self, _: datetime | None, /) -> timedelta:
            return timedelta(hours=1)

        def tzname(self, _: datetime | None, /) -> str:
            return "own"

        def dst(self, _: datetime | None, /) -> timedelta:
            return timedelta()

    with pytest.raises(PolicyError, match=r"^t: a time zone of type .*Own") as caught:
        CODEC.pack({"t": datetime(2024, 1, 1, tzinfo=Own())})
    assert caught.value.code == "codec.time-zone"


def test_a_pattern_that_prints_when_it_is_compiled_or_is_huge_is_refused() -> None:
    for pattern in (re.compile("a" * 20_000),):
        with pytest.raises(PolicyError, match=r"^p: a pattern") as caught:
            CODEC.pack({"p": pattern})
        assert caught.value.code == "codec.pattern"


def test_a_fraction_whose_reduction_would_take_seconds_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"^f: a fraction") as caught:
        CODEC.pack({"f": Fraction(1, 3**800_000)})
    assert caught.value.code == "codec.too-large"


def test_a_message_never_holds_the_value() -> None:
    class Login:
        def __repr__(self) -> str:
            return "hunter2"

    with pytest.raises(PolicyError) as caught:
        CODEC.pack({"a": [Login()]})
    assert "hunter2" not in str(caught.value)


def test_a_key_that_cannot_be_stored_is_named_by_its_place() -> None:
    with pytest.raises(PolicyError, match=r"^d\.<tuple key 1>\[0\]: object is not"):
        CODEC.pack({"d": {1: 2, (object(),): 3}})


class Completion:
    """As a provider's library has it: attributes that are known only once it is made."""

    def __init__(self) -> None:
        self.choices = [object()]
        self.usage = object()


class Message:
    content: str = "hi"
    response_metadata: dict[str, Any]


class Usage:
    @property
    def usage_metadata(self) -> int:
        return 1


class ModelClient:
    """No method of a handle, and a name that says enough."""


class Model:
    def invoke(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    ("value", "first"),
    [
        (Completion(), 'declare the field Extract("choices[0].message.content")'),
        (Message(), 'declare the field Extract("content")'),
        (Usage(), 'declare the field Extract("…")'),
        (ModelClient(), "declare the field as Reopen(factory)"),
        (Model(), "declare the field as Reopen(factory)"),
    ],
)
def test_a_refused_response_or_client_is_told_the_rule_that_fits_it(
    value: object, first: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        CODEC.pack({"a": [value]})
    assert caught.value.code == "codec.unknown-type"
    assert caught.value.message.startswith("a[0]: ")
    hint = caught.value.hint
    assert first in hint
    assert 0 <= hint.find("Extract") < hint.find("register") or "Reopen" in hint
