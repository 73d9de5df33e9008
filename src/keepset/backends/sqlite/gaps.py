"""Overwrite what SQLite leaves in the unused middle of its pages.

Where rows move from one page to another, SQLite rebuilds pages and leaves in the gap between a
page's list of cells and its cells whatever stood there: copies of rows that may be deleted later.
`secure_delete` overwrites cells and pages that are freed, and not these gaps. Nothing in a gap has
a meaning to SQLite, which never reads it, so that zeros are written there past it.

That is done while nobody can write and the log holds nothing, so that the file alone says what the
pages are. Whoever holds pages in memory drops them afterwards, since the store has changed: else
they would come back with the next change to them.

Source of the format of pages: https://www.sqlite.org/fileformat2.html#b_tree_pages.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from keepset.backends.sqlite.failures import is_busy

_POINTERS = {2: 12, 5: 12, 10: 8, 13: 8}
"""Kinds of pages with cells, and how many bytes their headers have."""

_SAFE = 2 << 24
"""Pages from which on one without cells can look like one of those kinds, since it begins with the
highest byte of a page's number."""

_MAP_ENTRY = 5
"""Bytes for one page in the maps that a file has under `auto_vacuum`, which may look like such a
page as well."""

_LOCKED = 1 << 30
"""The byte that SQLite's locks lie on; its page holds nothing."""

_WIDEST = 1 << 16
_AT_ONCE = 256

PART = 4096
"""Pages that are gone through while nobody else can write: some 20 ms."""


@dataclass(slots=True)
class _Shared:
    """What all stores of this process on one file share: how many they are, and the handle."""

    users: int = 0
    handle: int | None = None


class RawFile:
    """A file as bytes, past SQLite; every store on it has one, whether it is used or not.

    POSIX lets go of all of a process's locks on a file as soon as the process closes any handle of
    it. So there is one handle for each file and process, opened when it is first needed, which
    stays open until the last store on that file is closed.
    """

    _lock = threading.Lock()
    _files: ClassVar[dict[tuple[int, int], _Shared]] = {}

    def __init__(self, path: Path) -> None:
        """Count as a user of the file; nothing is opened yet.

        Raises:
            OSError: It is not there.
        """
        status = path.stat()
        self._path = path
        self._identity = (status.st_dev, status.st_ino)
        with self._lock:
            self._shared = self._files.setdefault(self._identity, _Shared())
            self._shared.users += 1

    @property
    def handle(self) -> int:
        """The handle, to read and to write.

        Raises:
            OSError: The file cannot be opened, or another one lies at its path by now.
        """
        with self._lock:
            if self._shared.handle is None:
                status = self._path.stat()
                if (status.st_dev, status.st_ino) != self._identity:
                    raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
                self._shared.handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            return self._shared.handle

    def is_whole(self) -> bool:
        """Tell whether the file has all pages that its first one counts, whatever the log has.

        Raises:
            OSError: The file cannot be opened or read.
        """
        head = os.pread(self.handle, 32, 0)
        size = int.from_bytes(head[16:18], "big")
        pages = int.from_bytes(head[28:32], "big")
        whole = pages * (_WIDEST if size == 1 else size)
        return 0 < whole <= os.fstat(self.handle).st_size

    def close(self) -> None:
        """Let go of the file; the store's own connections are closed already."""
        with self._lock:
            self._shared.users -= 1
            if self._shared.users == 0:
                del self._files[self._identity]
                if self._shared.handle is not None:
                    os.close(self._shared.handle)


def overwrite_gaps(
    connection: sqlite3.Connection, raw: RawFile, log: Path, first: int
) -> int | None:
    """Overwrite the gaps of some pages of a database whose log was just cut to nothing.

    Nobody writes meanwhile, so that a large file is gone through in parts. A gap that was
    overwritten never gets a copy of what was removed before: rows are copied into it, and no gaps.

    Args:
        connection: The connection that writes, outside a transaction.
        raw: The database file.
        log: Its write-ahead log.
        first: Number of the page to begin with, from 1 on.

    Returns:
        The page to go on with, once the log was cut again; 0 where there is none, and the log holds
        nothing. None where somebody wrote meanwhile, so that the log has to be cut first.

    Raises:
        sqlite3.Error: SQLite refuses.
        OSError: The file cannot be read or written.
    """
    connection.execute("PRAGMA shrink_memory")  # its own pages, which its own changes keep
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if is_busy(error):
            return None
        raise
    try:
        ((size,),) = connection.execute("PRAGMA page_size")
        ((maps,),) = connection.execute("PRAGMA auto_vacuum")
        ((version,),) = connection.execute("PRAGMA user_version")
        if log.stat().st_size:
            return None
        pages = os.fstat(raw.handle).st_size // size
        if first > pages:
            return 0
        some = range(first, min(first + PART, pages + 1))
        if _overwrite(raw.handle, size, some, maps=bool(maps)):
            # Written as it was, which is a change to whoever holds pages all the same.
            connection.execute(f"PRAGMA user_version = {int(version)}")
            connection.execute("COMMIT")
        return some.stop
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def overwrite_last(connection: sqlite3.Connection, raw: RawFile, count: int) -> None:
    """Overwrite the gaps of the pages that are moved where some pages at the end are given back.

    Args:
        connection: The connection that writes, in a transaction that changes something after it;
            it has no page in memory but the first, and the log holds nothing.
        raw: The database file.
        count: How many pages are given back.

    Raises:
        sqlite3.Error: SQLite refuses.
        OSError: The file cannot be read or written.
    """
    ((size,),) = connection.execute("PRAGMA page_size")
    pages = os.fstat(raw.handle).st_size // size
    maps = count // (size // _MAP_ENTRY) + 2  # they lie between the others, and are not counted
    _overwrite(raw.handle, size, range(max(1, pages - count - maps), pages + 1), maps=True)


def _is_map(page: int, size: int) -> bool:
    """Tell whether a page, counted from 1, is a map of pages in a file that has such.

    Source: https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages.
    """
    each = size // _MAP_ENTRY + 1
    first = (page - 2) // each * each + 2
    return page == first + (first == _LOCKED // size + 1)


def _overwrite(handle: int, size: int, numbers: range, *, maps: bool) -> bool:
    """Write zeros into the gaps of some pages that hold anything else; tell whether there were any.

    The first page is left out: it holds the schema, and SQLite has it in memory by now.
    """
    if numbers.stop > _SAFE:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    found = False
    for number in range(max(numbers.start, 2), numbers.stop, _AT_ONCE):
        count = min(_AT_ONCE, numbers.stop - number)
        offset = (number - 1) * size
        some = os.pread(handle, count * size, offset)
        for start, stop in _dirty(some, size):
            if maps and _is_map(number + start // size, size):
                continue
            os.pwrite(handle, bytes(stop - start), offset + start)
            found = True
    if found:
        os.fsync(handle)
    return found


def _dirty(pages: bytes, size: int) -> Iterator[tuple[int, int]]:
    """Yield where gaps that do not hold zeros alone begin and end."""
    for start in range(0, len(pages) - size + 1, size):
        width = _POINTERS.get(pages[start])
        if width is None:
            continue
        cells = int.from_bytes(pages[start + 3 : start + 5], "big")
        content = int.from_bytes(pages[start + 5 : start + 7], "big") or _WIDEST
        begin, end = start + width + 2 * cells, start + content
        if begin < end <= start + size and pages.count(0, begin, end) < end - begin:
            yield begin, end
