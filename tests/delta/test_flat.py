"""The picture of a flat mapping by its entries says exactly what the picture in one piece says."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.delta import LARGE, Flat, flatten
from tests.delta.values import ALIKE, mutated, picture, replay, same

ATOMS = (
    st.sampled_from(ALIKE)
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.binary(max_size=6)
    | st.just("lone \ud800")
)
FEW = st.dictionaries(st.text(max_size=3), ATOMS, max_size=6)


def many(entries: dict[str, Any]) -> dict[str, Any]:
    return {**{f"entry {number}": number for number in range(20)}, **entries}


def flat(value: dict[str, Any]) -> Flat:
    made = flatten(value, picture(value))
    assert made is not None
    return made


@settings(max_examples=300, deadline=None)
@given(FEW, st.data())
def test_what_changed_in_a_flat_mapping_is_told_exactly_or_not_at_all(
    entries: dict[str, Any], data: Any
) -> None:
    value = many(entries)
    kept = flat(value)
    assert kept.packed() == picture(value).packed()
    for _ in range(3):
        before = copy.deepcopy(value)
        after = mutated(data.draw, value)
        if type(after) is not dict:
            return
        value = after
        found = kept.compared(value)
        if found is None:
            return
        kept, change = found
        assert kept.packed() == kept.frozen.data == picture(value).packed()
        assert kept.size == picture(value).size
        assert (change is None) == same(before, value)
        if change:
            assert same(replay(before, change), value)
            assert {path[0] for path in change.touched} == {
                key for key in value if key not in before or not same(before[key], value[key])
            }


@settings(max_examples=100, deadline=None)
@given(FEW, FEW)
def test_entries_that_come_behind_the_others_are_set(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    before = many(first)
    after = {**before, **second}
    found = flat(before).compared(after)
    assert found is not None
    now, change = found
    assert now.packed() == picture(after).packed()
    assert same(before if change is None else replay(before, change), after)


@pytest.mark.parametrize("was", ALIKE)
@pytest.mark.parametrize("now", ALIKE)
def test_a_value_that_became_one_that_only_looks_alike_is_noticed(was: Any, now: Any) -> None:
    found = flat(many({"a": was})).compared(many({"a": now}))
    assert found is not None
    assert (found[1] is None) == same(was, now)


class Text(str):
    """No plain text, though it looks like one."""

    __slots__ = ()


@pytest.mark.parametrize(
    "after",
    [
        {"b": 1},
        {"b": 1, "a": 1},
        {"a": 1, "b": [1]},
        {"a": bytearray(b"x"), "b": 1},
        {"a": 1, "b": 1, Text("c"): 1},
        {"a": 1, Text("b"): 1},
        {"a": 1, "b": Text("1")},
        {"a": 1, "b": 1, 3: 1},
        {"a": 1, "b": 1, "\ud800": 1},
        {"a": 1, "b": "x" * (LARGE + 1)},
    ],
)
def test_what_entries_cannot_tell_is_left_to_whole_pictures(after: dict[Any, Any]) -> None:
    assert flat(many({"a": 1, "b": 1})).compared({**many({}), **after}) is None


OTHERS: list[Any] = [{"a": 1}, many({"a": [1]}), [1] * 40, "x" * 40, {**many({}), 1: 1}]


@pytest.mark.parametrize("value", OTHERS)
def test_short_and_other_values_have_no_such_picture(value: Any) -> None:
    assert flatten(value, picture(value)) is None
