"""Long texts inside large values, such as an image in a message: stored once, whatever is around.

A large value is stored under its digest, so that a message that stays the same is stored once. One
of which something else changes (a mark, an id, a word beside the image) would be stored anew with
all that it holds. So the long texts and byte strings in it are large values of their own, and it
is stored as its pieces: bytes, and the digests of those. Where one begins is told by its head as
MessagePack writes it; nothing depends on that but how little is stored twice, since a value that is
put together has to have its digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keepset.codec import Codec
from keepset.errors import DecodeError, IntegrityError
from keepset.plan.reads import ReadBlobs
from keepset.plan.requests import Flow
from keepset.plan.rows import BlobRow
from keepset.plan.steps import UNPACKED_LIMIT, frame, unframe

LONG: Final = 16 * 1024
"""A text or byte string from this many bytes on is stored by itself."""

_ALONE: Final = 5
"""So few bytes around a long text are no reason to store it by itself."""

_PIECES: Final = b"\x01"
"""Begins the data of a value that is stored as its pieces; `frame` never begins like this."""

_HEAD: Final = re.compile(rb"[\xdb\xc6]([\x00-\xff]{4})|[\xda\xc5]([\x40-\xff][\x00-\xff])")
"""Heads of texts and byte strings of 32 bits, and of those of 16 bits that are long."""

_PLAIN: Final = Codec()
_MISSING: Final = "Run `keepset verify` to see what else is damaged, and restore from a backup."


@dataclass(frozen=True, slots=True)
class Pieces:
    """A value in pieces.

    Attributes:
        parts: Bytes, and in place of long texts their digests with their sizes, in turns: it
            begins and ends with bytes, which may be empty.
    """

    parts: tuple[bytes | tuple[bytes, int], ...]

    @property
    def digests(self) -> dict[bytes, int]:
        """The sizes of the long texts by their digests."""
        return dict(part for part in self.parts if isinstance(part, tuple))

    def data(self, *, compressed: bool) -> bytes:
        """Give the data of the row."""
        parts = [list(part) if isinstance(part, tuple) else part for part in self.parts]
        return _PIECES + frame(_PLAIN.pack(parts), compressed=compressed)


def cut(packed: bytes) -> tuple[Pieces, dict[bytes, bytes]] | None:
    """Cut a packed value at its long texts.

    Returns:
        Its pieces, and the long texts by their digests; None where it has none, or is one itself.
    """
    parts: list[bytes | tuple[bytes, int]] = []
    long: dict[bytes, bytes] = {}
    done, text = 0, b""
    for start, end in _spans(packed):
        text = packed[start:end]
        digest = hashlib.sha256(text).digest()
        long[digest] = text
        parts += (packed[done:start], (digest, len(text)))
        done = end
    if not long or (len(long) == 1 and len(packed) - len(text) <= _ALONE):
        return None
    return Pieces((*parts, packed[done:])), long


def _spans(packed: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while found := _HEAD.search(packed, at):
        length = int.from_bytes(found.group(1) or found.group(2), "big")
        start, at = found.end(), found.start() + 1
        if LONG <= length <= len(packed) - start:
            at = start + length
            yield start, at


def pieces_of(row: BlobRow) -> Pieces | None:
    """Read the pieces that a value is stored as; None for one that is stored whole.

    Raises:
        IntegrityError: It begins like one and is none.
    """
    if row.data[:1] != _PIECES:
        return None
    try:
        parts = _PLAIN.unpack(unframe(row.data[1:], UNPACKED_LIMIT))
        return Pieces(tuple(part if type(part) is bytes else _reference(part) for part in parts))
    except (DecodeError, TypeError, ValueError) as error:
        raise damaged(row.digest) from error


def _reference(part: Any) -> tuple[bytes, int]:
    digest: Any
    size: Any
    digest, size = part  # what is no pair is a TypeError or a ValueError
    if type(digest) is not bytes or type(size) is not int:
        raise TypeError
    return digest, size


def needed(rows: Sequence[BlobRow]) -> dict[bytes, int]:
    """Give the sizes of the long texts that values are put together of, by their digests."""
    found: dict[bytes, int] = {}
    for row in rows:
        pieces = pieces_of(row)
        found |= pieces.digests if pieces else {}
    return found


def read_large(run: int, refs: Collection[bytes]) -> Flow[tuple[BlobRow, ...]]:
    """Read large values of a run, and what they are put together of.

    Raises:
        IntegrityError: ``blob.missing``, ``integrity.digest``.
    """
    rows: tuple[BlobRow, ...] = ()
    more = set(refs)
    while more:
        rows += yield ReadBlobs(run, tuple(sorted(more)))
        more = needed(rows).keys() - {row.digest for row in rows}
    return rows


def opened(rows: Sequence[BlobRow], sizes: Mapping[bytes, int]) -> dict[bytes, bytes]:
    """Give packed values by digest, each checked against it.

    Args:
        rows: The values as they are stored, and all that they are put together of.
        sizes: Bytes of the packed values, as those who refer to them know.

    Raises:
        IntegrityError: A value is not what its digest says, or a part of it is not there.
        DecodeError: It is larger than it may be.
    """
    known = {**{row.digest: row.size for row in rows}, **needed(rows), **sizes}
    found: dict[bytes, bytes] = {}
    composed: dict[bytes, Pieces] = {}
    for row in rows:
        pieces, limit = pieces_of(row), min(max(known[row.digest], 1), UNPACKED_LIMIT)
        if pieces is None:
            found[row.digest] = _checked(row.digest, unframe(row.data, limit))
        else:
            composed[row.digest] = pieces
    while composed:  # a long text may be what another value is packed as
        ready = [digest for digest, made in composed.items() if made.digests.keys() <= found.keys()]
        if not ready:
            raise damaged(next(iter(composed)))
        for digest in ready:
            whole = _joined(digest, composed.pop(digest), found, known[digest])
            found[digest] = _checked(digest, whole)
    return found


def _joined(digest: bytes, made: Pieces, found: Mapping[bytes, bytes], size: int) -> bytes:
    parts = [found[part[0]] if isinstance(part, tuple) else part for part in made.parts]
    if sum(map(len, parts)) != size or size > UNPACKED_LIMIT:
        raise damaged(digest)
    return b"".join(parts)


def _checked(digest: bytes, packed: bytes) -> bytes:
    if hashlib.sha256(packed).digest() != digest:
        raise damaged(digest)
    return packed


def damaged(digest: bytes) -> IntegrityError:
    """Make the error for a large value that is not what its digest says."""
    return IntegrityError(
        f"the large value {digest.hex()[:16]} is not what was written",
        code="integrity.digest",
        hint=_MISSING,
    )
