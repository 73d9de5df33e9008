"""The picture of a long list in chunks says exactly what the picture in one piece says."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.codec import Buffer, Codec
from keepset.delta import LARGE, MISSING, Rolled, appended, apply, roll, whole
from keepset.delta.rolled import CHUNK
from tests.delta.values import ALIKE, CODEC, VALUES, mutated, picture, replay, same

FILLER = "long enough to be a part of a chunk, " * 40


HEAVY = st.sampled_from([[], [FILLER * 15]])
LARGE_ITEM = st.sampled_from([[], ["x" * (LARGE + 1)]])


def rolled(value: list[Any]) -> Rolled:
    made = roll(picture(value))
    assert made is not None
    return made


def long_list(items: list[Any]) -> list[Any]:
    return [FILLER + str(number) for number in range(CHUNK // len(FILLER) * 3)] + items


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(VALUES, min_size=1, max_size=6), min_size=1, max_size=6),
    HEAVY,
    st.sampled_from([{}, {"wide": True}]),
)
def test_a_picture_that_grew_is_the_picture_of_the_grown_list(
    additions: list[list[Any]], heavy: list[Any], how: dict[str, bool]
) -> None:
    value = long_list([])
    grown = rolled(value)
    for items in additions:
        come = [*items, *heavy]
        grown = grown.grown(picture(come), **how)
        value += come
        assert grown.packed() == picture(value).packed()
        assert (grown.count, grown.size) == (len(value), picture(value).size)
        assert grown.begins(value, CODEC.begins_as)


@settings(max_examples=150, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=12), st.data())
def test_a_list_begins_with_another_exactly_where_types_and_order_agree(
    items: list[Any], data: Any
) -> None:
    value = long_list([])
    value[len(value) // 2 : len(value) // 2] = items
    kept, after = rolled(value), mutated(data.draw, copy.deepcopy(value))
    if type(after) is list:
        expected = same(after[: len(value)], value)
        assert kept.begins(after, CODEC.begins_as) == expected


def test_chunks_of_a_list_that_is_compared_as_a_whole_become_fewer() -> None:
    value = long_list([])
    narrow, wide = rolled(value), rolled(value)
    for number in range(100):
        come = [FILLER + str(number)]
        narrow, wide = narrow.grown(picture(come)), wide.grown(picture(come), wide=True)
        value += come
    assert len(wide._chunks) <= len(narrow._chunks) / 2
    assert wide.packed() == narrow.packed() == picture(value).packed()
    for at in range(len(value)):
        broken = [*value[:at], "other", *value[at + 1 :]]
        assert not wide.begins(broken, CODEC.begins_as)
    assert wide.begins([*value, 1], CODEC.begins_as)


LOOKALIKES = [(a, b) for a in ALIKE for b in ALIKE if not same(a, b)]
DISGUISED: list[tuple[Any, Any]] = [
    (b"x", bytearray(b"x")),
    (b"", bytearray()),
    ([1], (1,)),
    ({"a": b"x"}, {"a": bytearray(b"x")}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ([b"x" * 300], [bytearray(b"x" * 300)]),
    ("Ä", "A\u0308"),
]


@pytest.mark.parametrize(("was", "now"), LOOKALIKES + DISGUISED)
def test_an_item_that_became_one_that_only_looks_alike_is_noticed(was: Any, now: Any) -> None:
    for at in (0, 5, -1):
        value = long_list([])
        value[at] = {"in": was}
        kept = rolled(value)
        value[at] = {"in": now}
        assert not kept.begins(value, CODEC.begins_as)
        value[at] = {"in": was}
        assert kept.begins(value, CODEC.begins_as)


def test_what_cannot_be_stored_is_never_what_was_stored() -> None:
    codec = Codec()
    assert not codec.packs_as({"a": object()}, codec.pack({"a": 1}))
    assert not codec.packs_as(memoryview(b"x"), codec.pack(b"x"))
    assert codec.packs_as({1: "a", "lone": "\ud800"}, codec.pack({1: "a", "lone": "\ud800"}))


def test_samples_reach_every_chunk_in_time() -> None:
    value = long_list([])
    kept = rolled(value)
    for at in range(len(value)):
        broken = [*value[:at], "other", *value[at + 1 :]]
        assert not all(kept.begins(broken, CODEC.begins_as, number) for number in range(40))
    assert all(kept.begins([*value, 1], CODEC.begins_as, number) for number in range(40))
    assert not kept.begins(value[:-1], CODEC.begins_as, 0)


def test_short_lists_and_other_values_are_not_cut() -> None:
    assert roll(picture(["a", "b"])) is None
    assert roll(picture({"a": FILLER * 20})) is None
    assert roll(picture(FILLER * 20)) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(VALUES, max_size=6), st.lists(VALUES, min_size=1, max_size=6), LARGE_ITEM)
def test_what_was_appended_is_replayed_also_where_an_item_is_stored_apart(
    old: list[Any], new: list[Any], large: list[Any]
) -> None:
    come = [*new, *large]
    change = appended(len(old), picture(come))
    stored = apply(MISSING, CODEC.unpack(whole(picture(old)).op), {})
    assert same(replay(stored, change), [*old, *come])
    assert change.touched == tuple((at,) for at in range(len(old), len(old) + len(come)))
    moved: list[bytes] = []

    def move(packed: Buffer) -> bytes:
        moved.append(bytes(packed))
        return CODEC.pack(None)

    assert len(appended(len(old), picture(come), move).op) < change.size + 16
    assert moved == ([CODEC.pack(come[-1])] if large else [])
