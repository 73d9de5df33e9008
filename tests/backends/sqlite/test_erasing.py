"""What was removed is in no file of the store: searched for, with a control that is found."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.errors import StoreError
from keepset.plan.reads import Everything, ReadEverything
from keepset.plan.requests import Seen
from keepset.plan.rows import SegmentRow, WriteRow
from keepset.plan.writes import Delete, PutWrites, Rewrite, Rewritten
from keepset.testing.contract.base import Scribe, blob, headers, mark, step


def _plant(run: str) -> bytes:
    return b"<planted in %s>" % run.encode()


def _found(path: Path, run: str) -> dict[str, int]:
    """How often each file of the store holds what was planted in a run."""
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]
    return {file.name: file.read_bytes().count(_plant(run)) for file in files if file.exists()}


def _delete(backend: SQLiteBackend, run: str) -> bool:
    key = Scribe(backend, run).key
    return backend.execute(Delete(key, mark(key), at=1))


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(tmp_path / "runs.db", durability="normal", timeout=0.3)
    yield opened
    opened.close()


def _fill(backend: SQLiteBackend, runs: int, saves: int, seed: int) -> list[Scribe]:
    """Write runs that grow side by side, so that their rows share pages and pages split."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed makes the pages what they are
    scribes = [Scribe(backend, f"run-{number}") for number in range(runs)]
    for _ in range(saves):
        scribe = chance.choice(scribes)
        body = _plant(scribe.run_id) * chance.choice([1, 5, 40, 70, 300, 1000])
        row = step(scribe.seq + 1, changes=body)
        if scribe.head and scribe.head % 16 == 0:
            first = scribe.head - 15
            data = _plant(scribe.run_id) * chance.choice([2, 100, 900])
            packed = SegmentRow("a", first, scribe.head, first, first, data, b"")
            scribe.save(row, segments=(headers(first, scribe.head), packed), packed=scribe.head)
        else:
            scribe.save(row, blobs=(blob(body),) if chance.random() < 0.1 else ())
        if chance.random() < 0.2:
            write = WriteRow("task", "", 0, "a", body)
            plan = PutWrites(scribe.fence, scribe.line_id, scribe.head, (write,))
            backend.execute(plan)
    return scribes


@pytest.mark.parametrize("seed", range(3))
def test_a_deleted_run_leaves_no_byte_in_any_file(
    backend: SQLiteBackend, tmp_path: Path, seed: int
) -> None:
    _fill(backend, runs=12, saves=1500, seed=seed)
    for number in (0, 3, 7, 11):
        assert _delete(backend, f"run-{number}")
        found = _found(tmp_path / "runs.db", f"run-{number}")
        assert found == {"runs.db": 0, "runs.db-wal": 0, "runs.db-shm": 0}
    for number in (1, 2, 4):  # the control: what was not deleted is found by the same search
        assert _found(tmp_path / "runs.db", f"run-{number}")["runs.db"] > 0
    backend.close()  # free pages may be given back until then
    assert not (tmp_path / "runs.db-wal").exists()


def test_a_search_finds_what_is_deleted_without_overwriting(tmp_path: Path) -> None:
    """The control of the search: plain SQLite leaves the bytes, and they are found."""
    connection = sqlite3.connect(tmp_path / "plain.db", isolation_level=None)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE t (a BLOB)")
    connection.execute("INSERT INTO t VALUES (?)", (_plant("run-0") * 10,))
    connection.execute("DELETE FROM t")
    connection.close()
    assert _found(tmp_path / "plain.db", "run-0")["plain.db"] > 0


def _shortened(stored: Everything) -> tuple[Rewritten, ...]:
    """Only the newest checkpoint, with nothing planted in it."""
    (past,) = stored.lines
    newest = past.steps[-1].seq
    return (Rewritten(past.line, (newest,), (step(newest, changes=b"clean"),), ()),)


def test_what_a_rewrite_lets_go_of_leaves_no_byte(backend: SQLiteBackend, tmp_path: Path) -> None:
    scribes = _fill(backend, runs=5, saves=500, seed=9)
    scribe = scribes[2]
    stored = backend.execute(ReadEverything(scribe.key))
    path = tmp_path / "runs.db"
    assert sum(_found(path, scribe.run_id).values()) > 0
    seen = Seen(scribe.fence.incarnation, 0)
    heads = ((scribe.line_id, scribe.head),)
    written = tuple(sorted(row.digest for _, _, row in stored.writes))
    lines = _shortened(stored)
    plan = Rewrite(scribe.key, mark(scribe.key), seen, heads, lines, (), written=written)
    backend.execute(plan)
    kept = [row.value for _, _, row in backend.execute(ReadEverything(scribe.key)).writes]
    assert sum(_found(path, scribe.run_id).values()) == b"".join(kept).count(_plant("run-2"))
    assert _found(path, "run-1")["runs.db"] > 0


@pytest.fixture
def reader(backend: SQLiteBackend, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another program that looks at the store as it was, with a run in it."""
    Scribe(backend, "run-0").save(step(1, changes=_plant("run-0")))
    connection = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    connection.execute("BEGIN")
    assert connection.execute("SELECT count(*) FROM run").fetchone() == (1,)
    yield connection
    connection.close()


def test_a_reader_that_keeps_the_log_is_reported_and_the_log_cleaned_later(
    backend: SQLiteBackend, tmp_path: Path, reader: sqlite3.Connection
) -> None:
    with pytest.raises(StoreError) as caught:
        _delete(backend, "run-0")
    assert (caught.value.code, caught.value.retryable) == ("store.busy-readers", True)
    path = tmp_path / "runs.db"
    assert backend.execute(Scribe(backend, "run-0").find()).run is None
    assert sum(_found(path, "run-0").values()) > 0
    reader.execute("COMMIT")
    assert _delete(backend, "run-0") is False
    assert _found(path, "run-0") == {"runs.db": 0, "runs.db-wal": 0, "runs.db-shm": 0}


def test_saves_go_on_while_a_deletion_waits_for_a_reader(
    tmp_path: Path, reader: sqlite3.Connection
) -> None:
    patient = open_sqlite(tmp_path / "runs.db", timeout=30)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(_delete(patient, "run-0")))
    thread.start()
    gone = Scribe(patient, "run-0").find()
    while patient.execute(gone).run is not None:
        pass
    Scribe(patient, "other").save_many(20)
    assert answers == []
    reader.execute("COMMIT")
    thread.join(20)
    assert answers == [True]
    assert sum(_found(tmp_path / "runs.db", "run-0").values()) == 0
    patient.close()


def test_closing_cleans_what_a_reader_kept(
    tmp_path: Path, backend: SQLiteBackend, reader: sqlite3.Connection
) -> None:
    with pytest.raises(StoreError):
        _delete(backend, "run-0")
    reader.close()
    backend.close()
    assert _found(tmp_path / "runs.db", "run-0") == {"runs.db": 0}
