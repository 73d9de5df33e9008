"""What was removed makes the file smaller, by itself, and what stays is where it was."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keepset.backends.sqlite import SQLiteBackend, erasing, gaps, open_sqlite, shrinking
from keepset.errors import StoreError
from keepset.plan.reads import ReadEverything
from keepset.plan.writes import Delete
from keepset.testing.contract.base import Scribe, mark, step
from tests.backends.sqlite.disks import small_disk

PLANTED = b"<planted in the run>"
SEEDS = range(12)
CHILDREN = Path(__file__).with_name("children.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def backend(path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(path, durability="normal", timeout=5)
    yield opened
    opened.close()


def grown(backend: SQLiteBackend, seed: int, saves: int = 300) -> list[Scribe]:
    """Runs whose rows share pages; the second one has what is looked for."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed makes the pages what they are
    scribes = [Scribe(backend, f"run-{number}") for number in range(6)]
    for _ in range(saves):
        scribe = chance.choice(scribes)
        begin = PLANTED if scribe is scribes[1] else b"<another>"
        body = begin + chance.randbytes(chance.randint(200, 1500))
        scribe.save(step(scribe.seq + 1, changes=body))
    return scribes


def delete(backend: SQLiteBackend, scribe: Scribe) -> None:
    assert backend.execute(Delete(scribe.key, mark(scribe.key), at=1))


def left(path: Path) -> int:
    """How often the files of a store hold what was planted."""
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    return sum(file.read_bytes().count(PLANTED) for file in files)


def sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def free_share(path: Path) -> float:
    with closing(sqlite3.connect(path)) as connection:
        ((free,),) = connection.execute("PRAGMA freelist_count")
        ((pages,),) = connection.execute("PRAGMA page_count")
    return float(free / pages)


def rows(backend: SQLiteBackend, scribe: Scribe) -> Any:
    (past,) = backend.execute(ReadEverything(scribe.key)).lines
    return past.steps, past.segments


def test_a_file_gets_smaller_by_what_was_deleted(path: Path) -> None:
    with closing(open_sqlite(path, durability="normal")) as backend:
        scribes = grown(backend, 1, saves=1500)
        stays = rows(backend, scribes[0])
        full = path.stat().st_size
        for scribe in scribes[1:]:
            delete(backend, scribe)
    assert path.stat().st_size < full / 3
    assert free_share(path) < 0.1
    assert sound(path)
    with closing(open_sqlite(path)) as again:
        assert rows(again, scribes[0]) == stays


def test_a_closed_store_has_few_pages_that_hold_nothing(path: Path) -> None:
    with closing(open_sqlite(path, durability="normal")) as backend:
        delete(backend, grown(backend, 2)[0])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("PRAGMA secure_delete = ON")
            other.execute("DELETE FROM step WHERE id % 2")  # as if steps had been packed
    assert free_share(path) < 0.1
    assert sound(path)


def test_free_pages_stay_while_somebody_reads_what_was_before(path: Path) -> None:
    with closing(open_sqlite(path, durability="normal", timeout=0.1)) as backend:
        scribes = grown(backend, 3)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            before = reader.execute("SELECT id, changes FROM step").fetchall()
            with pytest.raises(StoreError) as late:
                delete(backend, scribes[1])
            assert late.value.code == "store.busy-readers"
            backend.close()
            assert reader.execute("SELECT id, changes FROM step").fetchall() == before
    assert sound(path)


