"""A value is told from packed bytes without being packed as carefully, and as exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Codec, TypeRegistry, pack_plain
from tests.codec.values import VALUES


@dataclass
class Box:
    """Holds anything."""

    inside: Any


REGISTRY = TypeRegistry()
REGISTRY.register("tests/box", Box)
CODEC = Codec(REGISTRY)


@given(VALUES, VALUES)
def test_a_value_in_an_object_packs_as_bytes_exactly_where_packing_gives_them(
    a: Any, b: Any
) -> None:
    data = CODEC.pack([a, Box(a), Box({"in": a})])
    assert CODEC.packs_as([a, Box(a), Box({"in": a})], data)
    other = [a, Box(b), Box({"in": a})]
    assert CODEC.packs_as(other, data) == (CODEC.pack(other) == data)


@pytest.mark.parametrize(
    ("stored", "now"),
    [
        (b"ab", bytearray(b"ab")),
        (b"ab", memoryview(b"ab")),
        ("ab", bytearray(b"ab")),
        ([1], ormsgpack.Ext(1, b"\x01")),
        (1, True),
        (0.0, -0.0),
        ([], {}),
        (None, Box(None)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_looks_alike_inside_an_object_is_told_apart(stored: Any, now: Any) -> None:
    assert not CODEC.packs_as(Box([now]), CODEC.pack(Box([stored])))


def test_a_value_that_has_become_very_deep_is_not_taken_for_what_it_was() -> None:
    deep: Any = 1
    for _ in range(12):
        for _ in range(200):
            deep = [deep]
        deep = Box(deep)
    assert not CODEC.packs_as(deep, CODEC.pack(Box(1)))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_what_a_caller_put_together_packs_into_the_same_bytes_in_short(
    value: Any,
) -> None:
    assert pack_plain(value) == CODEC.pack(value)


@pytest.mark.parametrize("value", [["\ud800"], {"\ud800": 1}, [1 << 70], {"n": [-(1 << 80)]}])
def test_an_odd_text_or_number_packs_by_the_shorter_way_too(value: Any) -> None:
    assert pack_plain(value) == CODEC.pack(value)
