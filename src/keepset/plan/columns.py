"""Read the segments of one field back: each with the bytes that it refers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from keepset.codec import Codec, Dictionary
from keepset.errors import IntegrityError
from keepset.plan.digests import check_segment, damaged, place
from keepset.plan.groups import POINTER, REFERS, Body, Group, Reference
from keepset.plan.headers import read_seqs
from keepset.plan.rows import SegmentRow
from keepset.plan.steps import UNPACKED_LIMIT, unframe


@dataclass(frozen=True, slots=True)
class FieldSegment:
    """One field's differences over some steps, unpacked.

    Attributes:
        previous: Seq of the field's difference before the first one here, 0 for none.
        pairs: Seq and difference, in order of seq.
        each: Bytes of a difference, on the average.
    """

    previous: int
    pairs: Sequence[tuple[int, list[Any]]]
    each: int


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """One field's differences over many steps, unpacked.

    Attributes:
        segments: The segments, in order.
        group: The newest group, as its writer remembers it.
    """

    segments: Sequence[FieldSegment]
    group: Group


def read_column(rows: Sequence[SegmentRow], codec: Codec, *, whole: bool = False) -> FieldColumn:
    """Unpack segments of one field of a line.

    Args:
        rows: The segments in order, from one that begins a group on; at least one.
        codec: The codec of the values.
        whole: Whether all are decoded; else those before the whole value that the newest stands on
            are only unpacked, since later ones refer to their bytes.

    Raises:
        IntegrityError: A row is not what its digest says, or one that another refers to is missing.
        DecodeError: The codec cannot read a value.
    """
    opener = _Opener()
    segments: list[FieldSegment] = []
    base = 0 if whole else rows[-1].base
    for row in rows:
        body = opener.open(row)
        if row.last >= base:
            segments.append(_decode(row, body, codec))
    return FieldColumn(segments, opener.group(rows[-1], segments[-1]))


def _decode(row: SegmentRow, body: bytes, codec: Codec) -> FieldSegment:
    columns = codec.unpack(body)
    if type(columns) is not list or len(columns) != 3:  # noqa: PLR2004 - gaps, gap, differences
        raise damaged(place(row))
    gaps, gap, ops = columns
    seqs = read_seqs(gaps, row)
    if type(ops) is not list or len(ops) != len(seqs) or type(gap) is not int:
        raise damaged(place(row))
    pairs = list(zip(seqs, ops, strict=True))
    return FieldSegment(row.first - gap, pairs, len(body) // len(pairs))


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

    def group(self, row: SegmentRow, newest: FieldSegment) -> Group:
        """Give the group that the last row belongs to."""
        _, data = self._bodies.pop()
        body = Body([seq for seq, _ in newest.pairs], row.base, newest.previous, data)
        if not body.is_written_like():
            raise damaged(place(row))
        size = self._size - len(data)
        closed = tuple(self._bodies)
        return Group(self._start, self._reach, size, body, closed, self._reference)


def _missing(row: SegmentRow) -> IntegrityError:
    return IntegrityError(
        f"a segment of field {row.field} before step {row.first}, "
        "whose bytes later ones repeat, is missing",
        code="integrity.segment",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )
