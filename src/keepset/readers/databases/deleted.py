"""Bytes of deleted data that still lie in a SQLite file, told from the file itself.

Pages that are free are in a list of their own; https://www.sqlite.org/fileformat2.html has its
form. One from which the data was really taken away is full of zeros.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from keepset.readers.databases.files import Glance

_FIRST_AT, _COUNT_AT, _SIZE_AT = 32, 36, 16
_HEADER: Final = 100
_SMALLEST: Final = 512
_LARGEST: Final = 65_536  # its size is written as 1
_LOOKED_AT: Final = 1_024


def deleted_bytes(path: Path) -> int:
    """Count the bytes of free pages that hold something; 0 where a log makes that unknown.

    Call it while this process has the file not open: to close a file lets go of the locks on it.
    """
    if Glance(path).has_log:
        return 0
    try:
        with path.open("rb") as file:
            return sum(len(page) for page in _free_pages(file) if page.strip(b"\0"))
    except OSError:
        return 0


def has_deleted(path: Path) -> bool:
    """Tell whether there is anything in the first of the free pages, whatever a log has.

    Where data is really taken away, as some builds of SQLite do by themselves, they are all zeros.
    Call it while this process has the file not open, as `deleted_bytes`.
    """
    try:
        with path.open("rb") as file:
            return any(page.strip(b"\0") for page in islice(_free_pages(file), _LOOKED_AT))
    except OSError:
        return False


def _free_pages(file: BinaryIO) -> Iterator[bytes]:
    """Read what free pages hold beside the list itself."""
    header = file.read(_HEADER)
    size = _number(header, _SIZE_AT, 2)
    size = _LARGEST if size == 1 else size
    if size < _SMALLEST:
        return
    most = os.fstat(file.fileno()).st_size // size
    trunk, left = _number(header, _FIRST_AT), min(_number(header, _COUNT_AT), most)
    while trunk and left > 0:
        page = _page(file, trunk, size)
        leaves = min(_number(page, 4), (size - 8) // 4)
        rest = page[8 + 4 * leaves :]
        if not _are_numbers(rest, most):
            yield rest
        for index in range(leaves):
            yield _page(file, _number(page, 8 + 4 * index), size)
        left -= 1 + leaves
        trunk = _number(page, 0)


def _page(file: BinaryIO, number: int, size: int) -> bytes:
    file.seek(max(number - 1, 0) * size)
    return file.read(size)


def _number(data: bytes, at: int, width: int = 4) -> int:
    return int.from_bytes(data[at : at + width], "big")


def _are_numbers(data: bytes, most: int) -> bool:
    """Tell whether there is nothing but numbers of pages, of a list that was longer once."""
    data = data[: len(data) // 4 * 4]
    return all(number <= most for (number,) in struct.iter_unpack(">I", data))
