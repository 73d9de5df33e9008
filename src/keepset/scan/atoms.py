"""The texts of values that have no parts: they can only be stored or withheld as a whole."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import PurePath
from typing import Any, Final

_DEEPEST: Final = 16

ATOMS: Final = (re.Pattern, dt.datetime, dt.time, IPv6Address)
"""Types beside text, bytes and paths whose stored form has a text in it that anybody may choose:
a pattern, the name of a time zone, the zone of an address."""


def atom_text(value: Any) -> str | None:
    """Give the text in an instance of one of `ATOMS`; None where it has none."""
    if isinstance(value, re.Pattern):
        pattern = value.pattern
        return pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)
    if isinstance(value, IPv6Address):
        return value.scope_id
    zone = value.tzinfo
    return zone.tzname(None) if type(zone) is dt.timezone else None


def key_texts(key: object) -> list[str]:
    """Give the texts in the key of a mapping."""
    if isinstance(key, str):
        return [str.__str__(key)]
    if isinstance(key, bytes):
        return [key.decode("latin-1")]
    if isinstance(key, PurePath):
        return [str(key)]
    if isinstance(key, ATOMS):
        text = atom_text(key)
        return [] if text is None else [text]
    if isinstance(key, tuple | frozenset):
        return [text for part in key for text in key_texts(part)]
    return []


def cell_texts(cell: object, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in a cell of a table with the name that each stands under.

    Args:
        cell: A text, bytes, or a plain container of such; anything else has none.
        name: The name of its column.
        depth: How many containers it lies in; cells that nest deeper than 16 are no data.
    """
    if isinstance(cell, str):
        yield name, str.__str__(cell)
    elif isinstance(cell, bytes):
        yield name, cell.decode("latin-1")
    elif depth > _DEEPEST:
        return
    elif isinstance(cell, dict):
        for key, value in cell.items():
            for text in key_texts(key):
                yield "", text
            yield from cell_texts(value, key if isinstance(key, str) else name, depth + 1)
    elif isinstance(cell, list | tuple | set | frozenset):
        for item in cell:
            yield from cell_texts(item, name, depth + 1)
