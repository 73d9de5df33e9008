"""Long texts inside large values, such as an image in a message: stored once, whatever is around.

A large value is stored under its digest, so that a message that stays the same is stored once. One
of which something else changes (a mark, an id, a word beside the image) would be stored anew with
all that it holds. So the long texts and byte strings in it are large values of their own, and it
is stored as its pieces: bytes, and the digests of those. Where one begins is told by its head as
MessagePack writes it; nothing depends on that but how little is stored twice, since a value that is
put together has to have its digest. What is longer than a megabyte is cut at fixed places of its
own, so that no row is large, and what two versions have the same at one place is stored once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from keepset.codec import Buffer, Codec
from keepset.errors import DecodeError, IntegrityError
from keepset.plan.rows import BlobRow
from keepset.plan.steps import UNPACKED_LIMIT, frame, unframe

LONG: Final = 16 * 1024
"""A text or byte string from this many bytes on is stored by itself."""

PIECE: Final = 1 << 20
"""What is longer is stored in pieces of this many bytes."""

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
    def size(self) -> int:
        """Bytes of the value."""
        return sum(part[1] if isinstance(part, tuple) else len(part) for part in self.parts)

    @property
    def digests(self) -> dict[bytes, int]:
        """The sizes of the long texts by their digests."""
        return dict(part for part in self.parts if isinstance(part, tuple))

    def data(self, *, compressed: bool) -> bytes:
        """Give the data of the row."""
        parts = [list(part) if isinstance(part, tuple) else part for part in self.parts]
        return _PIECES + frame(_PLAIN.pack(parts), compressed=compressed)


def cut(packed: Buffer) -> tuple[Pieces, dict[bytes, memoryview]] | None:
    """Cut a packed value at its long texts, and what is very long into pieces of `PIECE` bytes.

    Returns:
        Its pieces, and those that are stored by themselves, as parts of `packed`, by their
        digests; None where it is stored whole.
    """
    view = memoryview(packed)
    spans = list(_spans(view))
    if not spans or (len(spans) == 1 and len(view) - spans[0][1] + spans[0][0] <= _ALONE):
        return None
    parts: list[bytes | tuple[bytes, int]] = []
    long: dict[bytes, memoryview] = {}
    done = 0
    for start, end in spans:
        text = view[start:end]
        digest = hashlib.sha256(text).digest()
        long.setdefault(digest, text)
        parts += (bytes(view[done:start]), (digest, len(text)))
        done = end
    return Pieces((*parts, bytes(view[done:]))), long


def _spans(view: memoryview) -> Iterator[tuple[int, int]]:
    """Yield where what is stored by itself begins and ends: texts, and what is long beside them."""
    done = 0
    for start, end in _texts(view):
        if start - done > PIECE:
            yield from _portions(done, start)
        yield from _portions(start, end)
        done = end
    if len(view) - done > PIECE:
        yield from _portions(done, len(view))


def _portions(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut what is very long at fixed places from its own beginning; no piece is short."""
    while end - start > PIECE + LONG:
        yield start, start + PIECE
        start += PIECE
    yield start, end


def _texts(view: memoryview) -> Iterator[tuple[int, int]]:
    at = 0
    while found := _HEAD.search(view, at):
        length = int.from_bytes(found.group(1) or found.group(2), "big")
        start, at = found.end(), found.start() + 1
        if LONG <= length <= len(view) - start:
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


def damaged(digest: bytes) -> IntegrityError:
    """Make the error for a large value that is not what its digest says."""
    return IntegrityError(
        f"the large value {digest.hex()[:16]} is not what was written",
        code="integrity.digest",
        hint=_MISSING,
    )
