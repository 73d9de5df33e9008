"""Reads see one state, change nothing, and leave nothing open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.errors import StoreError
from keepset.testing.contract.base import Scribe


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(tmp_path / "runs.db")
    yield opened
    opened.close()


def _steps(connection: sqlite3.Connection) -> int:
    ((count,),) = connection.execute("SELECT count(*) FROM step")
    return int(count)


def test_a_read_sees_one_state_while_saves_go_on(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(2)

    def look_twice(connection: sqlite3.Connection) -> tuple[int, int]:
        before = _steps(connection)
        scribe.save_many(3)
        return before, _steps(connection)

    assert backend._readers.read(look_twice) == (2, 2)
    assert backend._readers.read(_steps) == 5


def test_a_connection_that_reads_cannot_write(backend: SQLiteBackend) -> None:
    Scribe(backend).save()
    with pytest.raises(StoreError) as caught:
        backend._readers.read(lambda connection: connection.execute("DELETE FROM step"))
    assert caught.value.code == "store.read-only"
    assert backend._readers.read(_steps) == 1


def test_what_was_deleted_is_overwritten_on_every_connection(backend: SQLiteBackend) -> None:
    pragma = "PRAGMA secure_delete"
    assert backend._readers.read(lambda c: c.execute(pragma).fetchall()) == [(1,)]
    assert backend._writer.execute(lambda c: c.execute(pragma).fetchall()) == [(1,)]


def test_a_read_inside_a_read_gets_a_connection_of_its_own(backend: SQLiteBackend) -> None:
    Scribe(backend).save()

    def nested(connection: sqlite3.Connection) -> bool:
        return backend._readers.read(lambda inner: inner is not connection)

    assert backend._readers.read(nested)
    assert len(backend._readers._idle) == 2


def test_a_read_that_ends_after_the_store_was_closed_closes_its_connection(
    backend: SQLiteBackend, tmp_path: Path
) -> None:
    Scribe(backend).save()

    def close_meanwhile(connection: sqlite3.Connection) -> int:
        backend.close()
        return _steps(connection)

    assert backend._readers.read(close_meanwhile) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]
