"""What a person could read in bytes that are no text: an image, an archive, a model's weights.

Most of such bytes are noise, in which every detector would look for something on its own.
"""

from __future__ import annotations

from typing import Final

FILE: Final = 4096
"""Bytes below which all of them are looked at as they are."""

WINDOW: Final = 1 << 18
"""Bytes that are looked at at once."""

BETWEEN: Final = b"\n\0\n"
"""Stands between what can be read; nothing that is looked for goes across it."""

_SHOWN: Final = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))
_KINDS: Final = bytes(
    ord("x") if byte in _SHOWN else ord("h") if byte >= 0x80 else ord(" ")  # noqa: PLR2004 - ASCII ends there
    for byte in range(256)
)
_BEGINS: Final = b"x" * 6
"""No secret begins with fewer characters of ASCII; what follows may be of any alphabet."""


def is_binary(data: bytes) -> bool:
    """Tell whether bytes are those of a file that is no text."""
    return len(data) >= FILE and b"\0" in data


def readable(data: bytes, window: int = WINDOW) -> bytes:
    """Give what can be read in bytes, piece by piece with `BETWEEN` between them.

    Args:
        data: The bytes.
        window: How many of them are looked at at once, which takes several times their memory.
    """
    out = bytearray()
    begin, goes_on = 0, False
    while begin < len(data):
        part = data[begin : begin + window]
        kinds = part.translate(_KINDS)
        at = 0
        if goes_on:
            at = _end(kinds, 0)
            out += part[:at]
        runs = _runs(kinds, at)
        if runs:
            out += (BETWEEN if out else b"") + BETWEEN.join([part[i:j] for i, j in runs])
            at = runs[-1][1]
        goes_on = at == len(part)
        begin += len(part)
        if not goes_on and begin < len(data):
            begin -= len(kinds) - len(kinds.rstrip(b"x"))  # with these one may begin
    return bytes(out)


def _runs(kinds: bytes, at: int) -> list[tuple[int, int]]:
    """Give where what can be read begins and ends; two searches for one thing are the quickest."""
    runs = []
    at = kinds.find(_BEGINS, at)
    while at >= 0:
        end = _end(kinds, at)
        runs.append((at, end))
        at = kinds.find(_BEGINS, end)
    return runs


def _end(kinds: bytes, at: int) -> int:
    end = kinds.find(b" ", at)
    return len(kinds) if end < 0 else end
