"""What SQLite leaves in the unused middle of its pages is overwritten with what was removed."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keepset.backends.sqlite import SQLiteBackend, erasing, gaps, open_sqlite
from keepset.errors import StoreError
from keepset.plan.requests import Seen
from keepset.plan.writes import Delete
from keepset.testing.contract.base import Scribe, mark, step

PLANTED = b"<planted in the run>"
CONTROL = b"<planted in another>"
OTHER_PROCESS = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("PRAGMA cache_size = -20000")
print("ready", flush=True)
sys.stdin.readline()
c.execute("SELECT sum(length(changes)) FROM step").fetchall()
print("seen", flush=True)
sys.stdin.readline()
c.execute("PRAGMA secure_delete = ON")
c.execute("UPDATE step SET at = at + 1")
print("changed", flush=True)
c.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def backend(path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(path, durability="normal", timeout=5)
    yield opened
    opened.close()


def _grown_side_by_side(backend: SQLiteBackend, seed: int) -> list[Scribe]:
    """Runs whose rows share pages, so that pages are rebuilt as rows move between them."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed makes the pages what they are
    scribes = [Scribe(backend, f"run-{number}") for number in range(6)]
    for _ in range(300):
        scribe = chance.choice(scribes)
        planted = PLANTED if scribe is scribes[1] else CONTROL
        body = planted + chance.randbytes(chance.randint(200, 1500))
        scribe.save(step(scribe.seq + 1, changes=body))
    return scribes


def _delete(backend: SQLiteBackend, run: str) -> None:
    key = Scribe(backend, run).key
    assert backend.execute(Delete(key, mark(key), at=1))


def _left(path: Path) -> int:
    return path.read_bytes().count(PLANTED)


SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_gap_of_any_page_holds_what_was_deleted(
    backend: SQLiteBackend, path: Path, seed: int
) -> None:
    scribes = _grown_side_by_side(backend, seed)
    assert _left(path) + path.with_name("runs.db-wal").read_bytes().count(PLANTED)
    _delete(backend, "run-1")
    assert _left(path) == 0
    assert path.read_bytes().count(CONTROL) >= sum(scribe.seq for scribe in scribes[2:])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_large_file_is_seen_to_in_parts_between_which_others_save(
    backend: SQLiteBackend, path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaps, "PART", 3)
    _grown_side_by_side(backend, seed)
    parts: list[int] = []
    overwrite = gaps.overwrite_gaps

    def counted(*arguments: Any) -> int | None:
        page = overwrite(*arguments)
        parts.append(page or 0)
        return page

    monkeypatch.setattr(erasing, "overwrite_gaps", counted)
    other, ended = Scribe(backend, "other"), threading.Event()

    def go_on_saving() -> None:
        while not ended.is_set():
            other.save(step(other.seq + 1, changes=CONTROL))

    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(go_on_saving)
        _delete(backend, "run-1")
        ended.set()
        saving.result(30)
    assert _left(path) + path.with_name("runs.db-wal").read_bytes().count(PLANTED) == 0
    assert parts[-1] == 0
    assert len(set(parts)) > 10
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_deletions_that_come_while_pages_are_seen_to_are_waited_for_as_well(
    backend: SQLiteBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaps, "PART", 2)
    _grown_side_by_side(backend, seed=5)
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(_delete, backend, f"run-{number}") for number in range(6)]:
            done.result(30)
    assert path.read_bytes().count(PLANTED) + path.read_bytes().count(CONTROL) == 0


