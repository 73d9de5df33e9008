"""Notice that the database file, or its log, is no longer what it was, before each save."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import TypeAlias

from keepset.backends.sqlite.connecting import Place
from keepset.backends.sqlite.failures import DAMAGED, REPLACED, failure
from keepset.backends.sqlite.gaps import RawFile
from keepset.backends.sqlite.waiting import Patience

_Identity: TypeAlias = tuple[int, int]

_MOMENT = 0.1
"""Seconds after which a file is as its first page says, if another process is just writing it."""


class Watch:
    """Looks at both files from outside: a call to the system for each before each transaction."""

    def __init__(self, place: Place, raw: RawFile | None) -> None:
        """Remember which file lies at the path now, and its size.

        Args:
            place: The store.
            raw: Its file; None in memory.
        """
        self._place = place
        self._path = None if place.path is None else os.fspath(place.path)
        self._raw = raw
        self._log = None if self._path is None else f"{self._path}-wal"
        self._identity, self._known = _look(self._path)
        self._size = self._known
        self._logged: _Identity | None = None
        self.opened()

    def require_file(self) -> None:
        """Refuse to go on where another file, or none, lies at the path, or beside it as its log.

        SQLite would go on and write to a log that nobody finds any more.

        Raises:
            StoreError: ``store.replaced``.
        """
        identity, self._size = _look(self._path)
        if identity != self._identity:
            raise failure(REPLACED, str(self._place), "another file")
        if self._logged not in (None, _look(self._log)[0]):
            raise failure(REPLACED, str(self._place), "another log")

    def opened(self) -> None:
        """Remember which log lies there: a connection was opened, and has it until it is closed."""
        self._logged, _ = _look(self._log)

    def closed(self) -> None:
        """Let any log lie there: who closes last removes it, and who opens makes another."""
        self._logged = None

    def require_whole(self, connection: sqlite3.Connection) -> None:
        """Refuse to go on where the file was cut off.

        It only grows while it is in use, except where pages are given back: then it holds all that
        SQLite counts, or, where the log has others by now, all that its first page counts. Bytes
        that were overwritten cannot be noticed from outside; the digests of the rows show them when
        they are read.

        Raises:
            IntegrityError: ``store.damaged``.
            sqlite3.Error: The file can no longer be read.
        """
        if self._size < self._known:
            ((pages,),) = connection.execute("PRAGMA page_count")
            ((page,),) = connection.execute("PRAGMA page_size")
            if (not pages or pages * page > self._size) and not self._is_whole():
                raise failure(DAMAGED, str(self._place), f"cut to {self._size} bytes while in use")
        self._known = self._size

    def _is_whole(self) -> bool:
        """Look at the file itself; the first page is the first one that comes from the log."""
        patience = Patience(_MOMENT)
        while self._raw is not None:
            with suppress(OSError):
                if self._raw.is_whole():
                    return True
            if not patience.pause():
                break
        return False


def _look(path: str | None) -> tuple[_Identity | None, int]:
    """Device and inode of the file that lies at a path, None for none; and its size."""
    if path is None:
        return None, 0
    try:
        status = os.stat(path)  # noqa: PTH116 - half the time, before every save
    except OSError:
        return None, 0
    return (status.st_dev, status.st_ino), status.st_size
