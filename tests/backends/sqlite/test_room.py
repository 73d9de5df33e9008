"""Commits write into room that the log has already, and nothing that counts is written over."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite import connecting, open_sqlite
from keepset.backends.sqlite.room import MOST, Room
from keepset.errors import StoreError
from keepset.plan.reads import ReadEverything
from keepset.testing.contract.base import Scribe, step

KILLED = """
import os, signal, sys
from keepset.backends.sqlite import open_sqlite
from keepset.testing.contract.base import Scribe
scribe = Scribe(open_sqlite(sys.argv[1]))
for _ in range(40):
    scribe.save()
print(scribe.head, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def lengths(path: Path, durability: connecting.Durability, saves: int) -> list[int]:
    """How long the log is after each save, once the writer has seen to it."""
    backend = open_sqlite(path, durability=durability)
    scribe = Scribe(backend)
    found = []
    for _ in range(saves):
        scribe.save(step(scribe.seq + 1, changes=os.urandom(1200)))
        backend.settings()  # whatever the writer does after a save, it does before this
        found.append(log_of(path).stat().st_size)
    backend.close()
    return found


def frames(log: Path) -> int:
    """Bytes of a log from its beginning to the last page that was written to it."""
    return len(log.read_bytes().rstrip(b"\0"))


def test_most_commits_that_wait_for_the_disk_leave_the_log_as_long_as_it_was(path: Path) -> None:
    found = lengths(path, "full", 200)
    longer = sum(after > before for before, after in pairwise(found))
    assert longer <= 20
    assert found[-1] - found[0] > 200 * 1200  # it is a log of as many saves nevertheless


def test_saves_that_are_done_on_the_spot_have_room_as_well(path: Path) -> None:
    with closing(open_sqlite(path)) as backend:
        scribe, found = Scribe(backend).save_many(1), []
        for seq in range(2, 202):
            outcome = Outcome()
            backend.settle(scribe.plan(step(seq, changes=os.urandom(1200))), outcome)
            scribe.seq = scribe.head = seq
            assert outcome.error is None
            found.append(log_of(path).stat().st_size)
    assert sum(after > before for before, after in pairwise(found)) <= 60


def test_a_log_that_was_cut_gets_room_again(path: Path) -> None:
    with closing(open_sqlite(path)) as backend:
        scribe = Scribe(backend).save_many(40)
        backend.settings()
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)]
        scribe.save_many(2)
        backend.settings()
        assert log_of(path).stat().st_size - frames(log_of(path)) > 4096


def test_a_store_that_does_not_wait_for_the_disk_has_no_room_in_its_log(path: Path) -> None:
    backend = open_sqlite(path, durability="normal")
    Scribe(backend).save_many(40)
    backend.settings()
    log = log_of(path)
    assert log.stat().st_size - frames(log) < 4096
    backend.close()


def test_the_room_is_at_most_what_the_store_says_and_the_log_at_most_its_limit(path: Path) -> None:
    found = lengths(path, "full", 1200)
    longest = max(after - before for before, after in pairwise(found))
    assert MOST <= longest <= MOST + 16 * 4096
    assert max(found) <= connecting.LOG_LIMIT


def test_a_writer_of_few_saves_makes_little_room(path: Path) -> None:
    found = lengths(path, "full", 2)
    assert found[-1] <= found[0] + 8 * 4096


class Slow:
    """A connection before whose transaction another process's write comes."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def execute(self, statement: str) -> Any:
        if statement == "BEGIN IMMEDIATE":
            with closing(open_sqlite(self._path, durability="normal")) as other:
                Scribe(other, "another").save_many(3)
        return self._connection.execute(statement)


def test_what_another_process_writes_just_before_room_is_made_stays(path: Path) -> None:
    with closing(open_sqlite(path, durability="normal")) as backend:
        Scribe(backend).save_many(2)
        place = connecting.Place(path.resolve(), "full", 5)
        with closing(connecting.open_store(place)) as connection:
            room = Room(place)
            Scribe(backend).look().save_many(1)
            assert room.is_used_up()
            before = log_of(path).stat().st_size
            room.make(Slow(connection, path))  # type: ignore[arg-type]  # it is one, and more
            assert frames(log_of(path)) > before
        mine = backend.execute(ReadEverything(Scribe(backend).key))
        theirs = backend.execute(ReadEverything(Scribe(backend, "another").key))
        assert [len(run.lines[0].steps) for run in (mine, theirs)] == [3, 3]
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_room_that_another_process_has_made_is_room_for_all(path: Path) -> None:
    with closing(open_sqlite(path)) as backend:
        place = connecting.Place(path.resolve(), "full", 5)
        with closing(connecting.open_store(place)) as connection:
            room = Room(place)
            Scribe(backend).save_many(3)
            backend.settings()
            assert room.is_used_up()
            before = log_of(path).stat().st_size
            room.make(connection)
            assert log_of(path).stat().st_size == before
            assert not room.is_used_up()


def test_all_that_was_saved_is_there_after_a_kill_with_room_behind_it(path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert log_of(path).stat().st_size - frames(log_of(path)) > 4096
    with closing(open_sqlite(path)) as backend:
        found = backend.execute(ReadEverything(Scribe(backend).key))
        assert [row.seq for row in found.lines[0].steps] == list(range(1, int(child.stdout) + 1))


def test_the_log_of_another_store_that_lies_at_the_path_by_now_gets_no_room(path: Path) -> None:
    with closing(open_sqlite(path)) as taken_away:
        scribe = Scribe(taken_away).save_many(1)
        for name in (path.name, log_of(path).name, f"{path.name}-shm"):
            path.with_name(name).rename(path.with_name(f"away-{name}"))
        with closing(open_sqlite(path, durability="normal")) as other:
            Scribe(other).save_many(9)
            before = log_of(path).read_bytes()
            for _ in range(2):  # the second one waits until all is done that the first one brings
                with pytest.raises(StoreError):
                    scribe.save()
            assert log_of(path).read_bytes() == before


def test_where_nothing_can_be_put_behind_the_log_saves_go_on(path: Path) -> None:
    """A process that may not make a file longer than it is writes on in what is there."""
    resource = pytest.importorskip("resource")
    with closing(open_sqlite(path)) as backend:
        scribe = Scribe(backend)
        scribe.save_many(2)
        backend.settings()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (log_of(path).stat().st_size + 40_000, hard))
        try:
            scribe.save_many(4)
            backend.settings()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        scribe.save_many(30)
        assert len(backend.execute(ReadEverything(scribe.key)).lines[0].steps) == 36


def counted() -> int:
    """Bytes that Linux counts as written to a disk by this process."""
    try:
        lines = Path("/proc/self/io").read_text("ascii").splitlines()
    except OSError:
        pytest.skip("this system does not count bytes")
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes:"))


def test_room_is_written_once_and_not_with_each_commit_again(path: Path) -> None:
    with closing(open_sqlite(path)) as backend:
        scribe = Scribe(backend)
        before = counted()
        for _ in range(200):
            scribe.save(step(scribe.seq + 1, changes=os.urandom(1200)))
        backend.settings()
        assert counted() - before < 5 * frames(log_of(path))
