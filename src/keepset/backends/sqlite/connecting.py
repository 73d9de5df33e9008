"""Open connections, each with the settings that a store relies on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from keepset.backends.sqlite.failures import (
    DRIVER_ERRORS,
    NO_INDEX,
    NO_LOG,
    NO_STORE,
    READ_ONLY,
    failure,
    lacks_index,
    translate,
)
from keepset.backends.sqlite.files import (
    PRIVATE,
    check_file,
    check_place,
    check_version,
    make_file,
)
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.migrations import (
    APPLICATION_ID,
    migrate,
    newest_schema,
    schema_of,
)
from keepset.backends.sqlite.waiting import Patience, patiently

Durability = Literal["full", "normal"]
"""``full``: a save that returned survives a loss of power. ``normal``: it survives the end of the
process, and a loss of power may take the last ones, never a part of one."""

_EVERY = (
    "PRAGMA secure_delete = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 0",
    "PRAGMA cache_size = -8000",
    "PRAGMA trusted_schema = OFF",
)

LOG_LIMIT = 4 << 20
"""Bytes to which the log is cut after a checkpoint of SQLite's."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is and how it is to be used.

    Attributes:
        path: The database, absolute, links followed; None for a private one in memory.
        durability: What a loss of power may take.
        timeout: Seconds to wait for a lock of another process.
        readonly: Whether nothing is written: no row, no schema, no setting of the file.
        still: Whether nobody writes the file and it has no log, so that nothing is put beside it.
    """

    path: Path | None
    durability: Durability
    timeout: float
    readonly: bool = False
    still: bool = False

    def __str__(self) -> str:
        return "memory" if self.path is None else str(self.path)


def open_store(place: Place) -> sqlite3.Connection:
    """Open the connection that writes; a store that is not there yet is made.

    Raises:
        StoreError: The place or the file cannot be used; see `check_place` and `check_file`.
        IntegrityError: The file is damaged.
    """
    check_version(sqlite3.sqlite_version_info)
    with GATE.opening:
        if place.path is not None:
            check_place(place.path)
            if not make_file(place.path) and place.path.stat().st_size == 0:
                place.path.chmod(PRIVATE)
            check_file(place.path, APPLICATION_ID, newest_schema())
        connection = _connect(place)
    try:
        _prepare(connection, place)
    except BaseException as error:
        with GATE.mine():
            connection.close()
        if isinstance(error, DRIVER_ERRORS):
            raise translate(error, str(place)) from error
        raise
    return connection


def _prepare(connection: sqlite3.Connection, place: Place) -> None:
    patience = Patience(place.timeout)
    if patiently(lambda: schema_of(connection), patience) != newest_schema():
        migrate(connection, str(place), patience)
    if place.path is not None:
        wal = "PRAGMA journal_mode = WAL"
        ((mode,),) = patiently(lambda: connection.execute(wal).fetchall(), patience)
        if mode != "wal":
            raise failure(NO_LOG, str(place), f"journal mode {mode}")
    for pragma in (
        f"PRAGMA synchronous = {place.durability.upper()}",
        f"PRAGMA journal_size_limit = {LOG_LIMIT}",
    ):
        patiently(partial(connection.execute, pragma), patience)


def open_viewer(place: Place) -> sqlite3.Connection:
    """Open the first connection to a store that is only looked at.

    Raises:
        NotFoundError: ``store.not-found``: there is no file, or an empty one.
        StoreError: The place or the file cannot be used, or needs a writer first.
        IntegrityError: The file is damaged.
    """
    check_version(sqlite3.sqlite_version_info)
    path, newest = place.path, newest_schema()
    if path is None:
        raise failure(NO_STORE, str(place), "memory")
    with GATE.opening:
        check_place(path, writing=False)
        if not path.exists():
            raise failure(NO_STORE, str(place), "no file")
        check_file(path, APPLICATION_ID, newest)
        if not path.stat().st_size:
            raise failure(NO_STORE, str(place), "an empty file")
        connection = open_reader(place)
    found = 0
    try:
        found = patiently(lambda: schema_of(connection), Patience(place.timeout))
    except DRIVER_ERRORS as error:
        raise _unseen(error, place) from error
    finally:
        if found != newest:
            with GATE.mine():
                connection.close()
    if found != newest:
        raise failure(READ_ONLY, str(place), f"schema {found} has to be brought to {newest}")
    return connection


def _unseen(error: Exception, place: Place) -> Exception:
    """What it means that a read failed."""
    if place.readonly and isinstance(error, sqlite3.Error) and lacks_index(error):
        return failure(NO_INDEX, str(place), getattr(error, "sqlite_errorname", ""))
    return translate(error, str(place))


def open_reader(place: Place) -> sqlite3.Connection:
    """Open a connection that only reads.

    Raises:
        StoreError: The file cannot be opened.
    """
    connection = _connect(place)
    # As the connection that writes has it: `keepset doctor` shows what a reader has.
    _set(connection, place, ["PRAGMA query_only = ON", f"PRAGMA journal_size_limit = {LOG_LIMIT}"])
    return connection


def _connect(place: Place) -> sqlite3.Connection:
    mode = "ro&immutable=1" if place.still else "ro" if place.readonly else "rw"
    target = ":memory:" if place.path is None else f"{place.path.as_uri()}?mode={mode}"
    try:
        with GATE.mine():
            connection = sqlite3.connect(
                target,
                timeout=0,
                isolation_level=None,
                check_same_thread=False,
                uri=place.path is not None,
            )
    except DRIVER_ERRORS as error:
        raise _unseen(error, place) from error
    _set(connection, place, _EVERY)
    return connection


def _set(connection: sqlite3.Connection, place: Place, pragmas: Iterable[str]) -> None:
    """Set what a connection relies on; some of it reads the file, and may have to wait."""
    patience = Patience(place.timeout)
    try:
        for pragma in pragmas:
            patiently(partial(connection.execute, pragma), patience)
    except DRIVER_ERRORS as error:
        with GATE.mine():
            connection.close()
        raise _unseen(error, place) from error
