"""Bring a database to the newest schema: the SQL files of `schema/`, in order."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from keepset.backends.sqlite.failures import NEWER, NOT_OURS, failure
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.waiting import Patience, patiently

APPLICATION_ID = 0x6B736574
"""What marks a SQLite file as ours: ``kset`` in ASCII."""


@cache
def migrations() -> tuple[str, ...]:
    """The text of every migration; the first makes schema 1 of an empty database."""
    folder = files("keepset.backends.sqlite").joinpath("schema")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(folder.joinpath(name).read_text("utf-8") for name in names)


def newest_schema() -> int:
    """The number of the schema that this code works with."""
    return len(migrations())


def statements(script: str) -> Iterator[str]:
    """Take a script apart; lines of comment are left out."""
    text = ""
    for line in script.splitlines():
        if line.startswith("--") or not (text or line.strip()):
            continue
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text.strip().removesuffix(";")
            text = ""


def schema_of(connection: sqlite3.Connection) -> int:
    """Read the number of the schema that a database has; 0 for an empty one."""
    ((version,),) = connection.execute("PRAGMA user_version")
    return int(version)


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Tell whether a database is neither ours nor empty."""
    ((application,),) = connection.execute("PRAGMA application_id")
    if application == APPLICATION_ID:
        return False
    ((objects,),) = connection.execute("SELECT count(*) FROM sqlite_schema")
    return bool(application or objects or schema_of(connection))


def migrate(connection: sqlite3.Connection, place: str, patience: Patience) -> None:
    """Apply every migration that is missing, in one transaction under an exclusive lock.

    Args:
        connection: A connection with no transaction open.
        place: The store's location, for messages.
        patience: How long to wait for other processes.

    Raises:
        StoreError: ``store.not-ours`` or ``store.newer-format``; nothing was changed.
        sqlite3.Error: SQLite refused; nothing was changed.
    """
    ((pages,),) = patiently(lambda: connection.execute("PRAGMA page_count").fetchall(), patience)
    if not pages:  # later it would change nothing, or a file that is not ours
        patiently(lambda: connection.execute("PRAGMA auto_vacuum = INCREMENTAL"), patience)
    patiently(lambda: connection.execute("BEGIN EXCLUSIVE"), patience)
    with GATE.mine():
        try:
            _apply(connection, place)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _apply(connection: sqlite3.Connection, place: str) -> None:
    if is_foreign(connection):
        raise failure(NOT_OURS, place, "it has tables")
    version = schema_of(connection)
    if version > newest_schema():
        raise failure(NEWER, place, f"schema {version}, known up to {newest_schema()}")
    for script in migrations()[version:]:
        for statement in statements(script):
            connection.execute(statement)
    if version == 0:
        row = (uuid.uuid4().bytes, time.time_ns() // 1_000_000)
        connection.execute("INSERT INTO store (id, uuid, created) VALUES (1, ?, ?)", row)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {newest_schema()}")
