"""A type-exact, immutable picture of a value: the bytes that the codec packs it into.

Equal bytes are equal values of equal types, because the codec's bytes are canonical. The picture
can be cut into the packed pieces of its children without decoding them: in the MessagePack format
(https://github.com/msgpack/msgpack/blob/master/spec.md) an array or a map is a header and then its
elements one after another. Only an exact `list`, `dict` or `str` is packed as array, map or str.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from keepset.codec import Path


class Kind(Enum):
    """How a value can change in part."""

    LIST = "list"
    MAP = "mapping"
    TEXT = "text"
    ATOM = "atom"


_FIX_MAP, _FIX_ARRAY, _FIX_STR, _NIL = 0x80, 0x90, 0xA0, 0xC0
_WIDE = {
    0xD9: (Kind.TEXT, 1),
    0xDA: (Kind.TEXT, 2),
    0xDB: (Kind.TEXT, 4),
    0xDC: (Kind.LIST, 2),
    0xDD: (Kind.LIST, 4),
    0xDE: (Kind.MAP, 2),
    0xDF: (Kind.MAP, 4),
}
_FEW = 1024
"""Entries that a picture keeps apart, at the most."""

_ENTRY = 100
"""Bytes that an entry takes that is kept apart, nearly."""

_ITEMS = msgspec.msgpack.Decoder(list[msgspec.Raw])
_ENTRIES = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])


class Frozen:
    """A picture of one value.

    Attributes:
        data: The value's packed bytes.
        kind: How it can change in part.
        count: Number of items, entries or bytes of text; 0 for an atom.
        start: Where the items, entries or bytes of text begin in `data`.
    """

    __slots__ = ("_entries", "count", "data", "kind", "start")

    def __init__(self, data: bytes) -> None:
        """Read the header of `data`, which is one packed value."""
        self.data = data
        self.kind, self.count, self.start = _HEADERS[data[0]] or _wide(data)
        self._entries: dict[str, msgspec.Raw] | None = None

    @property
    def size(self) -> int:
        """Bytes of the packed value."""
        return len(self.data)

    @property
    def memory(self) -> int:
        """Bytes of memory that it takes, nearly."""
        apart = self._entries
        return len(self.data) + (_ENTRY * len(apart) if apart else 0)

    @property
    def frozen(self) -> Frozen:
        """Itself: the picture in one piece."""
        return self

    def packed(self) -> bytes:
        """Give the packed value."""
        return self.data

    def items(self) -> list[msgspec.Raw] | None:
        """Cut a list into the packed bytes of its items; they are views of `data`.

        None where that fails: msgspec counts the nesting of the value and the depth of the
        caller's stack together, and a value that is too deep for it is treated as an atom.
        """
        try:
            return _ITEMS.decode(self.data)
        except (RecursionError, msgspec.DecodeError):
            return None

    def entries(self) -> dict[str, msgspec.Raw] | None:
        """Cut a mapping into the packed bytes of its values, in order.

        None where a key is not a plain str, and where `items` would give None. Those of a small
        mapping are kept: it is the new version in one comparison and the old one in the next.
        """
        if self._entries is not None:
            return self._entries
        try:
            entries = _ENTRIES.decode(self.data)
        except (RecursionError, msgspec.DecodeError):
            return None
        if len(entries) <= _FEW:
            self._entries = entries
        return entries

    def text(self) -> str:
        """Give the text of a `Kind.TEXT`."""
        return self.data[self.start :].decode()


def extends(new: Frozen, old: Frozen) -> bool:
    """Tell whether a value is an older one with something added at its end.

    True of equal values, and of lists, mappings and texts that begin as the older one did.
    """
    if old.kind is not new.kind or new.count < old.count or new.kind is Kind.ATOM:
        return old.data == new.data
    return new.data.startswith(memoryview(old.data)[old.start :], new.start)


def freeze(value: object, pack: Callable[[object, Path], bytes]) -> Frozen:
    """Take a picture of a value.

    Args:
        value: Any value that the codec packs.
        pack: Gives the packed bytes of a value; its second argument is the value's path relative
            to the field, here always ``()``. Whatever `pack` puts in place of the value or of
            something in it (a marker for a secret) is what the picture shows.

    Returns:
        The picture; it shares nothing with `value`.
    """
    return Frozen(pack(value, ()))


def _wide(data: bytes) -> tuple[Kind, int, int]:
    kind, width = _WIDE[data[0]]
    return kind, int.from_bytes(data[1 : 1 + width], "big"), 1 + width


def _fixed(first: int) -> tuple[Kind, int, int] | None:
    """Say what a value is that begins with a byte; None where its length follows."""
    if first in _WIDE:
        return None
    if _FIX_MAP <= first < _FIX_ARRAY:
        return Kind.MAP, first - _FIX_MAP, 1
    if _FIX_ARRAY <= first < _FIX_STR:
        return Kind.LIST, first - _FIX_ARRAY, 1
    if _FIX_STR <= first < _NIL:
        return Kind.TEXT, first - _FIX_STR, 1
    return Kind.ATOM, 0, 0


_HEADERS = [_fixed(first) for first in range(256)]
"""Kind, count and start of a value by its first byte."""
