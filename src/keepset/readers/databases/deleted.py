"""Bytes of deleted data that still lie in a SQLite file, told from the file itself.

Pages that are free are in a list of their own; https://www.sqlite.org/fileformat2.html has its
form. One from which the data was really taken away is full of zeros.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from keepset.readers.databases.files import Glance

_FIRST_AT, _COUNT_AT, _SIZE_AT = 32, 36, 16
_HEADER: Final = 100
_LARGEST: Final = 65_536  # its size is written as 1


def deleted_bytes(path: Path) -> int:
    """Count the bytes of free pages that hold something; 0 where a log makes that unknown.

    Call it while this process has the file not open: to close a file lets go of the locks on it.
    """
    if Glance(path).has_log:
        return 0
    try:
        with path.open("rb") as file:
            return sum(map(_written, _free_pages(file)))
    except (OSError, ValueError):
        return 0


def _free_pages(file: BinaryIO) -> list[bytes]:
    """Read what free pages hold beside the list itself."""
    header = file.read(_HEADER)
    size = _number(header, _SIZE_AT, 2)
    size = _LARGEST if size == 1 else size
    trunk, left = _number(header, _FIRST_AT), _number(header, _COUNT_AT)
    found: list[bytes] = []
    while trunk and left > 0:
        page = _page(file, trunk, size)
        leaves = min(_number(page, 4), (size - 8) // 4)
        found.append(page[8 + 4 * leaves :])
        numbers = [_number(page, 8 + 4 * index) for index in range(leaves)]
        found += [_page(file, number, size) for number in numbers]
        left -= 1 + leaves
        trunk = _number(page, 0)
    return found


def _page(file: BinaryIO, number: int, size: int) -> bytes:
    file.seek((number - 1) * size)
    return file.read(size)


def _number(data: bytes, at: int, width: int = 4) -> int:
    return int.from_bytes(data[at : at + width], "big")


def _written(page: bytes) -> int:
    return len(page) if page.strip(b"\0") else 0
