"""What can be told of packed ops without unpacking them is what unpacking them gives."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.codec import BlobRef
from keepset.delta import (
    ABSENT,
    MISSING,
    Change,
    appended,
    apply,
    apply_all,
    begins_alone,
    diff,
    joined,
    stands_alone,
    whole,
)
from keepset.errors import IntegrityError
from tests.delta.values import CODEC, STATES, VALUES, mutated, picture, same


def whole_op(value: object) -> bytes:
    return whole(picture(value)).op


def grown(value: list[Any], more: list[list[Any]]) -> tuple[list[Any], list[bytes]]:
    """Let a list grow; give it with the ops of its history."""
    ops = [whole_op(value)]
    for items in more:
        ops.append(appended(len(value), picture(items)).op)
        value = [*value, *items]
    return value, ops


@settings(max_examples=300, deadline=None)
@given(STATES, st.data())
def test_whether_an_op_stands_alone_is_told_from_its_first_bytes(old: Any, data: Any) -> None:
    new = mutated(data.draw, old)
    change = diff(picture(old), picture(new))
    for op in (whole_op(old), ABSENT.op, *([change.op] if change else [])):
        assert begins_alone(op) == stands_alone(CODEC.unpack(op))


def test_what_is_no_op_does_not_stand_alone() -> None:
    for data in (b"", b"\x90", b"\x91", b"\xdc\x00", b"\x80", b"\xc0", b"\x91\xc0"):
        assert not begins_alone(data)


def test_an_op_of_many_parts_is_told_by_the_code_behind_its_longer_header() -> None:
    ref = BlobRef(b"\x07" * 32, 9)
    places = [place for number in range(20) for place in (number, ref)]
    long = CODEC.pack([0, list(range(20)), *places])
    assert long[:1] == b"\xdc"
    assert begins_alone(long)
    assert not begins_alone(CODEC.pack([2, *range(30)]))
    assert begins_alone(CODEC.pack([7, ref]))


@settings(max_examples=200, deadline=None)
@given(st.lists(VALUES, max_size=20), st.lists(st.lists(VALUES, min_size=1, max_size=3)))
def test_a_list_that_grew_is_joined_to_what_packing_it_gives(
    value: list[Any], more: list[list[Any]]
) -> None:
    longer, ops = grown(value, more)
    assert joined(ops) == CODEC.pack(longer)


@pytest.mark.parametrize("count", [15, 16, 127, 128, 255, 256, 65_535, 65_536])
def test_positions_and_lengths_of_any_size_are_read(count: int) -> None:
    longer, ops = grown(list(range(count)), [["a"], ["b"] * 20])
    assert joined(ops) == CODEC.pack(longer)


def test_a_value_that_was_written_once_is_cut_out_of_its_op() -> None:
    values: list[Any] = ["text", {"a": [1]}, 7, None, [], [[]]]
    for value in values:
        assert joined([whole_op(value)]) == CODEC.pack(value)


@pytest.mark.parametrize(
    "ops",
    [
        [[1]],
        [[7, BlobRef(b"\x07" * 32, 9)]],
        [[0, [1], 0, BlobRef(b"\x07" * 32, 9)]],
        [[0, {"a": 1}], [3, [], {"b": 2}]],
        [[0, "text"], [4, 0, 0, "a "]],
        [[0, [1, 2]], [2, 1, 0, [3]]],
        [[0, [1, 2]], [2, 2, 1, [3]]],
        [[0, [1, 2]], [2]],
        [[0, [1, 2]], [2, 3, 0, [3]]],
        [[0, [1, 2]], [2, 2, 0, {"a": 1}]],
        [[0, [1, 2]], [2, -2, 0, [3]]],
        [[0, [1, 2]], [5, 0, [0, 3]]],
        [[0, {"a": 1}], [2, 1, 0, [3]]],
    ],
)
def test_any_other_chain_has_to_be_unpacked(ops: list[list[Any]]) -> None:
    assert joined([CODEC.pack(op) for op in ops]) is None


@settings(max_examples=200, deadline=None)
@given(STATES, st.data())
def test_ops_applied_together_give_what_they_give_one_by_one(old: Any, data: Any) -> None:
    ops, value = [whole_op(old)], old
    for _ in range(data.draw(st.integers(0, 4))):
        new = mutated(data.draw, CODEC.unpack(CODEC.pack(value)))
        change: Change | None = diff(picture(value), picture(new))
        if change:
            ops.append(change.op)
        value = new
    assert same(apply_all(MISSING, [CODEC.unpack(op) for op in ops], {}), value)


@pytest.mark.parametrize(
    "ops",
    [
        [[0, [1]], [2, 2, 0, [3]]],
        [[0, [1]], [2, 0, 2, [3]]],
        [[0, [1]], [2, 0, 0, 3]],
        [[0, [1]], [2, True, 0, [3]]],
        [[0, "a"], [2, 0, 0, [3]]],
        [[0, [1]], [2.0, 0, 0, [3]]],
        [[0, [1]], ()],
    ],
)
def test_an_op_that_does_not_fit_is_refused_among_others_too(ops: list[Any]) -> None:
    with pytest.raises(IntegrityError) as caught:
        apply_all(MISSING, ops, {})
    assert caught.value.code == "delta.mismatch"


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.integers(), max_size=3), min_size=16, max_size=24), st.data())
def test_ops_that_make_a_list_grow_give_together_what_they_give_one_by_one(
    more: list[list[int]], data: Any
) -> None:
    _, packed = grown([0], more)
    ops: list[Any] = [CODEC.unpack(op) for op in packed]
    if data.draw(st.booleans()):  # one of them is another op, or none at all
        at = data.draw(st.integers(1, len(ops) - 1))
        part = data.draw(st.integers(0, 4))
        ops[at][part : part + 1] = [data.draw(st.sampled_from([0, 1, 2, 3, True, [], [7], None]))]

    def one_by_one() -> object:
        value: object = MISSING
        for op in copy.deepcopy(ops):
            value = apply(value, op, {})
        return value

    try:
        wanted = one_by_one()
    except IntegrityError:
        with pytest.raises(IntegrityError):
            apply_all(MISSING, ops, {})
        return
    assert apply_all(MISSING, ops, {}) == wanted
