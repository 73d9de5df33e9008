"""SQLite files of others, opened so that nothing of them changes and nothing of them runs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from keepset.errors import StoreError
from keepset.readers.databases.deleted import has_deleted
from keepset.readers.databases.files import Glance, copied, is_wal, readable_here
from keepset.readers.databases.port import Cancelled, Dialect, Row

_SECONDS: Final = 20.0
"""For one statement, at most."""

_SETTINGS: Final = (
    "pragma query_only = on",
    "pragma trusted_schema = off",  # what the file defines may call nothing
    "pragma mmap_size = 0",
    "pragma cache_size = -4096",
    "pragma temp_store = memory",
    "select count(*) from sqlite_master",  # only now the file is really opened
)
_FAULTS: Final = (sqlite3.Error, UnicodeDecodeError)  # the second where its message is no text
_OPS: Final = 100_000  # between two looks at the time
_TRIES: Final = 5
_GONE: Final = ("SQLITE_CANTOPEN", "SQLITE_READONLY")  # the beginnings of what a folder refuses


@contextmanager
def opened(path: Path) -> Iterator[SqliteDatabase]:
    """Open a SQLite file with all that its write-ahead log holds.

    A file without a log is opened as one that does not change, since SQLite would else leave files
    beside it; that it does not is looked at after each statement. Where the folder lets no log be
    read, a copy is.
    """
    if is_wal(path) and not Glance(path).has_log:
        with closing(SqliteDatabase(path, is_still=True)) as database:
            yield database
        return
    if (in_place := _in_place(path)) is not None:
        with closing(in_place):
            yield in_place
        return
    with copied(path) as copy, closing(SqliteDatabase(copy, original=path)) as database:
        yield database


def _in_place(path: Path) -> SqliteDatabase | None:
    """Open a file where it lies; None where its folder does not allow that."""
    try:
        return SqliteDatabase(path)
    except StoreError as error:
        cause = error.__cause__
        name = getattr(cause, "sqlite_errorname", "") or ""
        if name.startswith(_GONE) and readable_here(path):
            return None
        raise


class SqliteDatabase:
    """A SQLite file, open to read.

    Args:
        path: The file that is opened.
        is_still: Whether it is opened as one that nobody writes.
        original: The file of which it is a copy, if it is one.
    """

    def __init__(self, path: Path, *, is_still: bool = False, original: Path | None = None) -> None:
        """Open it; of what is in it nothing is read yet."""
        self._path = path
        self._original = original or path
        self._tables: dict[str, dict[str, str]] | None = None
        self._glance = Glance(path) if is_still else None
        self._has_deleted = has_deleted(path)
        # A copy is our own: what was begun in it and not ended may be taken back
        mode = "ro&immutable=1" if is_still else "ro" if original is None else "rw"
        self._connection = _connected(path, mode, self._original)

    @property
    def path(self) -> Path:
        """The file that is opened: the one that was named, or a copy of it."""
        return self._path

    @property
    def is_still(self) -> bool:
        """Whether it is read as one that nobody writes."""
        return self._glance is not None

    @property
    def dialect(self) -> Dialect:
        """SQLite's."""
        return "sqlite"

    @property
    def mark(self) -> str:
        """A question mark."""
        return "?"

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """Columns and their types, by table; a view could run anything that SQL can say."""
        if self._tables is None:
            named = self.fetch(
                "select name from sqlite_master where type = 'table'"
                " and sql not like 'create virtual%' and name not like 'sqlite\\_%' escape '\\'"
            )
            self._tables = {str(name): self._columns(str(name)) for (name,) in named}
        return self._tables

    def _columns(self, table: str) -> dict[str, str]:
        listed = self.fetch("select name, type from pragma_table_info(?)", (table,))
        return {str(name): str(kind).lower() for name, kind in listed}

    def row_key(self, table: str) -> tuple[str, ...]:
        """The row's number; where a table has none, its primary key."""
        listed = self.fetch("select wr from pragma_table_list(?) where schema = 'main'", (table,))
        if listed and not listed[0][0]:
            return ("rowid",)
        keys = self.fetch("select name from pragma_table_info(?) where pk order by pk", (table,))
        return tuple(str(name) for (name,) in keys)

    def named(self, table: str) -> str:
        """Quote a name."""
        return self.quoted(table)

    def quoted(self, column: str) -> str:
        """Quote a name."""
        return '"' + column.replace('"', '""') + '"'

    def weight(self, _: str, column: str) -> str:
        """Of a BLOB its length is in the row's head; of a text, at most as many bytes as it has."""
        return f"length({self.quoted(column)})"

    def text(self, _: str, column: str) -> str:
        """As it is: SQLite gives text and bytes as they were put in."""
        return self.quoted(column)

    def fetch(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one statement, for 20 s at most, and read all of its rows."""
        for _ in range(_TRIES):
            try:
                found = self._fetch(statement, parameters)
            except StoreError:  # it may be that of a page that was being written
                if not self._is_written():
                    raise
            else:
                if not self._is_written():
                    return found
            self._open_again()
        return self._fetch(statement, parameters)

    def _is_written(self) -> bool:
        return self._glance is not None and self._glance.has_changed()

    def _open_again(self) -> None:
        """Open it with the log that a writer has; as one that is still where he has gone again."""
        self._connection.close()
        glance = Glance(self._path)
        self._glance = None if glance.has_log else glance
        mode = "ro" if glance.has_log else "ro&immutable=1"
        self._connection = _connected(self._path, mode, self._path)

    def _fetch(self, statement: str, parameters: Sequence[object]) -> list[Row]:
        raised: list[BaseException] = []
        watch = _watching(time.monotonic() + _SECONDS, raised)
        next(watch)
        self._connection.set_progress_handler(watch.__next__, _OPS)
        try:
            return self._connection.execute(statement, parameters).fetchall()
        except _FAULTS as error:
            if raised:
                raise raised[0] from error
            if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
                raise Cancelled from error
            raise _refused(self._original, error) from error

    def size(self) -> int:
        """Count the bytes of the file and of its log."""
        log = self._original.with_name(self._original.name + "-wal")
        return sum(one.stat().st_size for one in (self._original, log) if one.exists())

    def free(self) -> int:
        """Count the bytes of pages that are in no use, where there is anything in them."""
        if not self._has_deleted:
            return 0
        ((pages, size),) = self.fetch(
            "select freelist_count, page_size from pragma_freelist_count, pragma_page_size"
        )
        return int(pages) * int(size)

    def notes(self) -> tuple[str, ...]:
        """Say that a copy was read, if one was."""
        if self._original == self._path:
            return ()
        return ("The log beside the file could not be read where it lies: a copy was read.",)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _watching(end: float, raised: list[BaseException]) -> Iterator[bool]:
    """Tell at each look whether a statement is to end: its time is up, or a signal has come.

    SQLite drops what its callback raises, as the handler of a signal does that came meanwhile: a
    Ctrl-C would pass for a statement that took too long. A function may be interrupted before its
    first line; a generator goes on where it was, which is inside of its `try`.
    """
    while True:
        try:
            yield bool(raised) or time.monotonic() > end
        except GeneratorExit:
            return
        except BaseException as error:  # noqa: BLE001 - raised again by who has begun the statement
            raised.append(error)


def _connected(path: Path, mode: str, original: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=5, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise _refused(original, error) from error
    connection.text_factory = _text
    try:
        for statement in _SETTINGS:
            connection.execute(statement).fetchall()
    except _FAULTS as error:
        connection.close()
        raise _refused(original, error) from error
    return connection


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _refused(path: Path, error: Exception) -> StoreError:
    # SQLite's own text may name values of the file; its name for the error does not
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return StoreError(
        f"{path} cannot be read: {name}",
        code="audit.cannot-read",
        hint="If it is damaged, `sqlite3 FILE .recover` gives a file with what can be saved; "
        "if it is locked, try again or read a copy.",
        retryable=name in ("SQLITE_BUSY", "SQLITE_LOCKED"),
    )
