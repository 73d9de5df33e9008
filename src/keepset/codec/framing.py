"""MessagePack framing, so that packed pieces are put together without decoding them.

Source of the format: https://github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

from typing import TypeAlias

Buffer: TypeAlias = bytes | memoryview
"""Packed bytes, or a part of some."""

_FIX, _U8, _U16 = 16, 1 << 8, 1 << 16
_FIXARRAY = [bytes([0x90 | n]) for n in range(_FIX)]
_FIXMAP = [bytes([0x80 | n]) for n in range(_FIX)]
_FIXEXT = {1: b"\xd4", 2: b"\xd5", 4: b"\xd6", 8: b"\xd7", 16: b"\xd8"}


def array_header(n: int) -> bytes:
    """Give the bytes that stand before the `n` packed items of an array."""
    if n < _FIX:
        return _FIXARRAY[n]
    return b"\xdc" + n.to_bytes(2, "big") if n < _U16 else b"\xdd" + n.to_bytes(4, "big")


def map_header(n: int) -> bytes:
    """Give the bytes that stand before the `n` packed keys, each followed by its packed value."""
    if n < _FIX:
        return _FIXMAP[n]
    return b"\xde" + n.to_bytes(2, "big") if n < _U16 else b"\xdf" + n.to_bytes(4, "big")


def bytes_header(n: int) -> bytes:
    """Give the bytes that stand before a byte string of `n` bytes."""
    for lead, width in ((b"\xc4", 1), (b"\xc5", 2)):
        if n < 1 << 8 * width:
            return lead + n.to_bytes(width, "big")
    return b"\xc6" + n.to_bytes(4, "big")


def extension(tag: int, data: bytes) -> bytes:
    """Give a whole extension: header, type and content.

    Args:
        tag: The type, 0 to 127.
        data: The content, less than 4 GiB.

    Raises:
        OverflowError: `data` is longer than the format can say.
    """
    size = len(data)
    fixed = _FIXEXT.get(size)
    if fixed is not None:
        return b"".join((fixed, tag.to_bytes(1, "big"), data))
    if size < _U8:
        lead, width = b"\xc7", 1
    elif size < _U16:
        lead, width = b"\xc8", 2
    else:
        lead, width = b"\xc9", 4
    return b"".join((lead, size.to_bytes(width, "big"), tag.to_bytes(1, "big"), data))
