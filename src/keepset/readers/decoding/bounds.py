"""How much a value may be, so that hostile bytes take a bounded time and memory."""

from __future__ import annotations

from typing import Final

from keepset.readers.ports import Unreadable

LARGEST: Final = 64 << 20
"""Bytes of one stored value that are taken apart; a larger one is told as such."""

COMMON: Final = 4 << 20
"""Bytes below which even a value of nothing but empty lists takes little memory."""

DEEPEST: Final = 1_000
"""Levels of one text of JSON or one pickle."""

LONGEST_NAME: Final = 256
"""Characters of a name of a type; what is longer is no name."""

NO_NAME: Final = "(no name)"


def too_large(size: int) -> Unreadable | None:
    """Refuse a value that is larger than any that is taken apart."""
    if size <= LARGEST:
        return None
    return Unreadable(f"larger than {LARGEST >> 20} MB")


def swells(size: int, containers: int, most: float) -> Unreadable | None:
    """Refuse a large value that is made of little else than tiny lists and mappings.

    Each of them takes some 60 to 200 bytes in memory, and may take a single one in the store.

    Args:
        size: Bytes of the value.
        containers: How many bytes of it begin a list or a mapping, or could.
        most: The share of them up from which it is refused.
    """
    if size > COMMON and containers > most * size:
        return Unreadable("made of little else than empty lists")
    return None


def type_name(*parts: object) -> str:
    """Join the names of a module and of what is in it, if names they are."""
    if not all(isinstance(part, str) for part in parts):
        return NO_NAME
    name = ".".join(str(part) for part in parts)
    # A name comes from the data: one with blanks or line ends in it could be any value
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or " " in name:
        return NO_NAME
    return name


def is_deeper(value: object, limit: int = DEEPEST) -> bool:
    """Tell whether plain lists and mappings are nested deeper than a limit, without recursion."""
    level: list[object] = [value]
    for _ in range(limit + 1):
        below: list[object] = []
        for one in level:
            if isinstance(one, list):
                below += one
            elif isinstance(one, dict):
                below += one.values()
            elif (parts := getattr(one, "parts", None)) is not None:
                below.append(parts)
        if not below:
            return False
        level = below
    return True
