"""Long texts inside large values are stored by themselves, and every value comes back as it was."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import BlobRef, Codec
from keepset.errors import DecodeError, IntegrityError
from keepset.plan.blobs import Blobs
from keepset.plan.large import Large
from keepset.plan.pieces import LONG, PIECE, Pieces, cut, pieces_of
from keepset.plan.rows import BlobRow
from keepset.plan.steps import frame
from tests.plan.reading import Rows

CODEC = Codec()
TEXT = "".join(f"{n * 7919 % 1000003} " for n in range(4000))


def read(rows: list[BlobRow], *refs: BlobRef) -> Blobs:
    """The large values that some rows hold."""
    blobs = Blobs(1, CODEC)
    Rows(rows).answer(blobs.fetch({ref.digest: ref.size for ref in refs}))
    return blobs


def stored(*values: Any, compressed: bool = True) -> tuple[list[BlobRef], list[BlobRow]]:
    large = Large(CODEC, (), compressed=compressed)
    refs = [CODEC.unpack(large.move(CODEC.pack(value))) for value in values]
    return refs, list(large.rows.values())


leaves = st.one_of(
    st.integers(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.builds(lambda text, n: text * n, st.text(min_size=1, max_size=9), st.integers(1, 9000)),
    st.builds(lambda data, n: data * n, st.binary(min_size=1, max_size=9), st.integers(1, 9000)),
)
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner)
)


@given(trees, st.booleans())
def test_a_value_in_pieces_comes_back_as_it_was(value: Any, compressed: bool) -> None:  # noqa: FBT001 - drawn
    (ref,), rows = stored(value, compressed=compressed)
    assert CODEC.pack(read(rows, ref)[ref.digest]) == CODEC.pack(value)


@given(
    st.binary(max_size=200), st.binary(max_size=200), st.sampled_from([b"\xdb", b"\xda", b"\xc6"])
)
def test_bytes_that_look_like_the_head_of_a_text_do_no_harm(
    a: bytes, b: bytes, head: bytes
) -> None:
    packed = a + head + b"\x00\x00\x50\x00" + b"x" * (LONG + 0x1000) + b
    found = cut(packed)
    if found is not None:
        made, long = found
        joined = [long[part[0]] if isinstance(part, tuple) else part for part in made.parts]
        assert made.size == len(packed)
        assert b"".join(joined) == packed


def test_a_long_text_is_stored_once_whatever_is_around_it() -> None:
    messages: list[Any] = [
        {"id": n, "content": [{"text": "look"}, {"url": TEXT}]} for n in range(9)
    ]
    refs, rows = stored(*messages, messages, {"in": messages}, compressed=False)
    assert len({ref.digest for ref in refs}) == 11
    whole = [row for row in rows if pieces_of(row) is None]
    assert [(row.digest, row.size) for row in whole] == [
        (hashlib.sha256(TEXT.encode()).digest(), len(TEXT))
    ]
    assert sum(TEXT[-99:].encode() in row.data for row in rows) == 1


def test_what_is_known_to_be_stored_is_not_handed_over_again() -> None:
    _, rows = stored({"n": 1, "text": TEXT})
    known = {row.digest for row in rows}
    large = Large(CODEC, known, compressed=True)
    large.move(CODEC.pack({"n": 2, "text": TEXT}))
    assert len(large.rows) == 1
    (row,) = large.rows.values()
    pieces = pieces_of(row)
    assert pieces is not None
    assert large.refs >= pieces.digests.keys()


def test_a_long_text_may_be_what_another_value_is_packed_as() -> None:
    inner = {"text": TEXT}
    refs, rows = stored(inner, {"n": 1, "packed": CODEC.pack(inner)})
    blobs = read(rows, *refs)
    assert [blobs[ref.digest] for ref in refs] == [inner, {"n": 1, "packed": CODEC.pack(inner)}]
    parts = Rows(rows).answer(blobs.with_parts([refs[1].digest]))
    assert set(parts) == {row.digest for row in rows}
    assert Rows(rows).answer(Blobs(1, CODEC).with_parts([refs[1].digest])) == parts


def test_damage_of_a_part_or_of_the_order_of_parts_is_noticed() -> None:
    (ref,), rows = stored({"a": TEXT, "b": TEXT[::-1]}, compressed=False)
    (made,) = [row for row in rows if pieces_of(row)]
    others = [row for row in rows if row is not made]
    pieces = pieces_of(made)
    assert pieces is not None
    swapped = Pieces(tuple(reversed(pieces.parts)))
    wrong = [
        [made, others[0]],
        [made, others[0], replace(others[1], data=others[1].data[:-1] + b"?")],
        [replace(made, data=swapped.data(compressed=False)), *others],
        [replace(made, data=Pieces((b"",)).data(compressed=False)), *others],
        [replace(made, data=made.data[:1] + b"\x00" + CODEC.pack([[1]])), *others],
        [replace(made, data=made.data[:1] + b"\x00" + CODEC.pack(7)), *others],
        [replace(made, data=made.data[:9]), *others],
    ]
    for rows_of_it in wrong:
        with pytest.raises(IntegrityError) as caught:
            read(rows_of_it, ref)
        assert caught.value.code in {"integrity.digest", "blob.missing"}


def test_a_row_that_names_one_part_a_million_times_takes_no_memory_for_it() -> None:
    (ref,), rows = stored({"text": TEXT}, compressed=False)
    (made,) = [row for row in rows if pieces_of(row)]
    pieces = pieces_of(made)
    assert pieces is not None
    part = pieces.parts[1]
    bomb = replace(made, data=Pieces((part,) * 100_000).data(compressed=True))
    others = [row for row in rows if row is not made]
    with pytest.raises(IntegrityError):
        read([bomb, *others], ref)


def test_a_value_that_is_one_long_text_is_stored_as_it_is() -> None:
    _, rows = stored(TEXT)
    assert [(row.size, pieces_of(row)) for row in rows] == [(len(TEXT) + 3, None)]


def test_a_value_that_says_it_is_a_part_of_itself_is_damaged() -> None:
    (ref,), rows = stored({"text": TEXT}, compressed=False)
    (made,) = [row for row in rows if pieces_of(row)]
    looped = replace(made, data=Pieces((b"", (ref.digest, ref.size), b"")).data(compressed=False))
    with pytest.raises(IntegrityError):
        read([looped], ref)


def test_a_part_that_is_larger_than_its_whole_says_is_never_unpacked() -> None:
    (ref,), rows = stored({"text": TEXT})
    (made,) = [row for row in rows if pieces_of(row)]
    pieces = pieces_of(made)
    assert pieces is not None
    ((digest, size),) = pieces.digests.items()
    short = Pieces((b"", (digest, size - 9), b""))
    shorter = BlobRef(ref.digest, size - 9)
    others = [row for row in rows if row is not made]
    with pytest.raises(DecodeError) as caught:
        read([replace(made, data=short.data(compressed=True)), *others], shorter)
    assert caught.value.code == "decode.too-large"


@pytest.mark.parametrize("size", [PIECE + LONG, PIECE + LONG + 1, 3 * PIECE, 3 * PIECE + 7])
def test_a_very_long_value_is_stored_in_pieces_of_a_megabyte(size: int) -> None:
    data = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(size // 32 + 1))[:size]
    (ref,), rows = stored(data)
    assert max(row.size for row in rows if pieces_of(row) is None) <= PIECE + LONG + 5
    assert (len(rows) > 1) == (size > PIECE + LONG)  # with its head it has 5 bytes more
    assert read(rows, ref)[ref.digest] == data
    assert Rows(rows).answer(Blobs(1, CODEC).with_parts([ref.digest])) == tuple(
        sorted(row.digest for row in rows)
    )


def test_of_two_versions_the_pieces_that_are_the_same_are_stored_once() -> None:
    parts = [hashlib.sha256(b"%d" % n).digest() * (PIECE // 32) for n in range(8)]
    first = b"".join(parts)
    second = b"".join([*parts[:3], b"changed" + parts[3][7:], *parts[4:], b"more"])
    _, rows = stored(first, second, {"inside": "a message", "data": second})
    whole = [row for row in rows if pieces_of(row) is None]
    assert len(whole) == 10


def test_a_value_that_repeats_itself_is_stored_as_one_piece() -> None:
    (ref,), rows = stored(bytes(9 * PIECE))
    assert sorted(row.size for row in rows) == [PIECE, 9 * PIECE + 5]
    assert read(rows, ref)[ref.digest] == bytes(9 * PIECE)


def test_what_is_long_and_no_text_is_stored_in_pieces_as_well() -> None:
    value = [n * 7919 for n in range(900_000)]
    (ref,), rows = stored({"inside": value})
    assert len(rows) > 4
    assert read(rows, ref)[ref.digest] == {"inside": value}


def test_a_long_text_that_an_earlier_release_has_stored_in_one_row_is_read() -> None:
    text = hashlib.sha256(b"x").hexdigest() * (3 * PIECE // 64)
    packed = CODEC.pack({"id": 1, "text": text})
    whole, part = (hashlib.sha256(data).digest() for data in (packed, text.encode()))
    at = packed.find(text.encode())
    around = Pieces((packed[:at], (part, len(text)), packed[at + len(text) :]))
    rows = [
        BlobRow(whole, len(packed), around.data(compressed=True)),
        BlobRow(part, len(text), frame(text.encode(), compressed=True)),
    ]
    ref = BlobRef(whole, len(packed))
    assert read(rows, ref)[ref.digest] == {"id": 1, "text": text}
    alone = BlobRow(ref.digest, len(packed), frame(packed, compressed=False))
    assert read([alone], ref)[ref.digest] == {"id": 1, "text": text}


def test_of_a_long_value_only_some_megabytes_are_asked_for_at_a_time() -> None:
    data = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(PIECE // 2))
    (ref,), found = stored(data)
    rows = Rows(found)
    blobs = Blobs(1, CODEC)
    rows.answer(blobs.fetch({ref.digest: ref.size}))
    assert blobs[ref.digest] == data
    assert rows.most < len(data) / 2
