"""Bytes of what was deleted and still lies in a SQLite file: the pages of its free list.

The layout of the header is that of https://www.sqlite.org/fileformat2.html#the_database_header.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MAGIC: Final = b"SQLite format 3\0"
_HEADER: Final = 100
_LARGEST_PAGE: Final = 65_536


def free_bytes(place: str) -> int | None:
    """Measure the free pages of a file.

    Args:
        place: A path, or a URL of a SQLite file.

    Returns:
        Bytes of pages that hold nothing any more, as the header of the file counts them; a log
        beside it may say otherwise. None where the place is no SQLite file.
    """
    try:
        with path_of(place).open("rb") as file:
            head = file.read(_HEADER)
    except (OSError, ValueError):
        return None
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        return None
    page = int.from_bytes(head[16:18], "big")
    size = _LARGEST_PAGE if page == 1 else page
    return size * int.from_bytes(head[36:40], "big")


def path_of(place: str) -> Path:
    """Give the path of a file that a person names by a path or a URL."""
    for scheme in ("sqlite:///", "file://"):
        if place.startswith(scheme):
            return Path(place.removeprefix(scheme).partition("?")[0])
    return Path(place)
