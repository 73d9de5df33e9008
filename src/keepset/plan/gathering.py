"""Large values read from a store, a few rows at a time, and put together of their pieces.

Of a value in pieces there is never more in memory than itself and some megabytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from io import BytesIO
from typing import Final, TypeAlias

from keepset.plan.pieces import Pieces, damaged, pieces_of
from keepset.plan.reads import ReadBlobs
from keepset.plan.requests import Flow
from keepset.plan.rows import BlobRow
from keepset.plan.steps import UNPACKED_LIMIT, unframe

AT_ONCE: Final = 4 << 20
"""Bytes of values that are read in one request, nearly, and that are kept for others."""

Part: TypeAlias = bytes | tuple[bytes, int]


class Gathering:
    """Reads the large values of one run, each checked against its digest.

    Attributes:
        parts: Of each value that was read in pieces, the digests of those.
        weights: Stored bytes of each row that was read.
    """

    def __init__(self, run: int) -> None:
        """Read nothing yet."""
        self._run = run
        self._kept: dict[bytes, bytes] = {}
        self.parts: dict[bytes, frozenset[bytes]] = {}
        self.weights: dict[bytes, int] = {}

    def values(self, sizes: Mapping[bytes, int | None]) -> Flow[dict[bytes, bytes]]:
        """Read values.

        Args:
            sizes: Their packed bytes by digest, as those who refer to them know; None where only
                their rows tell.

        Raises:
            IntegrityError: ``blob.missing``, ``integrity.digest``.
            DecodeError: One is larger than it may be.
        """
        found: dict[bytes, bytes] = {}
        for some in _together((digest, sizes[digest] or 0) for digest in sorted(sizes)):
            rows = list((yield ReadBlobs(self._run, _digests(some))))
            yield from self._read_ahead(rows)
            while rows:  # each row goes as soon as its value is there
                row = rows.pop()
                size = sizes[row.digest]
                size = row.size if size is None else size
                found[row.digest] = yield from self._value(row, size, frozenset())
        self._kept = {}
        return found

    def with_parts(self, digests: Collection[bytes]) -> Flow[tuple[bytes, ...]]:
        """Give digests of values, and of all that they are put together of, in order.

        Raises:
            IntegrityError: ``blob.missing``, ``integrity.digest``.
        """
        found: set[bytes] = set()
        more = set(digests)
        while more:
            for digest in sorted(more - self.weights.keys()):
                (row,) = yield ReadBlobs(self._run, (digest,))
                self._note(row)
            found |= more
            more = {part for digest in more for part in self.parts.get(digest, ())} - found
        return tuple(sorted(found))

    def _note(self, row: BlobRow) -> Pieces | None:
        self.weights[row.digest] = len(row.data)
        pieces = pieces_of(row)
        if pieces:
            self.parts[row.digest] = frozenset(pieces.digests)
        return pieces

    def _read_ahead(self, rows: Iterable[BlobRow]) -> Flow[None]:
        """Read the parts of several values in one request, where they are small."""
        made = [pieces for pieces in map(pieces_of, rows) if pieces]
        sizes = {digest: size for pieces in made for digest, size in pieces.digests.items()}
        if len(made) > 1 and sum(sizes.values()) <= AT_ONCE:
            yield from self._parts(tuple(sizes.items()), frozenset())

    def _value(self, row: BlobRow, size: int, within: frozenset[bytes]) -> Flow[bytes]:
        """Give a value, packed.

        Args:
            row: The value as it is stored.
            size: How many bytes it has.
            within: Digests of the values that it is a part of, so that none is a part of itself.
        """
        digest, pieces = row.digest, self._note(row)
        if pieces is None:
            packed = unframe(row.data, min(max(size, 1), UNPACKED_LIMIT))
            if hashlib.sha256(packed).digest() != digest:
                raise damaged(digest)
            return packed
        if digest in within or pieces.size != size or size > UNPACKED_LIMIT:
            raise damaged(digest)
        return (yield from self._joined(digest, pieces, within | {digest}))

    def _joined(self, digest: bytes, pieces: Pieces, within: frozenset[bytes]) -> Flow[bytes]:
        out, state = _room(pieces.size), hashlib.sha256()
        for some in _together(pieces.parts):
            wanted = tuple(part for part in some if isinstance(part, tuple))
            parts = yield from self._parts(wanted, within)
            for part in some:
                data = parts[part[0]] if isinstance(part, tuple) else part
                state.update(data)
                out.write(data)
        if state.digest() != digest:
            raise damaged(digest)
        return out.getvalue()

    def _parts(
        self, wanted: tuple[tuple[bytes, int], ...], within: frozenset[bytes]
    ) -> Flow[dict[bytes, bytes]]:
        """Give what values are put together of; some of it is kept for others."""
        sizes = dict(wanted)
        parts = {digest: self._kept[digest] for digest in sizes if digest in self._kept}
        missing = tuple(sorted(sizes.keys() - parts.keys()))
        rows = list((yield ReadBlobs(self._run, missing))) if missing else []
        while rows:
            row = rows.pop()
            parts[row.digest] = yield from self._value(row, sizes[row.digest], within)
        if sum(map(len, self._kept.values())) > AT_ONCE:
            self._kept = {}
        self._kept |= parts
        return parts


def _room(size: int) -> BytesIO:
    """Give a buffer that need not grow for so many bytes."""
    out = BytesIO()
    out.seek(max(size - 1, 0))
    out.write(b"\0"[:size])
    out.seek(0)
    return out


def _digests(parts: Iterable[Part]) -> tuple[bytes, ...]:
    return tuple(part[0] for part in parts if isinstance(part, tuple))


def _together(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Divide parts, in order, into as many as can be read in one request."""
    some: list[Part] = []
    there: dict[bytes, int] = {}
    for part in parts:
        if isinstance(part, tuple) and part[0] not in there:
            if there and sum(there.values()) + part[1] > AT_ONCE:
                yield some
                some, there = [], {}
            there[part[0]] = part[1]
        some.append(part)
    if some:
        yield some
