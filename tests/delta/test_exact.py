"""Whatever changes, the difference gives exactly the new value."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.codec import array_header, map_header
from keepset.delta import ABSENT, MISSING, Frozen, apply, diff, stands_alone, whole
from tests.delta.values import (
    CODEC,
    LONG,
    STATES,
    VALUES,
    between,
    changed,
    mutated,
    picture,
    replay,
    same,
)


@settings(max_examples=200, deadline=None)
@given(STATES, STATES)
def test_a_difference_between_any_two_values_gives_the_second(old: Any, new: Any) -> None:
    change = between(old, new)
    if change is None:
        assert same(old, new)
    else:
        assert not same(old, new)
        assert same(replay(old, change), new)


@settings(max_examples=400, deadline=None)
@given(STATES, st.data())
def test_a_history_of_changes_is_replayed_exactly_at_every_step(value: Any, data: Any) -> None:
    stored = apply(MISSING, CODEC.unpack(whole(picture(value)).op), {})
    for _ in range(4):
        after = mutated(data.draw, value)
        change = between(value, after)
        assert (change is None) == same(value, after)
        if change is not None:
            stored = apply(stored, CODEC.unpack(change.op), {})
        assert same(stored, after)
        value = after


@settings(max_examples=200, deadline=None)
@given(STATES, st.data())
def test_no_difference_is_larger_than_the_whole_value(value: Any, data: Any) -> None:
    change = between(value, after := mutated(data.draw, value))
    if change is not None:
        limit = len(whole(picture(after)).op)
        assert len(change.op) <= change.size <= limit
        assert change.is_whole or len(change.op) < limit
        assert stands_alone(CODEC.unpack(change.op)) == change.is_whole


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30))
def test_lists_of_few_distinct_items_are_exact(old: list[int], new: list[int]) -> None:
    texts = [[f"{n}" * 40 for n in items] for items in (old, new)]
    change = between(*texts)
    assert texts[1] == (texts[0] if change is None else replay(texts[0], change))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_named_as_touched_covers_all_new_content(data: Any) -> None:
    """Put back what was not touched from the old value: a scan of the rest may be skipped."""
    old = data.draw(st.lists(VALUES, max_size=9) | st.dictionaries(st.text(max_size=3), VALUES))
    new = mutated(data.draw, old)
    change = between(old, new)
    if change is None or () in change.touched or type(old) is not type(new):
        return
    known = [CODEC.pack(v) for v in (old.values() if isinstance(old, dict) else old)]
    pairs = new.items() if isinstance(new, dict) else enumerate(new)
    assert all((key,) in change.touched or CODEC.pack(value) in known for key, value in pairs)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ([1] * 40, [1] * 39 + [True]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([0.0] * 40, [-0.0] + [0.0] * 39),
        ([1, 2], (1, 2)),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}),
        ("1", b"1"),
        ("e\u0301", "\u00e9"),
        ("x" * 99 + "\udc80", "x" * 99 + "\udc81"),
        ({"\udc80": 1}, {"\udc81": 1}),
        ({1: "a"}, {True: "a"}),
    ],
)
def test_values_that_python_finds_equal_or_alike_are_told_apart(old: Any, new: Any) -> None:
    assert same(replay(old, changed(old, new)), new)


def test_equal_values_have_no_difference() -> None:
    value = {"a": [1, math.nan, {"b": "text"}], "c": -0.0}
    assert between(value, copy.deepcopy(value)) is None


def test_a_picture_is_not_changed_by_later_changes_in_place() -> None:
    value = [{"role": "user", "content": ["hello"]}]
    before = picture(value)
    value[0]["content"].append("again")  # type: ignore[attr-defined]  # a list, in a dict of both
    change = diff(before, picture(value))
    assert change is not None
    assert same(apply([{"role": "user", "content": ["hello"]}], CODEC.unpack(change.op), {}), value)


def test_a_first_version_is_whole_and_a_field_that_went_away_is_missing() -> None:
    change = diff(None, picture([1, 2]))
    assert change is not None
    assert change.is_whole
    assert apply(MISSING, CODEC.unpack(change.op), {}) == [1, 2]
    assert ABSENT.is_whole
    assert apply([1, 2], CODEC.unpack(ABSENT.op), {}) is MISSING


def test_a_value_nested_as_deep_as_the_codec_allows_is_exact() -> None:
    def nested(leaf: str) -> list[Any]:
        value: list[Any] = [leaf * 50]
        for _ in range(200):
            value = [value, "side"]
        return value

    assert same(replay(nested("a"), changed(nested("a"), nested("b"))), nested("b"))


@pytest.mark.parametrize("head", [array_header(3), map_header(3)])
def test_a_value_too_deep_to_be_cut_into_units_is_written_whole(head: bytes) -> None:
    keys = [CODEC.pack(key) if head == map_header(3) else b"" for key in "abc"]
    deep = array_header(1) * 100_000 + array_header(0)
    old, new = (
        Frozen(b"".join([head, keys[0], deep, keys[1], CODEC.pack(leaf * 99), keys[2], deep]))
        for leaf in "xy"
    )
    change = diff(old, new, move=bytes)
    assert change is not None
    assert change.is_whole
    assert change.op.endswith(new.packed())


def test_entries_that_come_behind_the_others_are_all_that_is_written() -> None:
    old = {f"key {n}": n for n in range(200)}
    change = between(old, new := {**old, "new": [1], "\u00e9": LONG})
    assert change is not None
    assert len(change.op) < 130
    assert change.touched == (("new",), ("\u00e9",))
    assert same(replay(copy.deepcopy(old), change), new)
