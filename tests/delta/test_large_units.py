"""Large units are moved out of a difference and found again, each in its place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keepset.codec import BlobRef, Buffer
from keepset.delta import LARGE, MISSING, Change, apply, blob_refs, diff, stands_alone, whole
from keepset.errors import IntegrityError
from tests.delta.values import CODEC, picture, same

BIG = "x" * (LARGE + 10)
BIGGER = [f"{n}" * 50 for n in range(2000)]


class Blobs(Mapping[bytes, object]):
    """Large values as a store has them: packed, and unpacked anew at each look-up."""

    def __init__(self) -> None:
        self.packed: dict[bytes, bytes] = {}

    def move(self, packed: Buffer) -> bytes:
        digest = hashlib.sha256(packed).digest()
        self.packed[digest] = bytes(packed)
        return CODEC.pack(BlobRef(digest, len(packed)))

    def __getitem__(self, digest: bytes) -> object:
        return CODEC.unpack(self.packed[digest])

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.packed)

    def __len__(self) -> int:
        return len(self.packed)


def refs(change: Change) -> set[bytes]:
    return {ref.digest for ref in blob_refs(CODEC.unpack(change.op))}


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        (BIG, 1),
        (BIG.encode(), 1),
        ([1, BIG, 2, BIG + "y"], 2),
        ({"a": 1, "b": BIGGER, "c": BIG.encode()}, 2),
        ((BIG, BIG), 1),
        ([BIG, BIG], 1),
        (BIGGER, 0),
    ],
)
def test_a_whole_value_with_large_units_comes_back(value: Any, moved: int) -> None:
    blobs = Blobs()
    change = whole(picture(value), blobs.move)
    op = CODEC.unpack(change.op)
    assert stands_alone(op)
    assert refs(change) == set(blobs.packed)
    assert len(blobs) == moved
    assert len(change.op) < 200 or not moved
    assert change.size > LARGE
    assert same(apply(MISSING, op, blobs), value)


OLD: list[Any] = [{"n": n, "text": "word " * 40} for n in range(20)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, [*OLD, BIG]),
        (OLD, [BIG, *OLD[1:9], BIGGER, *OLD[10:]]),
        (OLD, [*OLD[:5], {**OLD[5], "big": BIG}, *OLD[6:], BIGGER]),
        ({"a": OLD}, {"a": [*OLD[1:], BIG], "b": BIG}),
        ({"a": OLD, "b": BIG}, {"b": BIG + "z" * 9, "a": OLD, "c": BIG.encode()}),
        ([*OLD, {"t": BIG, "u": "a" * LARGE}], [*OLD, {"t": BIG[:-9], "u": "b" * LARGE * 2}]),
    ],
)
def test_large_units_of_a_difference_are_found_in_their_places(old: Any, new: Any) -> None:
    blobs = Blobs()
    change = diff(picture(old), picture(new), move=blobs.move)
    assert change is not None
    assert refs(change) == set(blobs.packed)
    assert len(change.op) < LARGE // 8
    assert same(apply(CODEC.unpack(CODEC.pack(old)), CODEC.unpack(change.op), blobs), new)


def test_an_edit_inside_a_large_unit_moves_nothing() -> None:
    blobs = Blobs()
    change = diff(picture([1, BIG, "a"]), picture([1, BIG + "!", "a"]), move=blobs.move)
    assert change is not None
    assert not blobs
    assert len(change.op) < 40
    assert apply([1, BIG, "a"], CODEC.unpack(change.op), blobs) == [1, BIG + "!", "a"]


def test_a_change_in_one_copy_of_a_large_unit_leaves_the_other_as_it_was() -> None:
    blobs = Blobs()
    first = whole(picture([BIGGER, BIGGER]), blobs.move)
    second = diff(picture([BIGGER, BIGGER]), picture([[*BIGGER, "new"], BIGGER]), move=blobs.move)
    assert second is not None
    stored = apply(MISSING, CODEC.unpack(first.op), blobs)
    assert apply(stored, CODEC.unpack(second.op), blobs) == [[*BIGGER, "new"], BIGGER]


def test_a_reference_that_a_user_keeps_in_a_state_stays_a_reference() -> None:
    mine = BlobRef(b"\x01" * 32, 5)
    blobs = Blobs()
    old, new = [mine, "text"], [mine, "text", mine, BIG]
    change = diff(picture(old), picture(new), move=blobs.move)
    assert change is not None
    assert refs(change) == set(blobs.packed)
    assert apply(old, CODEC.unpack(change.op), blobs) == new


def test_a_large_unit_that_is_not_there_is_an_error() -> None:
    change = whole(picture([BIG]), Blobs().move)
    with pytest.raises(IntegrityError, match="WHOLE") as caught:
        apply(MISSING, CODEC.unpack(change.op), {})
    assert caught.value.code == "delta.mismatch"
