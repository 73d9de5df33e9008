"""A picture by digest tells the same value from any other, and takes no memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.codec import portions_of
from keepset.delta import FEW, LARGE, Frozen, Hashed, extends, hashed, roll
from tests.delta.values import CODEC, STATES, mutated, picture

LONG = "é" * 70_000


def portions(value: Any) -> Any:
    return portions_of(value, CODEC.pack)


@settings(max_examples=50, deadline=None)
@given(STATES | st.builds(lambda value: [LONG, value, LONG.encode()], STATES))
def test_a_value_in_portions_is_the_value(value: Any) -> None:
    assert b"".join(portions(value)) == CODEC.pack(value)


@settings(max_examples=50, deadline=None)
@given(STATES, STATES, st.data())
def test_only_the_same_value_is_taken_for_it(value: Any, other: Any, data: st.DataObject) -> None:
    made = Hashed(portions(value))
    assert made.shows(portions(value))
    assert made.shows((CODEC.pack(value),))
    assert made.size == len(CODEC.pack(value))
    for one in (other, mutated(data.draw, value), [value]):
        assert made.shows(portions(one)) == (CODEC.pack(one) == CODEC.pack(value))


@settings(max_examples=50, deadline=None)
@given(STATES, STATES)
def test_what_was_added_at_the_end_is_told_from_any_other_change(old: Any, new: Any) -> None:
    for value in (old, [old, new], {"a": old, "b": new}, f"{old}"):
        for one in (new, [old, new, old], {"a": old, "b": new, "c": old}, f"{old}{new}"):
            before, after = picture(value), picture(one)
            assert Hashed((before.data,)).begins(after) == extends(after, before)


@pytest.mark.parametrize(
    "value", [LONG, LONG.encode(), [LONG, 1, LONG], {"a": LONG, "b": {"c": LONG}}, (LONG, 1)]
)
def test_what_is_large_in_its_units_is_known_by_digest(value: Any) -> None:
    frozen = picture(value)
    for one in (frozen, roll(frozen) or frozen):
        made = hashed(one)
        assert made is not None
        assert made.shows((frozen.data,))
        assert (made.kind, made.count, made.size) == (frozen.kind, frozen.count, frozen.size)
        assert made.memory < 1000
        assert made.frozen is None


@pytest.mark.parametrize(
    "value", [1, "short", "x" * (LARGE - 9), [f"{n}" * 30 for n in range(FEW // 30)]]
)
def test_what_is_small_or_of_many_small_parts_is_not(value: Any) -> None:
    frozen = picture(value)
    assert isinstance(frozen, Frozen)
    assert hashed(frozen) is None
    assert hashed(roll(frozen) or frozen) is None
