"""Room in the write-ahead log, so that a commit brings its own bytes to the disk and no more.

A commit that makes the log longer has the file system write down the new length as well, in a
journal of its own, which on ext4 takes nearly as long as the commit itself. So zeros are put behind
a log that grows, and the commits that come write over them. To SQLite they are the end of the log,
as is whatever an earlier round has left there: frames count by their checksums.

The zeros are written, and not only reserved: writing over room that is reserved changes the file
system's map of the file, which goes through the journal again.

Source: https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import Final

from keepset.backends.sqlite.connecting import LOG_LIMIT, Place
from keepset.backends.sqlite.failures import is_busy

MOST: Final = 256 << 10
"""Bytes that are put behind the log at once: some twenty commits write over them."""

_TIMES: Final = 2
"""The room in terms of what a writer has added to the log: who writes little pays little."""

_PAGE: Final = 4096


class Room:
    """Keeps room in the log of one store, for the one who writes to it."""

    def __init__(self, place: Place) -> None:
        """Look at how long the log is.

        Only commits that wait for the disk gain by room: there is none in memory, and none where
        `Place.durability` is ``normal``.
        """
        path = place.path if place.durability == "full" and not place.readonly else None
        self._log = None if path is None else str(path.with_name(f"{path.name}-wal"))
        self._known = self._length()
        self._added = 0

    def is_used_up(self) -> bool:
        """Tell whether the log has become longer since it was last seen: one call to the system."""
        length = self._length()
        self._known = min(self._known, length)  # it may have been cut
        return length > self._known

    def make(self, connection: sqlite3.Connection) -> None:
        """Put zeros behind a log that has become longer, while nobody else can write to it.

        Nobody waits for it: where another process is at work, or the disk has no more room, it is
        left for the next time that the log becomes longer.

        Args:
            connection: The connection that writes, outside a transaction.

        Raises:
            sqlite3.Error: SQLite refuses for another reason than that it is busy.
        """
        if self._log is None or not self.is_used_up():
            return
        length = self._length()
        self._added += length - self._known
        self._known = length
        room = min(MOST, self._added * _TIMES, LOG_LIMIT - length)
        if room <= 0:
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if is_busy(error):
                return
            raise
        try:
            with suppress(OSError):
                self._append(length, room)
        finally:
            connection.execute("ROLLBACK")
            self._known = self._length()

    def _append(self, length: int, room: int) -> None:
        """Write zeros, unless the log became longer since it was looked at, or has room by now.

        SQLite has its locks on the other two files, so that closing this one lets go of none.
        """
        handle = os.open(str(self._log), os.O_RDWR | os.O_CLOEXEC)
        try:
            end = os.pread(handle, _PAGE, max(0, length - _PAGE))
            if os.fstat(handle).st_size == length and any(end):
                _fill(handle, length, length + room)
        finally:
            os.close(handle)

    def _length(self) -> int:
        if self._log is None:
            return 0
        try:
            return os.stat(self._log).st_size  # noqa: PTH116 - half the time, after every save
        except OSError:
            return 0


def _fill(handle: int, begin: int, end: int) -> None:
    """Write zeros page by page.

    In one piece Linux would keep them as one large piece in its cache, count all of it as written
    with each commit that changes a part of it, and take longer over that.
    """
    for at in range(begin - begin % _PAGE, end, _PAGE):
        first, last = max(begin, at), min(end, at + _PAGE)
        os.pwrite(handle, bytes(last - first), first)