def test_without_it_some_gaps_do(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: SQLite alone leaves copies, and the search finds them."""
    monkeypatch.setattr(gaps, "_overwrite", lambda *_, **__: False)
    found = 0
    for seed in SEEDS:
        for file in path.parent.iterdir():
            file.unlink()
        with closing(open_sqlite(path, durability="normal")) as backend:
            _grown_side_by_side(backend, seed)
            _delete(backend, "run-1")
            found += _left(path)
    assert found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_page_that_another_process_remembers_does_not_come_back(
    backend: SQLiteBackend, path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads all pages before they are overwritten, and changes each right after."""
    _grown_side_by_side(backend, seed)
    command = [sys.executable, "-c", OTHER_PROCESS, str(path)]
    overwrite, go_on = gaps._overwrite, gaps.overwrite_gaps
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        ours, theirs = other.stdin, other.stdout
        assert ours
        assert theirs
        told = [theirs.readline()]

        def ask() -> None:
            ours.write(b"go on\n")
            ours.flush()
            told.append(theirs.readline())

        def after_it_has_read(*arguments: Any, **more: Any) -> bool:
            if len(told) == 1:
                ask()
            return overwrite(*arguments, **more)

        def before_it_changes(*arguments: Any) -> int | None:
            page = go_on(*arguments)
            if len(told) == 2:
                ask()
            return page

        monkeypatch.setattr(gaps, "_overwrite", after_it_has_read)
        monkeypatch.setattr(erasing, "overwrite_gaps", before_it_changes)
        _delete(backend, "run-1")
        assert told == [b"ready\n", b"seen\n", b"changed\n"]
    assert _left(path) + path.with_name("runs.db-wal").read_bytes().count(PLANTED) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_page_that_the_store_itself_remembers_does_not_come_back(
    backend: SQLiteBackend, path: Path, seed: int
) -> None:
    _grown_side_by_side(backend, seed)
    _delete(backend, "run-1")
    update = "UPDATE step SET name = name || '.'"
    backend._writer.execute(lambda connection: connection.execute(update).rowcount)
    assert _left(path) + path.with_name("runs.db-wal").read_bytes().count(PLANTED) == 0


def test_two_stores_on_one_file_keep_their_locks(path: Path) -> None:
    """The first store erases and is closed; no other process may then move the second one's log."""
    first, second = (open_sqlite(path, durability="normal") for _ in range(2))
    with closing(second):
        Scribe(first, "run-1").save()
        Scribe(second, "run-2").save()
        _delete(first, "run-1")
        first.close()
        script = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0);"
            "c.execute('PRAGMA locking_mode = EXCLUSIVE');"
            "c.execute('PRAGMA journal_mode = DELETE')"
        )
        command = [sys.executable, "-c", script, str(path)]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "locked" in refused.stderr
        seen = Seen(b"incarnation-of-run-2", 0)
        again = Scribe(second, "run-2").look()
        assert again.claim == seen
        again.save()


def test_handles_are_closed_with_the_last_store_on_a_file(path: Path) -> None:
    stores = [open_sqlite(path, durability="normal") for _ in range(3)]
    Scribe(stores[0], "run-1").save()
    _delete(stores[0], "run-1")
    raw = gaps.RawFile(path)
    handle = raw.handle
    raw.close()
    for store in stores:
        assert os.fstat(handle).st_ino == path.stat().st_ino
        store.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


def test_a_file_that_cannot_be_overwritten_is_told_and_not_taken_for_clean(
    backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    Scribe(backend, "run-1").save()

    def refuse(*_: object, **__: object) -> bool:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(gaps, "_overwrite", refuse)
        with pytest.raises(StoreError) as caught:
            _delete(backend, "run-1")
    assert (caught.value.code, caught.value.retryable) == ("store.not-erased", True)
    Scribe(backend, "run-2").save()


def _with_map(path: Path, shift: int) -> bytes:
    """Make a file with a map in page 822, the first of whose entries stands for page 823."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in ("auto_vacuum = FULL", "journal_mode = WAL", "synchronous = OFF"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("CREATE TABLE body (data BLOB)")
        rows = [(bytes(3_000),)] * shift + [(bytes(9_000),)] * 400
        connection.executemany("INSERT INTO body VALUES (?)", rows)
    return path.read_bytes()[821 * 4096 : 822 * 4096]


def test_maps_of_pages_are_not_taken_for_pages_with_rows(tmp_path: Path) -> None:
    """Where somebody has switched `auto_vacuum` on, every 820th page is such a map."""
    path = next(
        tmp_path / f"{shift}.db"
        for shift in range(40)
        if any(gaps._dirty(_with_map(tmp_path / f"{shift}.db", shift), 4096))
    )
    raw = gaps.RawFile(path)
    with closing(raw), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("SELECT count(*) FROM body").fetchone()
        assert gaps.overwrite_gaps(connection, raw, path.with_name(f"{path.name}-wal"), 1)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
