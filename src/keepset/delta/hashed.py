"""The picture of a large value by its digest: it takes no memory, and tells only what is the same.

What such a value consists of is stored apart (see `keepset.delta.change.LARGE`), so that it can be
written whole again in few bytes, and need not be compared part by part.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from keepset.codec import array_header
from keepset.delta.change import LARGE
from keepset.delta.frozen import Frozen, Kind
from keepset.delta.rolled import Rolled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepset.codec import Buffer

_MEMORY = 512
"""Bytes of memory that it takes, nearly."""

_LONGEST_HEADER = 5

FEW = 1 << 20
"""So many bytes of a value may be written anew whenever any of it changes."""

_MANY = FEW // 16
"""A value of more units than this is not worth a look at each."""


class Hashed:
    """A picture of one value; it tells the same value from any other.

    Attributes:
        kind: How the value can change in part.
        count: Number of items, entries or bytes of text; 0 for an atom.
        size: Bytes of the packed value.
    """

    __slots__ = ("_body", "_body_digest", "_digest", "count", "kind", "size")

    def __init__(self, portions: Iterable[Buffer]) -> None:
        """Take the digests of a packed value.

        Args:
            portions: The value, a portion at a time; all of its header is in the first one.
        """
        state, body = hashlib.sha256(), hashlib.sha256()
        self.size, start = 0, -1
        for portion in portions:
            if start < 0:
                head = Frozen(bytes(portion[:_LONGEST_HEADER]))
                self.kind, self.count, start = head.kind, head.count, head.start
                body.update(memoryview(portion)[start:])
            else:
                body.update(portion)
            state.update(portion)
            self.size += len(portion)
        self._body = self.size - start
        self._digest, self._body_digest = state.digest(), body.digest()

    @property
    def memory(self) -> int:
        """Bytes of memory that it takes, nearly."""
        return _MEMORY

    @property
    def frozen(self) -> None:
        """The picture in one piece, which is not there."""
        return

    def shows(self, portions: Iterable[Buffer]) -> bool:
        """Tell whether a value is the one that this is a picture of.

        Args:
            portions: The packed value, a portion at a time.
        """
        return self._digest == _digest(portions)

    def begins(self, new: Frozen) -> bool:
        """Tell whether a value is this one with something added at its end; see `extends`."""
        if new.kind is not self.kind or new.count < self.count:
            return False
        if self.kind is Kind.ATOM:
            return self.shows((new.data,))
        body = memoryview(new.data)[new.start :]
        return len(body) >= self._body and _digest((body[: self._body],)) == self._body_digest


def hashed(picture: Frozen | Rolled) -> Hashed | None:
    """Make a picture that takes no memory; None of a value that is not large in its units."""
    many = picture.count > _MANY and not _is_one(picture)
    if picture.size <= LARGE or many or _loose(picture) > FEW:
        return None
    return Hashed(_portions(picture))


def _loose(picture: Frozen | Rolled) -> int:
    """Count the bytes of a value that do not lie in large units, nearly."""
    if isinstance(picture, Rolled):
        parts = picture.parts()
        return sum(part.size if part.size <= LARGE else _loose_in(part) for part in parts)
    return _loose_in(picture)


def _is_one(picture: Frozen | Rolled) -> bool:
    """Tell whether a value is one unit."""
    return isinstance(picture, Frozen) and picture.kind in (Kind.ATOM, Kind.TEXT)


def _loose_in(picture: Frozen) -> int:
    if _is_one(picture):
        return 0
    units = picture.items() if picture.kind is Kind.LIST else None
    if picture.kind is Kind.MAP:
        entries = picture.entries()
        units = None if entries is None else list(entries.values())
    if units is None:
        return 0  # it is one large unit itself
    return picture.size - sum(size for size in map(_size, units) if size > LARGE)


def _size(unit: object) -> int:
    return len(memoryview(unit))  # type: ignore[arg-type]  # a Raw is a buffer


def _portions(picture: Frozen | Rolled) -> Iterator[Buffer]:
    """Give the packed value: its header, then what is in it."""
    if isinstance(picture, Frozen):
        yield picture.data
        return
    yield array_header(picture.count)
    for part in picture.parts():
        yield memoryview(part.data)[part.start :]


def _digest(portions: Iterable[Buffer]) -> bytes:
    state = hashlib.sha256()
    for portion in portions:
        state.update(portion)
    return state.digest()
