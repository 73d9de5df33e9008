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
            OSError: The file cannot be opened.
        """
        with self._lock:
            if self._shared.handle is None:
                self._shared.handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            return self._shared.handle

    def close(self) -> None:
        """Let go of the file; the store's own connections are closed already."""
        with self._lock:
            self._shared.users -= 1
            if self._shared.users == 0:
                del self._files[self._identity]
                if self._shared.handle is not None:
                    os.close(self._shared.handle)


def overwrite_gaps(connection: sqlite3.Connection, raw: RawFile, log: Path) -> bool:
    """Overwrite every gap of a database whose log was just cut to nothing.

    Args:
        connection: The connection that writes, outside a transaction.
        raw: The database file.
        log: Its write-ahead log.

    Returns:
        False where somebody wrote meanwhile, so that the log has to be cut once more first.

    Raises:
        sqlite3.Error: SQLite refuses.
        OSError: The file cannot be read or written.
    """
    connection.execute("PRAGMA shrink_memory")
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if is_busy(error):
            return False
        raise
    try:
        ((size,),) = connection.execute("PRAGMA page_size")
        ((maps,),) = connection.execute("PRAGMA auto_vacuum")
        ((version,),) = connection.execute("PRAGMA user_version")
        clean = log.stat().st_size == 0
        if clean and _overwrite(raw.handle, size, maps=bool(maps)):
            # Written as it was, which is a change to whoever holds pages all the same.
            connection.execute(f"PRAGMA user_version = {int(version)}")
            connection.execute("COMMIT")
            connection.execute("PRAGMA shrink_memory")
            return False
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return clean


def _is_map(page: int, size: int) -> bool:
    """Tell whether a page, counted from 1, is a map of pages in a file that has such.

    Source: https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages.
    """
    each = size // _MAP_ENTRY + 1
    first = (page - 2) // each * each + 2
    return page == first + (first == _LOCKED // size + 1)


def _overwrite(handle: int, size: int, *, maps: bool) -> bool:
    """Write zeros into all gaps that hold anything else; tell whether there were any.

    The first page is left out: it holds the schema, and SQLite has it in memory by now.
    """
    pages = os.fstat(handle).st_size // size
    if pages >= _SAFE:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    found = False
    for number in range(1, pages, _AT_ONCE):
        some = os.pread(handle, _AT_ONCE * size, number * size)
        for start, stop in _dirty(some, size):
            if maps and _is_map(number + start // size + 1, size):
                continue
            os.pwrite(handle, bytes(stop - start), number * size + start)
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
