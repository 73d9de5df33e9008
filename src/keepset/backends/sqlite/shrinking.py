"""Give pages that hold nothing back to the file system.

SQLite keeps the pages that rows have left for the rows that come. Where many were removed, the
file would stay as large as it once was: pages from its end are moved into those that are free, and
it is cut there. That is done in parts, and only where it is worth it.

A page takes the gap in its middle along. Whoever overwrites gaps meanwhile (see
`keepset.backends.sqlite.gaps`) would not see one that has moved to where they have been already,
so that pages have theirs overwritten before they are moved.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from keepset.backends.sqlite.failures import is_busy
from keepset.backends.sqlite.gaps import RawFile, overwrite_last

AT_ONCE: Final = 1024
"""Pages that are moved while nobody else can write: some 10 ms."""

_LEAST: Final = 4
_SHARE: Final = 10
_INCREMENTAL: Final = 2


def is_worth_it(connection: sqlite3.Connection) -> bool:
    """Tell whether at least a tenth of the pages hold nothing, and can be given back."""
    return _surplus(connection) > 0


def shrink(connection: sqlite3.Connection, raw: RawFile, log: Path) -> bool:
    """Give some pages back, where it is worth it and nobody else writes.

    Args:
        connection: The connection that writes, outside a transaction.
        raw: The database file.
        log: Its write-ahead log, which was just cut to nothing.

    Returns:
        Whether there were some. The file gets shorter when the log is cut the next time.

    Raises:
        sqlite3.Error: SQLite refuses; nothing is changed.
        OSError: The file cannot be read or written.
    """
    connection.execute("PRAGMA shrink_memory")  # pages are read anew after their gaps were written
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if is_busy(error):
            return False
        raise
    try:
        count = min(_surplus(connection), AT_ONCE)
        if not count or log.stat().st_size:
            return False
        overwrite_last(connection, raw, count)
        for _ in range(count):  # the module makes one step of a statement that gives no columns
            connection.execute("PRAGMA incremental_vacuum(1)")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return True


def _surplus(connection: sqlite3.Connection) -> int:
    """Count the free pages; 0 where they are few, or the file was made without room for maps."""
    ((maps,),) = connection.execute("PRAGMA auto_vacuum")
    ((free,),) = connection.execute("PRAGMA freelist_count")
    ((pages,),) = connection.execute("PRAGMA page_count")
    worth = maps == _INCREMENTAL and free >= _LEAST and free * _SHARE >= pages
    return int(free) if worth else 0
