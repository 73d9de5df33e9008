"""Damage in a store is named as damage, and hides no run."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keepset.backends.driver import drive
from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.codec import Codec
from keepset.errors import IntegrityError, KeepsetError, StoreError
from keepset.plan.reads import ListRuns, Load, ReadEverything, ReadHeaderPage
from keepset.plan.requests import Plan
from keepset.plan.verify import verify_run
from keepset.plan.writes import Delete
from keepset.testing.contract.base import TENANT, Scribe, mark, step


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(tmp_path / "runs.db")
    yield opened
    opened.close()


def _alter(path: Path, *statements: str) -> None:
    """Change rows as no code of ours does."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(statement)
    connection.close()


def _code(backend: SQLiteBackend, plan: Plan[object]) -> tuple[type[KeepsetError], str]:
    with pytest.raises(KeepsetError) as caught:
        backend.execute(plan)
    assert caught.value.hint
    return type(caught.value), caught.value.code


def test_text_that_is_no_text_is_damage(backend: SQLiteBackend, tmp_path: Path) -> None:
    scribe = Scribe(backend).save_many(3)
    _alter(tmp_path / "runs.db", "UPDATE step SET name = CAST(x'ff' AS TEXT) WHERE id & 255 = 2")
    page = ReadHeaderPage(scribe.line_id, None, 3, 1)
    for plan in (Load(scribe.key, b""), page, ReadEverything(scribe.key)):
        assert _code(backend, plan) == (IntegrityError, "store.damaged")


def test_a_value_that_sqlite_cannot_bind_is_not_a_closed_store(backend: SQLiteBackend) -> None:
    with pytest.raises(StoreError) as caught:
        backend._readers.read(lambda connection: connection.execute("SELECT ?", (object(),)))
    assert caught.value.code == "store.failed"


def test_a_run_without_its_contract_is_damage_and_not_a_missing_run(
    backend: SQLiteBackend, tmp_path: Path
) -> None:
    broken, whole = Scribe(backend, "broken").save_many(2), Scribe(backend, "whole").save_many(1)
    _alter(tmp_path / "runs.db", "UPDATE run SET contract = 99 WHERE run_id = 'broken'")
    damage = (IntegrityError, "store.contract-missing")
    for plan in (broken.find(), ReadEverything(broken.key), broken.plan()):
        assert _code(backend, plan) == damage
    for wanted in (ListRuns(TENANT), ListRuns(TENANT, contract="ticket")):
        listed = backend.execute(wanted)
        assert [row.run.key for row in listed] == [broken.key, whole.key]
        assert [row.run.contract.name for row in listed] == ["", "ticket"]
    assert backend.execute(Delete(broken.key, mark(broken.key), at=1)) is True
    assert [row.run.key for row in backend.execute(ListRuns(TENANT))] == [whole.key]


@pytest.mark.parametrize("left", [0, 4096, 5 * 4096])
def test_a_file_that_is_cut_off_while_it_is_open_gets_no_more_saves(
    backend: SQLiteBackend, tmp_path: Path, left: int
) -> None:
    scribe = Scribe(backend)
    for seq in range(1, 20):
        scribe.save(step(seq, changes=b"x" * 4000))
    backend._writer.execute(lambda _: None)
    _alter(tmp_path / "runs.db", "PRAGMA wal_checkpoint(PASSIVE)")
    scribe.save()
    os.truncate(tmp_path / "runs.db", left)
    with pytest.raises(IntegrityError) as caught:
        scribe.save()
    assert caught.value.code == "store.damaged"


def test_a_file_that_was_vacuumed_while_it_is_open_takes_saves(
    backend: SQLiteBackend, tmp_path: Path
) -> None:
    large = Scribe(backend, "large")
    for seq in range(1, 50):
        large.save(step(seq, changes=b"x" * 4000))
    scribe = Scribe(backend).save_many(1)
    backend.execute(Delete(large.key, mark(large.key), at=1))
    scribe.save()
    before = (tmp_path / "runs.db").stat().st_size
    vacuum = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    vacuum.execute("VACUUM")
    vacuum.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    vacuum.close()
    assert (tmp_path / "runs.db").stat().st_size <= before
    scribe.save_many(3)
    assert len(backend.execute(ReadEverything(scribe.key)).lines[0].steps) == 5


def test_what_keeps_every_run_from_being_opened_is_found_by_a_verification(
    backend: SQLiteBackend, tmp_path: Path
) -> None:
    """A page that no checkpoint lies on, and that is asked for before any is read."""
    scribe = Scribe(backend).save_many(2)
    backend.close()
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'tombstone'"
        ((page,),) = connection.execute(sql)
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = bytes(4096)
    path.write_bytes(data)
    again = open_sqlite(path)
    assert _code(again, Load(scribe.key, mark(scribe.key))) == (IntegrityError, "store.damaged")
    found = drive(verify_run(scribe.key, mark(scribe.key), Codec()), again)
    assert [problem.code for problem in found.problems] == ["store.damaged"]
    again.close()
