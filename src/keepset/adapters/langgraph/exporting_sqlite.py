"""Threads into a SQLite file of LangGraph's `SqliteSaver`."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path as File
from typing import Any, Final

from langgraph.checkpoint.sqlite import SqliteSaver

from keepset.adapters.langgraph.exporting_targets import Measured, Turn, Unfit, translated
from keepset.codec import Path
from keepset.errors import StoreError, UsageError
from keepset.providers.files import require_writable

_WAIT: Final = 60.0
"""Seconds that a turn waits for another process that writes."""
_OURS: Final = 0x6B736574
_BESIDE: Final = ("-wal", "-shm", "-journal", ".key")
_COUNT: Final = "select count(*) from checkpoints where thread_id = ?"
_IS_THERE: Final = "select 1 from sqlite_master where name = 'checkpoints'"
_COLUMNS: Final = "select name from pragma_table_info(?)"
_SPOT: Final = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "type"})
_NEEDED: Final = {
    "checkpoints": _SPOT | {"parent_checkpoint_id", "checkpoint", "metadata"},
    "writes": _SPOT | {"task_id", "idx", "channel", "value"},
}
_HAS_PATHS: Final = "select 1 from pragma_table_info('writes') where name = 'task_path'"


class _Held(SqliteSaver):
    """A saver whose transactions are ended by somebody else."""

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:  # noqa: ARG002, FBT001, FBT002 - the host's
        """Give a cursor, and commit nothing."""
        with self.lock, closing(self.conn.cursor()) as cursor:
            yield cursor


class SqliteTarget:
    """A file that is written to."""

    def __init__(self, connection: sqlite3.Connection, serde: Measured) -> None:
        """Take a connection that commits only when it is told to."""
        self._connection = connection
        self._saver = _Held(connection, serde=serde)
        self._saver.setup()

    @contextmanager
    def turn(self, thread: str) -> Iterator[Turn]:
        """Do one thread in one transaction."""
        connection = self._connection
        with translated(sqlite3.Error, _meaning):
            connection.execute("begin immediate")
            try:
                there = _count(connection, thread)
                yield Turn(there, self._saver, self._saver)
                connection.execute("commit")
            finally:
                if connection.in_transaction:
                    connection.execute("rollback")

    def unfit(self, value: Any, path: Path) -> tuple[Path, str] | None:
        """SQLite takes all bytes."""
        del value, path
        return None


class SqliteTrial:
    """A file that is only looked at: threads are written to a database in memory."""

    def __init__(self, connection: sqlite3.Connection | None, serde: Measured) -> None:
        """Take a connection that reads; None where there is no file, or none with threads."""
        self._connection = connection
        self._serde = serde
        self._reading = None
        if connection is not None:
            _require_tables(connection)
        if connection is not None and connection.execute(_IS_THERE).fetchone():
            self._reading = _Held(connection, serde=serde)
            self._reading.is_setup = True
            self._reading._has_task_path = bool(connection.execute(_HAS_PATHS).fetchone())  # noqa: SLF001 - set up by hand

    @contextmanager
    def turn(self, thread: str) -> Iterator[Turn]:
        """Try one thread."""
        with translated(sqlite3.Error, _meaning), scratch(self._serde) as saver:
            there = 0
            if self._connection is not None and self._reading is not None:
                there = _count(self._connection, thread)
            yield Turn(there, self._reading, saver)

    def unfit(self, value: Any, path: Path) -> tuple[Path, str] | None:
        """SQLite takes all bytes."""
        del value, path
        return None


def _require_tables(connection: sqlite3.Connection) -> None:
    """Refuse tables of those names that are none of LangGraph's, as they would refuse the rows.

    Raises:
        StoreError: ``export.target``.
    """
    for table, needed in _NEEDED.items():
        columns = {name for (name,) in connection.execute(_COLUMNS, (table,))}
        if columns and not columns >= needed:
            raise StoreError(
                f"the target refuses: its table {table} is none of LangGraph's",
                code="export.target",
                hint="Name another file: this one is of another tool, or of a release before 0.2.",
            )


@contextmanager
def scratch(serde: Measured) -> Iterator[SqliteSaver]:
    """Give a saver on a database in memory, of which nothing is left."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        saver = _Held(connection, serde=serde)
        saver.setup()
        yield saver


@contextmanager
def sqlite_target(path: File, serde: Measured, *, is_applied: bool) -> Iterator[Any]:
    """Open the file that threads go to.

    Raises:
        UsageError: ``export.own-store``: it is a store of keepset's.
        StoreError: ``export.target``: it cannot be opened.
    """
    _require_other(path)
    with translated(OSError, _refused):
        there = require_writable(path)  # a dry run refuses what would be refused in the end
    if not is_applied and there is None:
        yield SqliteTrial(None, serde)
        return
    with translated(sqlite3.Error, _meaning), translated(OSError, _refused):
        made = is_applied and _make(path)
        connection = _connect(path, is_applied=is_applied)
    with closing(connection):
        with translated(sqlite3.Error, _meaning):
            kind = SqliteTarget if is_applied else SqliteTrial
            try:
                target = kind(connection, serde)
            except BaseException:
                connection.close()
                if made and not path.stat().st_size:
                    path.unlink()
                raise
        yield target


def _connect(path: File, *, is_applied: bool) -> sqlite3.Connection:
    mode = "rw" if is_applied else "ro"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=_WAIT, check_same_thread=False
    )


def _make(path: File) -> bool:
    """Make a file that only its owner can read, unless it is there."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def _require_other(path: File) -> None:
    if path.exists() and not path.is_file():  # of a pipe there may be nothing to read, ever
        raise StoreError(
            f"the target cannot be made: {path} is no plain file",
            code="export.target",
            hint="Name a file.",
        )
    # What SQLite keeps beside a store is a part of it
    beside = [path.with_name(path.name.removesuffix(end)) for end in _BESIDE]
    if any(map(_is_ours, {path, *beside})):
        raise UsageError(
            f"{path} is a store of keepset's",
            code="export.own-store",
            hint="Name another file: LangGraph's tables go into one of their own.",
        )


def _is_ours(path: File) -> bool:
    try:
        with path.open("rb") as file:
            return int.from_bytes(file.read(100)[68:72], "big") == _OURS
    except OSError:
        return False


def _count(connection: sqlite3.Connection, thread: str) -> int:
    try:
        return int(connection.execute(_COUNT, (thread,)).fetchone()[0])
    except UnicodeEncodeError as error:
        raise Unfit("its id is no text that SQLite can hold") from error


def _meaning(error: Exception) -> Exception:
    if not isinstance(error, sqlite3.DatabaseError) or isinstance(
        error, sqlite3.DataError | sqlite3.IntegrityError
    ):
        return Unfit(f"SQLite refuses it with {type(error).__name__}")
    return StoreError(
        f"the target refuses: {error}",
        code="export.target",
        hint="Nothing is half there: see to its folder, its rights and the room on its disk, and "
        "run the same command again.",
    )


def _refused(error: Exception) -> Exception:
    why = error.strerror if isinstance(error, OSError) else type(error).__name__
    return StoreError(
        f"the target cannot be made: {why}",
        code="export.target",
        hint="Look at its folder: is it there, and may you write in it?",
    )
