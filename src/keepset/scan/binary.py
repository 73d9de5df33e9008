"""What a person could read in bytes that are no text: an image, an archive, a model's weights.

Most of such bytes are noise, in which every detector would look for something on its own.
"""

from __future__ import annotations

import re
from typing import Final

FILE: Final = 4096
"""Bytes below which all of them are looked at as they are."""

BETWEEN: Final = b"\n\0\n"
"""Stands between what can be read; nothing that is looked for goes across it."""

_SHOWN: Final = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))
_KINDS: Final = bytes(
    ord("x") if byte in _SHOWN else ord("h") if byte >= 0x80 else ord(" ")  # noqa: PLR2004 - ASCII ends there
    for byte in range(256)
)
_READABLE: Final = re.compile(rb"x{6}[xh]*+")
"""No secret begins with fewer characters of ASCII; what follows may be of any alphabet."""


def is_binary(data: bytes) -> bool:
    """Tell whether bytes are those of a file that is no text."""
    return len(data) >= FILE and b"\0" in data


def readable(data: bytes) -> bytes:
    """Give what can be read in bytes, piece by piece with `BETWEEN` between them."""
    runs = _READABLE.finditer(data.translate(_KINDS))
    return BETWEEN.join([data[run.start() : run.end()] for run in runs])
