"""SQLite's files on the disk: what they are, whether they change, and copies of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from keepset.errors import StoreError
from keepset.readers.databases.folders import private_folder

_MAGIC: Final = b"SQLite format 3\0"
_HEAD: Final = 100  # bytes of the file's own header
_WAL_AT: Final = 18  # the byte of the header that says how the file is written; 2 is with a log
_WAL: Final = 2
_BESIDE: Final = ("-wal", "-journal")
_TRIES: Final = 5


def is_sqlite(path: Path) -> bool:
    """Tell whether a file begins as SQLite's do."""
    return _head(path).startswith(_MAGIC)


def stamp(path: Path) -> tuple[int, int]:
    """Give the numbers that the application that made a file has put on it: its own, a version.

    Both are 0 for what is no SQLite file.
    """
    head = _head(path)
    if not head.startswith(_MAGIC) or len(head) < _HEAD:
        return 0, 0
    return int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big")


def is_wal(path: Path) -> bool:
    """Tell whether a file is written with a write-ahead log."""
    head = _head(path)
    return len(head) > _WAL_AT and head[_WAL_AT] == _WAL


def readable_here(path: Path) -> bool:
    """Tell whether a file can be read at all."""
    return os.access(path, os.R_OK)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


class Glance:
    """What a file looked like; used to notice that somebody writes it.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        """Look at it."""
        # Names as text: this is asked after each statement, and paths would cost more than it does
        self._path, self._log = str(path), f"{path}-wal"
        self._seen = _seen(self._path, self._log)

    @property
    def has_log(self) -> bool:
        """Whether there is a log beside it with something in it."""
        return self._seen[-1] not in (None, 0)

    def has_changed(self) -> bool:
        """Tell whether it looks otherwise now."""
        return _seen(self._path, self._log) != self._seen


def _seen(path: str, log: str) -> tuple[object, ...]:
    """Size of the log, and what the file system says of the file itself."""
    try:
        beside = os.stat(log).st_size  # noqa: PTH116 - the names are text
    except OSError:
        beside = None
    try:
        found = os.stat(path)  # noqa: PTH116 - the same
    except OSError:
        return (None, None)
    return (found.st_ino, found.st_size, found.st_mtime_ns, beside)


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Copy a file with its log to a temporary folder of one's own, for as long as it is read.

    What a process that was killed has left of such copies is removed first.

    Raises:
        StoreError: ``audit.cannot-read``: it is written all the time, or there is no room.
    """
    with private_folder("keepset-audit-") as folder:
        for _ in range(_TRIES):
            glance = Glance(path)
            copy = folder / "copy.sqlite"
            try:
                _copy(path, copy)
            except OSError as error:
                raise _not_copied(path, error.strerror or "") from error
            if not glance.has_changed():
                yield copy
                return
        raise _not_copied(path, "it is written all the time")


def _copy(path: Path, copy: Path) -> None:
    for ending in ("", *_BESIDE):
        source = path.with_name(path.name + ending)
        target = copy.with_name(copy.name + ending)
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
            target.chmod(0o600)


def _not_copied(path: Path, why: str) -> StoreError:
    return StoreError(
        f"{path} has a log that can only be read in a copy, and no copy could be made: {why}",
        code="audit.cannot-read",
        hint="Stop what writes it, or make a copy with `sqlite3 FILE '.backup COPY'`.",
    )
