"""Values that are stored again and again are taken apart once.

A saver that writes the whole state after each step stores each message once for each step. What was
taken apart is remembered by its bytes, up to a bound, and given again as the same object.
"""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from keepset.readers.decoding.packed import from_msgpack

_SMALL: Final = 48  # bytes; such a value is taken apart sooner than it is looked up
_BUDGET: Final = 4 << 20  # bytes of what is remembered; as objects they take some times more
_SHORT: Final = 8  # bytes; a list whose items are smaller on average is read at once
_FIXED, _ARRAY16, _ARRAY32 = range(0x90, 0xA0), 0xDC, 0xDD

_ITEMS: Final = msgspec.msgpack.Decoder(list[msgspec.Raw])


class Remembered:
    """Takes MessagePack apart, and gives what it has given before where the bytes are the same.

    What it gives is not to be changed: it is shared.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._young: dict[bytes, object] = {}
        self._old: dict[bytes, object] = {}
        self._size = 0

    def take_apart(self, raw: bytes) -> object:
        """Take a value apart; of a list each item by itself."""
        if len(raw) <= _SMALL:
            return from_msgpack(raw)
        items = self._items(raw)
        if items is not None:
            return [self._one(bytes(item)) for item in items]
        return self._one(raw)

    def _items(self, raw: bytes) -> list[msgspec.Raw] | None:
        """Cut a list into the bytes of its items; None where it is none, or not worth it."""
        count = _length(raw)
        if not count or count * _SHORT > len(raw):
            return None
        try:
            return _ITEMS.decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            return None

    def _one(self, raw: bytes) -> object:
        if len(raw) <= _SMALL or len(raw) > _BUDGET // 2:
            return from_msgpack(raw)
        if raw in self._young:
            return self._young[raw]
        value = self._old[raw] if raw in self._old else from_msgpack(raw)
        self._size += len(raw)
        if self._size > _BUDGET // 2:
            # Two generations: what was not asked for during the last one is forgotten
            self._old, self._young, self._size = self._young, {}, len(raw)
        self._young[raw] = value
        return value


def _length(raw: bytes) -> int:
    """Count the items of a list, by its head; 0 of all else."""
    head = raw[0]
    if head in _FIXED:
        return head - _FIXED.start
    if head == _ARRAY16:
        return int(struct.unpack_from(">H", raw, 1)[0])
    if head == _ARRAY32:
        return int(struct.unpack_from(">I", raw, 1)[0])
    return 0
