"""The schema of a store is what its migrations make of an empty database, and nothing else."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import keepset as ks
from keepset.backends.sqlite import open_sqlite
from keepset.backends.sqlite.migrations import (
    APPLICATION_ID,
    migrate,
    migrations,
    newest_schema,
    statements,
)
from keepset.backends.sqlite.waiting import Patience
from keepset.errors import StoreError
from tests.run.states import Chat

SNAPSHOT = Path(__file__).with_name("schema.sql")


def _schema(connection: sqlite3.Connection) -> str:
    """Every table and index as SQLite keeps it, in the order of names."""
    rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name")
    return "".join(f"{sql};\n" for (sql,) in rows)


def test_the_schema_of_a_fresh_store_is_all_migrations_applied(tmp_path: Path) -> None:
    open_sqlite(tmp_path / "runs.db").close()
    migrated = sqlite3.connect(":memory:")
    for script in migrations():
        migrated.executescript(script)
    with sqlite3.connect(tmp_path / "runs.db") as fresh:
        assert _schema(fresh) == _schema(migrated)
    fresh.close()
    migrated.close()


def test_the_schema_is_the_one_that_was_reviewed(tmp_path: Path) -> None:
    """A change of the schema shows as a change of the snapshot, in one place, as it will be."""
    open_sqlite(tmp_path / "runs.db").close()
    with sqlite3.connect(tmp_path / "runs.db") as fresh:
        assert _schema(fresh) == SNAPSHOT.read_text("utf-8")
    fresh.close()


def test_every_table_is_strict(tmp_path: Path) -> None:
    open_sqlite(tmp_path / "runs.db").close()
    with sqlite3.connect(tmp_path / "runs.db") as fresh:
        listed = fresh.execute("PRAGMA table_list").fetchall()
    fresh.close()
    loose = [name for _, name, kind, _, _, strict in listed if kind == "table" and not strict]
    assert [name for name in loose if not name.startswith("sqlite_")] == []


def test_an_empty_store_is_small(tmp_path: Path) -> None:
    open_sqlite(tmp_path / "runs.db").close()
    assert (tmp_path / "runs.db").stat().st_size <= 96 << 10
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]


def test_a_migration_lands_whole_or_not_at_all() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("CREATE TABLE tombstone (mark TEXT) STRICT")  # the last one will fail
    with pytest.raises(sqlite3.OperationalError, match="tombstone"):
        migrate(connection, "here", Patience(0))
    assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (1,)
    assert not connection.in_transaction
    connection.execute("DROP TABLE tombstone")
    migrate(connection, "here", Patience(0))
    assert connection.execute("PRAGMA user_version").fetchone() == (newest_schema(),)
    migrate(connection, "here", Patience(0))
    connection.close()


def test_a_script_is_taken_apart_at_its_semicolons_alone() -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\nEND"
    script = f"-- a; comment\nSELECT ';';\n\n{trigger};\n"
    assert list(statements(script)) == [
        "SELECT ';'",
        trigger,
    ]


def test_a_store_of_the_first_schema_is_brought_to_the_newest_when_it_is_opened(
    tmp_path: Path,
) -> None:
    """Its runs go on, and have the lease that they could not have before."""
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        store.run(Chat, "r").save("one", {"count": 1}, status="paused")
    _take_leases_out(path)
    with pytest.raises(StoreError) as refused:
        ks.open(f"sqlite:///{path}", role="viewer")
    assert refused.value.code == "store.read-only"
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        assert run.state == {"count": 1}
        run.save("two", {"count": 2})
        assert store.runs()[0].run.lease is not None
        assert store.settings().format == newest_schema()
    with sqlite3.connect(path) as opened:
        assert _schema(opened) == SNAPSHOT.read_text("utf-8")
    opened.close()


def _take_leases_out(path: Path) -> None:
    """Make of a store what one is that was written before there were leases."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX run_leases")
        for column in ("lease_by", "lease_number", "lease_until"):
            connection.execute(f"ALTER TABLE run DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 1")
        first = sqlite3.connect(":memory:")
        first.executescript(migrations()[0])
        columns = "SELECT name FROM pragma_table_info('run')"
        assert connection.execute(columns).fetchall() == first.execute(columns).fetchall()
        first.close()
    connection.close()