def test_a_file_that_was_made_without_it_stays_as_it_is(path: Path) -> None:
    open_sqlite(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        old.execute("PRAGMA journal_mode = DELETE")
        old.execute("PRAGMA auto_vacuum = NONE")
        old.execute("VACUUM")
    with closing(open_sqlite(path, durability="normal")) as backend:
        scribes = grown(backend, 4)
        delete(backend, scribes[1])
        stays = rows(backend, scribes[0])
    assert left(path) == 0
    assert sound(path)
    with closing(open_sqlite(path)) as again:
        assert rows(again, scribes[0]) == stays


def _moved_meanwhile(
    backend: SQLiteBackend, path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Delete a run while another store on the file moves pages; count what is left of it."""
    monkeypatch.setattr(gaps, "PART", 3)
    monkeypatch.setattr(shrinking, "_SHARE", 1_000)
    monkeypatch.setattr(shrinking, "_LEAST", 1)
    monkeypatch.setattr(shrinking, "AT_ONCE", 2)
    scribes = grown(backend, seed)
    overwrite, moved = gaps.overwrite_gaps, []
    some = path.stat().st_size // 4096 // 2
    with closing(open_sqlite(path, durability="normal")) as other:
        Scribe(other, "other").save()
        connection = other._writer._connection
        assert connection is not None

        def with_another(*arguments: Any) -> int | None:
            page = overwrite(*arguments)
            if page and page > some:  # most of what is free lies in what was seen to
                moved.append(other._writer._erasure.give_back(connection))
            return page

        with monkeypatch.context() as patched:
            patched.setattr(erasing, "overwrite_gaps", with_another)
            delete(backend, scribes[1])
        assert any(moved)
        found = left(path)
    assert sound(path)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_page_that_is_moved_while_gaps_are_overwritten_takes_nothing_along(
    backend: SQLiteBackend, path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _moved_meanwhile(backend, path, seed, monkeypatch) == 0


def test_without_that_some_pages_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: pages that are moved as they are take copies along, and they are found."""
    monkeypatch.setattr(shrinking, "overwrite_last", lambda *_: None)
    found = 0
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / "runs.db"
        with closing(open_sqlite(path, durability="normal")) as backend:
            found += _moved_meanwhile(backend, path, seed, monkeypatch)
    assert found


def test_a_file_that_another_store_made_smaller_takes_saves(
    backend: SQLiteBackend, path: Path
) -> None:
    """It is no damage that what the other one saved since lies in the log alone."""
    scribes = grown(backend, 5, saves=600)
    with closing(open_sqlite(path, durability="normal")) as other:
        own = Scribe(other, "other").save_many(1)
        full = path.stat().st_size
        for scribe in scribes[1:]:
            delete(backend, scribe)
        backend.close()
        assert path.stat().st_size < full
        with closing(open_sqlite(path, durability="normal")) as again:
            third = Scribe(again, "third")
            for seq in range(1, 20):
                third.save(step(seq, changes=bytes(5000)))
            own.save()
            assert path.stat().st_size < full


def test_a_fork_while_free_pages_are_given_back_ends_that(path: Path) -> None:
    backend = open_sqlite(path, durability="normal")
    scribe = grown(backend, 6)[0]
    backend.close()
    command = [sys.executable, str(CHILDREN), "fork_while_it_shrinks", str(path)]
    child = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (child.stdout.split(), child.stderr) == (["True"], "")
    assert sound(path)
    with closing(open_sqlite(path)) as again:
        assert Scribe(again, scribe.key.run_id).find()


def test_another_file_at_the_path_is_left_alone(path: Path, tmp_path: Path) -> None:
    """As where a backup was put in place of it while the store was open."""
    backend = open_sqlite(path, durability="normal")
    grown(backend, 7)
    with closing(sqlite3.connect(path, isolation_level=None)) as another:
        another.execute("DELETE FROM step WHERE id % 2")
    for end in ("", "-wal", "-shm"):
        path.with_name(f"runs.db{end}").rename(tmp_path / f"moved.db{end}")
    dirty = bytes([13, 0, 0, 0, 1, 15, 0, 0]) + b"not zero" * 511
    path.write_bytes(dirty * 50)
    path.with_name("runs.db-wal").write_bytes(b"")
    backend.close()
    assert path.read_bytes() == dirty * 50


def test_free_pages_stay_where_a_full_disk_has_no_room_to_move_others(tmp_path: Path) -> None:
    with small_disk(tmp_path, 16 << 20) as disk:
        path = disk / "runs.db"
        with closing(open_sqlite(path, durability="normal")) as backend:
            scribe = grown(backend, 8, saves=1_000)[0]
            with closing(sqlite3.connect(path, isolation_level=None)) as another:
                another.execute("DELETE FROM step WHERE id % 5")
                another.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            stays = rows(backend, scribe)
            status = os.statvfs(disk)
            (disk / "full").write_bytes(bytes(status.f_bavail * status.f_frsize - (64 << 10)))
        assert free_share(path) > 0.5
        (disk / "full").unlink()
        assert sound(path)
        with closing(open_sqlite(path)) as again:
            assert rows(again, scribe) == stays
        assert free_share(path) < 0.1
