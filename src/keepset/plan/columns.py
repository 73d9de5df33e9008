"""Read the segments of one field back: each with the bytes that it refers to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from keepset.codec import Codec, Dictionary, array_header
from keepset.delta import begins_alone
from keepset.errors import IntegrityError
from keepset.plan.digests import check_segment, damaged, place
from keepset.plan.groups import POINTER, REFERS, Body, Group, Reference
from keepset.plan.headers import read_seqs
from keepset.plan.rows import SegmentRow
from keepset.plan.steps import UNPACKED_LIMIT, unframe

_CUT_FROM = 1024
"""Bytes of a segment from which on it is worth a look which of its differences are needed."""

_PARTS = msgspec.msgpack.Decoder(tuple[list[int], int, list[msgspec.Raw]])


@dataclass(frozen=True, slots=True)
class FieldSegment:
    """Neighbouring differences of one field, unpacked.

    Attributes:
        previous: Seq of the field's difference before the first one here, 0 for none.
        seqs: Seqs of the differences here, rising.
        ops: The differences.
        each: Bytes of a difference, on the average.
        plain: Whether they surely hold values of plain types alone.
    """

    previous: int
    seqs: Sequence[int]
    ops: Sequence[Any]
    each: int
    plain: bool


def read_column(rows: Sequence[SegmentRow], codec: Codec) -> list[FieldSegment]:
    """Unpack segments of one field of a line.

    Args:
        rows: The segments in order, from one that begins a group on; at least one.
        codec: The codec of the values.

    Raises:
        IntegrityError: A row is not what its digest says, or one that another refers to is missing.
        DecodeError: The codec cannot read a value.
    """
    opener = _Opener()
    return [_decode(row, opener.open(row), codec) for row in rows]


class OpenColumn:
    """Segments of one field of a line, opened: their bytes, from which each reads what it needs."""

    __slots__ = ("_bodies", "_opener", "_until", "size")

    def __init__(self, rows: Sequence[SegmentRow], until: int) -> None:
        """Open all segments, since later ones repeat bytes of those before them.

        Args:
            rows: See `read_column`; none begins after the position.
            until: The position up to which the differences count.

        Raises:
            IntegrityError: See `read_column`.
            DecodeError: A row is not a frame.
        """
        self._opener = _Opener()
        self._until = until
        base = rows[-1].base
        if not base <= rows[-1].first <= rows[-1].last:
            raise damaged(place(rows[-1]))
        opened = [(row, self._opener.open(row)) for row in rows]
        self._bodies = [(row, body) for row, body in opened if row.last >= base]
        self.size = sum([len(body) for _, body in self._bodies])

    def needed(self, codec: Codec, since: int | None = None) -> list[FieldSegment]:
        """Unpack what the value at the position needs, and those before it from another one on.

        What comes before the last whole value may be there as well, where that costs nothing.

        Args:
            codec: The codec of the values.
            since: The first position whose value counts; None for the last one alone.

        Raises:
            IntegrityError: What the segments hold is not what was written.
            DecodeError: The codec cannot read a value that is needed.
        """
        last = len(self._bodies) - 1
        span = self._until if since is None else since, self._until
        return [
            _decode(row, body, codec)
            if 0 < number < last  # one between two others holds no whole value
            else _needed(row, body, span, codec)
            for number, (row, body) in enumerate(self._bodies)
        ]

    def packed_ops(self, since: int) -> list[msgspec.Raw] | None:
        """Give the differences from a position on without unpacking them.

        Returns:
            The packed differences; None where only unpacking can tell them apart.
        """
        found: list[msgspec.Raw] = []
        for row, body in self._bodies:
            parts = _split(row, body)
            if parts is None:
                return None
            seqs, _, packed = parts
            found += packed[bisect_left(seqs, since) : bisect_right(seqs, self._until)]
        return found

    def group(self, codec: Codec) -> Group:
        """Give the newest group, as its writer remembers it.

        Raises:
            IntegrityError: The newest segment is not written as a writer of ours does.
            DecodeError: The codec cannot read a value.
        """
        row, body = self._bodies[-1]
        parts = _split(row, body)
        if parts is not None:
            return self._opener.group(row, parts[0], parts[1])
        segment = _decode(row, body, codec)
        return self._opener.group(row, segment.seqs, segment.previous)


def _needed(row: SegmentRow, body: bytes, span: tuple[int, int], codec: Codec) -> FieldSegment:
    """Unpack a segment for the values at some positions, where the rest is worth it.

    From the last whole value up to the first of the positions on, up to the last of them.
    """
    since, until = span
    parts = _split(row, body) if len(body) >= _CUT_FROM else None
    if parts is None:
        return _until(_decode(row, body, codec), until)
    seqs, previous, packed = parts
    stop = bisect_right(seqs, until)
    first = bisect_right(seqs, since, hi=stop)
    start = next((at for at in range(first - 1, 0, -1) if begins_alone(packed[at])), 0)
    if stop - start == len(seqs):
        return _decode(row, body, codec)
    needed = b"".join((array_header(stop - start), *packed[start:stop]))
    ops, plain = codec.unpack_noting(needed)
    previous = seqs[start - 1] if start else previous
    return FieldSegment(previous, seqs[start:stop], ops, len(body) // len(seqs), plain)


def _until(all_of_it: FieldSegment, until: int) -> FieldSegment:
    stop = bisect_right(all_of_it.seqs, until)
    if stop == len(all_of_it.seqs):
        return all_of_it
    seqs, ops = all_of_it.seqs[:stop], all_of_it.ops[:stop]
    return FieldSegment(all_of_it.previous, seqs, ops, all_of_it.each, all_of_it.plain)


def _split(row: SegmentRow, body: bytes) -> tuple[list[int], int, list[msgspec.Raw]] | None:
    """Cut a segment into its packed differences, with their seqs and the seq before them.

    None where that fails: values that are nested too deep, or damage that decoding names.
    """
    try:
        gaps, gap, packed = _PARTS.decode(body)
    except (RecursionError, msgspec.DecodeError):
        return None
    seqs = read_seqs(gaps, row)
    return (seqs, row.first - gap, packed) if len(packed) == len(seqs) else None


def _decode(row: SegmentRow, body: bytes, codec: Codec) -> FieldSegment:
    columns, plain = codec.unpack_noting(body)
    if type(columns) is not list or len(columns) != 3:  # noqa: PLR2004 - gaps, gap, differences
        raise damaged(place(row))
    gaps, gap, ops = columns
    seqs = read_seqs(gaps, row)
    if type(ops) is not list or len(ops) != len(seqs) or type(gap) is not int:
        raise damaged(place(row))
    return FieldSegment(row.first - gap, seqs, ops, len(body) // len(seqs), plain)


class _Opener:
    """Opens segments one after the other and keeps what later ones refer to."""

    def __init__(self) -> None:
        self._start = self._reach = self._size = 0
        self._bodies: list[tuple[int, bytes]] = []
        self._reference: Reference | None = None

    def open(self, row: SegmentRow) -> bytes:
        check_segment(row)
        if row.start != self._start:
            if row.start != row.first:
                raise _missing(row)
            self._start, self._reach, self._size = row.start, row.last, 0
            self._bodies, self._reference = [], None
        body = self._unpack(row)
        self._bodies.append((row.first, body))
        self._size += len(body)
        return body

    def _unpack(self, row: SegmentRow) -> bytes:
        if row.data[:1] != REFERS:
            return unframe(row.data, UNPACKED_LIMIT)
        begin = len(REFERS) + POINTER.size
        if len(row.data) < begin:
            raise damaged(place(row))
        back, size = POINTER.unpack_from(row.data, len(REFERS))
        dictionary = self._refer(row, row.first - back, size)
        return dictionary.decompress(row.data[begin:], UNPACKED_LIMIT)

    def _refer(self, row: SegmentRow, first: int, size: int) -> Dictionary:
        known = self._reference
        if known and known.first == first and len(known.dictionary) == size:
            return known.dictionary
        while self._bodies and self._bodies[0][0] < first:
            del self._bodies[0]
        pieces, length = [], 0
        for _, body in self._bodies:
            if length >= size:
                break
            pieces.append(body)
            length += len(body)
        if length != size or not size or self._bodies[0][0] != first:
            raise _missing(row)
        self._reference = Reference(first, Dictionary(b"".join(pieces)))
        return self._reference.dictionary

    def group(self, row: SegmentRow, seqs: Sequence[int], previous: int) -> Group:
        """Give the group that the last row belongs to."""
        *closed, (_, data) = self._bodies
        body = Body.read(seqs, row.base, previous, data)
        if body is None:
            raise damaged(place(row))
        size = self._size - len(data)
        return Group(self._start, self._reach, size, body, tuple(closed), self._reference)


def _missing(row: SegmentRow) -> IntegrityError:
    return IntegrityError(
        f"a segment of field {row.field} before step {row.first}, "
        "whose bytes later ones repeat, is missing",
        code="integrity.segment",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )
