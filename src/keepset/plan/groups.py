"""The segments of one field: how they grow, and how they refer back to each other.

A segment holds the differences of one field over some steps, as
``[gaps between seqs, gap to the difference before, differences]``, decoded in one call. The newest
one is written again with what came since as long as it is small; a larger one stays, and another
follows it.

Text that an agent writes repeats over hundreds of steps, which a frame by itself cannot see. So
segments form groups: each may repeat bytes of those before it in its group, which stand in a
dictionary. A dictionary is made again when what came since is as much as it holds, or when much is
to be packed: then most of a group lies in reach, and to make them takes little more time than to
compress once more. A group ends where a reader of the newest value would unpack too much for
nothing: once it is larger than `OBSOLETE`, and the field stands on a whole value that is no longer
in its first segment.

The data of a segment is one zstd frame; or a byte 1, how many seqs before its own the dictionary
begins (4 bytes, big-endian), how many bytes that has (4), and a frame; or a byte 0 and the bytes as
they are.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ormsgpack import packb

from keepset.codec import Dictionary, array_header
from keepset.plan.headers import gaps_of, signed
from keepset.plan.rows import SegmentRow
from keepset.plan.steps import frame

WINDOW = 512 << 10
"""The most bytes of a dictionary."""

OBSOLETE = 256 << 10
"""Bytes that a reader of the newest value may have to unpack only for what later ones repeat."""

LEAST = 16 << 10
"""Bytes that are worth a dictionary."""

SMALL = 24 << 10
"""The newest segment is written again while it has fewer bytes than this, unpacked."""

MOST_STEPS = 256
"""How many differences a segment that is written again may come to hold."""

REFERS = b"\x01"
"""Begins the data of a segment that refers back."""

POINTER = struct.Struct(">II")
"""How far back the dictionary begins, and how many bytes it has."""

_THREE = array_header(3)


class Reference(NamedTuple):
    """What segments refer to.

    Attributes:
        first: Seq of the first step of the first segment in the dictionary.
        dictionary: The unpacked bytes of that segment and of those after it.
    """

    first: int
    dictionary: Dictionary


@dataclass(frozen=True, slots=True)
class Body:
    """One field's differences over some steps, packed but not compressed.

    Attributes:
        seqs: The steps.
        base: Seq of the whole value that the first difference stands on.
        previous: Seq of the field's difference before the first one here, 0 for none.
        data: The bytes.
        head: How many of them come before the differences.
    """

    seqs: Sequence[int]
    base: int
    previous: int
    data: bytes
    head: int

    @classmethod
    def of(cls, seqs: Sequence[int], base: int, previous: int, *ops: bytes) -> Body:
        """Put packed differences together."""
        head = _head(seqs, previous)
        return cls(seqs, base, previous, b"".join((head, *ops)), len(head))

    @classmethod
    def read(cls, seqs: Sequence[int], base: int, previous: int, data: bytes) -> Body | None:
        """Take bytes that were read; None where `of` would not have written them."""
        head = _head(seqs, previous)
        return cls(seqs, base, previous, data, len(head)) if data.startswith(head) else None

    def with_more(self, more: Body) -> Body:
        """Add the differences of later steps."""
        ops = (self.data[self.head :], more.data[more.head :])
        return Body.of([*self.seqs, *more.seqs], self.base, self.previous, *ops)


def _head(seqs: Sequence[int], previous: int) -> bytes:
    pieces = (_THREE, packb(gaps_of(seqs)), packb(seqs[0] - previous), array_header(len(seqs)))
    return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Group:
    """A field's segments that refer back to each other, as their writer remembers them.

    Attributes:
        start: Seq of the first step of the first of them.
        reach: Seq of the last step of the first of them.
        size: Bytes of all of them but the newest, unpacked.
        newest: The newest of them.
        closed: Those before it that a dictionary may be made of, each the seq of its first step
            and its unpacked bytes; those in the dictionary first.
        reference: The dictionary for the newest; None while there is too little.
    """

    start: int
    reach: int
    size: int
    newest: Body
    closed: tuple[tuple[int, bytes], ...] = ()
    reference: Reference | None = None

    @classmethod
    def beginning(cls, body: Body) -> Group:
        """Begin a group."""
        return cls(body.seqs[0], body.seqs[-1], 0, body)

    @property
    def memory(self) -> int:
        """Bytes of memory that it takes, nearly."""
        tables = self.reference.dictionary.memory if self.reference else 0
        return min(self.size, 2 * WINDOW) + len(self.newest.data) + tables

    def after(self, fresh: Body) -> Group:
        """Add differences: to the newest segment, in one after it, or in a group of their own."""
        newest = self.newest
        if len(newest.data) < SMALL and len(newest.seqs) + len(fresh.seqs) <= MOST_STEPS:
            return self._grown(newest.with_more(fresh))
        size = self.size + len(newest.data)
        if size > OBSOLETE and fresh.base > self.reach:
            return Group.beginning(fresh)
        closed = (*self.closed, (newest.seqs[0], newest.data))
        closed, reference = _refer(closed, self.reference, len(fresh.data))
        return Group(self.start, self.reach, size, fresh, closed, reference)

    def _grown(self, newest: Body) -> Group:
        reach = self.reach if self.size else newest.seqs[-1]
        return replace(self, reach=reach, newest=newest)

    def pack(self, name: str, *, compressed: bool) -> SegmentRow:
        """Make the row of the newest segment."""
        seqs, reference = self.newest.seqs, self.reference
        if reference is None or not compressed:
            data = frame(self.newest.data, compressed=compressed)
        else:
            dictionary = reference.dictionary
            pointer = POINTER.pack(seqs[0] - reference.first, len(dictionary))
            data = b"".join((REFERS, pointer, dictionary.compress(self.newest.data)))
        base = self.newest.base
        return signed(SegmentRow(name, seqs[0], seqs[-1], base, self.start, data, b""))


def _refer(
    closed: tuple[tuple[int, bytes], ...], known: Reference | None, size: int
) -> tuple[tuple[tuple[int, bytes], ...], Reference | None]:
    """Make the dictionary for `size` bytes again, where that is worth its time.

    That is where what it lacks is as much as it holds, or where all of it is not much beside what
    is to be compressed.
    """
    length = sum([len(body) for _, body in closed])
    held = len(known.dictionary) if known else 0
    lacking = length - held
    if lacking < LEAST or (lacking < held and length > 2 * size):
        return closed, known
    at = 0
    while length > WINDOW:
        length -= len(closed[at][1])
        at += 1
    closed = closed[at:]
    if length < LEAST:
        return closed, None
    dictionary = Dictionary(b"".join([body for _, body in closed]))
    return closed, Reference(closed[0][0], dictionary)
