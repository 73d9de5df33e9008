"""Several processes on one file, and processes that end in every way."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from keepset.backends.sqlite import open_sqlite
from keepset.errors import StoreError
from keepset.plan.reads import Everything, ReadEverything, ReadSizes
from keepset.testing.contract.base import TENANT, Scribe

CHILDREN = Path(__file__).with_name("children.py")


@contextmanager
def _child(task: str, path: Path | str, argument: str = "run") -> Iterator[subprocess.Popen[str]]:
    """Start a child process; at the end of the block it has ended, one way or the other."""
    command = [sys.executable, "-W", "ignore", str(CHILDREN), task, str(path), argument]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _together(task: str, path: Path, count: int) -> list[str]:
    """Start children, let them all go at one moment, and give what each said last."""
    with ExitStack() as stack:
        children = [
            stack.enter_context(_child(task, path, f"run-{number}")) for number in range(count)
        ]
        assert [_line(child) for child in children] == ["ready"] * count
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        answers = [_line(child) for child in children]
        assert [child.wait(60) for child in children] == [0] * count
    return answers


def _check(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def _all(path: Path, run_id: str = "run") -> Everything:
    backend = open_sqlite(path)
    stored = backend.execute(ReadEverything(Scribe(backend, run_id).key))
    backend.close()
    return stored


def test_a_writer_that_is_killed_at_any_moment_loses_nothing_that_it_was_told(
    tmp_path: Path,
) -> None:
    """Twelve kills of a real process on one store, each after a random number of saves."""
    path = tmp_path / "runs.db"
    chance = random.Random()  # noqa: S311 - any moment will do
    acknowledged = 0
    for _ in range(12):
        with _child("save_until_killed", path) as process:
            for _ in range(chance.randint(1, 60)):
                acknowledged = int(_line(process))
            process.kill()
            rest = process.communicate()[0].split()
        acknowledged = max([acknowledged, *(int(word) for word in rest[:-1])])
        stored = _all(path).lines[0]
        _check(path)
        last = stored.steps[-1].seq
        assert last >= acknowledged
        packed = {seq for row in stored.segments for seq in range(row.first, row.last + 1)}
        unpacked = [row.seq for row in stored.steps]
        assert sorted([*packed, *unpacked]) == [*range(1, last + 1)]


def test_processes_that_open_a_new_store_at_once_all_succeed(tmp_path: Path) -> None:
    assert _together("open_at_once", tmp_path / "runs.db", 8) == ["saved"] * 8
    for number in range(10):
        path = tmp_path / f"runs.db-{number}"
        backend = open_sqlite(path)
        assert backend.execute(ReadSizes(TENANT)).runs == 8
        backend.close()
        _check(path)


def test_processes_on_one_file_lose_no_step_and_share_it_fairly(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    saved = [int(answer) for answer in _together("save_for", path, 4)]
    for number, count in enumerate(saved):
        assert [row.seq for row in _all(path, f"run-{number}").lines[0].steps] == [
            *range(1, count + 1)
        ]
    assert min(saved) > 0
    _check(path)


def test_processes_that_race_for_one_run_store_each_checkpoint_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    won = sum(map(int, _together("race", path, 3)))
    assert [row.seq for row in _all(path).lines[0].steps] == [*range(1, won + 1)]
    assert won >= 1


def test_a_lock_that_is_held_too_long_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    backend = open_sqlite(path, timeout=0.2)
    scribe = Scribe(backend).save_many(1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        scribe.save()
    assert (caught.value.code, caught.value.retryable) == ("store.locked", True)
    assert scribe.load().seq == 1  # readers do not wait
    other.execute("ROLLBACK")
    scribe.save()
    assert scribe.load().seq == 2
    other.close()
    backend.close()


def test_a_lock_that_is_let_go_in_time_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    backend = open_sqlite(path, timeout=30)
    scribe = Scribe(backend).save_many(1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    future = backend._writer.submit(lambda connection: connection.in_transaction)
    other.execute("ROLLBACK")
    assert future.result(30) is True
    scribe.save()
    other.close()
    backend.close()


def test_what_was_handed_over_is_saved_before_the_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with _child("exit_at_once", path) as process:
        assert process.communicate(timeout=30)[0].split() == ["50"]
        assert process.returncode == 0
    backend = open_sqlite(path)
    sizes = backend.execute(ReadSizes(TENANT))
    backend.close()
    assert (sizes.runs, sizes.checkpoints) == (50, 50)
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]


@pytest.mark.parametrize("end", ["leave", "exit"])
def test_both_sides_of_a_fork_go_on(tmp_path: Path, end: str) -> None:
    """The child opens the file for itself; the parent's locks and log are not touched."""
    path = tmp_path / "runs.db"
    with _child("fork", path, end) as process:
        said = process.communicate(timeout=60)[0].splitlines()
        assert process.returncode == 0
    assert said == ["child ok", "child saved 20 3", "status 0", "parent True"]
    assert len(_all(path, f"{end}-child").lines[0].steps) == 20
    _check(path)


def test_a_forked_child_loses_nothing_when_the_parent_closes_the_store(tmp_path: Path) -> None:
    """The parent sees the child's locks, and leaves the log that the child writes to."""
    path = tmp_path / "runs.db"
    with _child("fork_and_close", path) as process:
        assert process.communicate(timeout=60)[0].splitlines() == ["status 0"]
    counts = [len(_all(path, run).lines[0].steps) for run in ("before", "child", "parent")]
    assert counts == [3, 23, 3]
    _check(path)


def test_a_forked_child_has_a_memory_store_of_its_own() -> None:
    """It begins with what the parent had, and neither sees what the other saves."""
    with _child("fork", "memory", "leave") as process:
        said = process.communicate(timeout=60)[0].splitlines()
        assert process.returncode == 0
    assert said == ["child saved 20 3", "status 0"] * 5 + ["parent True"]
