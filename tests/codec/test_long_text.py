"""A long text is packed as any other, and is left as it was."""

from __future__ import annotations

import sys
from typing import Any

import ormsgpack
import pytest

from keepset.codec import Codec
from keepset.codec.long_text import LONG_TEXT, packed_portions, packed_text
from keepset.codec.portions import is_packed

CODEC = Codec()
TEXTS = [
    "a" * LONG_TEXT,
    "a" * (LONG_TEXT + 1),
    "é" * (1 << 18),
    "ab中" * (1 << 17) + "x",
    "\U0001f600" * 300_001,
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_long_text_is_packed_as_a_short_one(text: str) -> None:
    data = ormsgpack.packb(text)
    assert packed_text(text) == b"".join(packed_portions(text)) == CODEC.pack(text) == data
    assert CODEC.unpack(data) == text
    assert CODEC.packs_as(text, data)
    for other in (
        data + b"x",
        data[:-1],
        data[:-1] + b"\x01",
        data[:4] + bytes([data[4] ^ 1]) + data[5:],
    ):
        assert not CODEC.packs_as(text, other)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65535, 65536, 100_000])
def test_a_byte_string_is_compared_where_it_lies(size: int) -> None:
    value = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    data = CODEC.pack(value)
    assert is_packed(value, data)
    assert CODEC.packs_as(value, data)
    assert not CODEC.packs_as(value + b"x", data)
    assert not CODEC.packs_as(bytearray(value), data)
    assert not CODEC.packs_as(value, data + b"x")


def test_a_long_text_keeps_nothing_of_being_packed() -> None:
    text = "é" * (1 << 20)
    before = sys.getsizeof(text)
    data = CODEC.pack(text)
    assert CODEC.packs_as(text, data)
    assert sys.getsizeof(text) == before


def test_a_long_text_that_is_no_valid_unicode_comes_back() -> None:
    text = "a" * LONG_TEXT + "\ud800"
    assert CODEC.unpack(CODEC.pack(text)) == text
    assert CODEC.packs_as(text, CODEC.pack(text))


def test_a_list_of_long_texts_is_packed_as_any_other() -> None:
    value = [*TEXTS, 1, {"a": [b"x", TEXTS[2]]}, "short", (TEXTS[0], 1)]
    data = CODEC.pack(value)
    assert data[1:] == CODEC.pack([None, *value])[2:]
    assert CODEC.unpack(data) == value
    assert CODEC.pack(TEXTS) == ormsgpack.packb(TEXTS)
    deep: list[Any] = []
    for _ in range(250):
        deep = [deep]
    assert CODEC.unpack(CODEC.pack([TEXTS[0], deep])) == [TEXTS[0], deep]
