"""Pending writes: they stay as long as their checkpoints, and cost what they add."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

import keepset as ks
from keepset.errors import ConflictError, NotFoundError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import checkpoint, config, grow, in_loop, put

TEXT = "the quick brown fox jumps over the lazy dog and comes back " * 8
STEPS = 50


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[KeepsetSaver]:
    tmp_path.chmod(0o700)
    with KeepsetSaver(f"sqlite:///{tmp_path}/runs.db") as opened:
        yield opened


def written(saver: KeepsetSaver, at: dict[str, Any]) -> list[tuple[str, str, Any]]:
    found = saver.get_tuple(at)
    assert found is not None
    return found.pending_writes or []


def expected(step: int) -> list[tuple[str, str, Any]]:
    return [(f"task-{step}", "log", [f"{TEXT} {step}"]), (f"task-{step}", "count", step + 1)]


def rows(folder: Path) -> int:
    with sqlite3.connect(folder / "runs.db") as database:
        ((count,),) = database.execute("SELECT count(*) FROM write")
    database.close()
    return int(count)


def test_writes_of_old_checkpoints_read_back_whatever_row_they_lie_in(saver: KeepsetSaver) -> None:
    configs = grow(saver, "t", STEPS, TEXT)
    assert [written(saver, at) for at in configs] == [expected(step) for step in range(STEPS)]
    listed = [found.pending_writes for found in saver.list(config("t"))]
    assert listed == [expected(step) for step in reversed(range(STEPS))]


def test_a_text_that_a_task_wrote_is_not_stored_a_second_time_for_the_write(
    saver: KeepsetSaver, tmp_path: Path
) -> None:
    grow(saver, "t", STEPS, TEXT)
    with sqlite3.connect(tmp_path / "runs.db") as database:
        ((count, size),) = database.execute("SELECT count(*), sum(length(value)) FROM write")
    database.close()
    assert count <= STEPS  # of two writes a step, each of which ends its run here
    assert size < STEPS * len(TEXT) / 2


def test_a_pruning_gives_bundled_writes_back(saver: KeepsetSaver, tmp_path: Path) -> None:
    configs = grow(saver, "t", STEPS, TEXT)
    with ks.open(f"sqlite:///{tmp_path}/runs.db") as store:
        store.prune("t", every=3)
        assert store.verify().problems == ()
    kept = [step for step in range(STEPS) if (step + 1) % 3 == 0 or step == STEPS - 1]
    assert [written(saver, configs[step]) for step in kept] == [expected(step) for step in kept]
    at = put(saver, configs[-1], STEPS, log=[], count=0)
    saver.put_writes(at, [("count", 1)], "later")
    assert written(saver, at) == [("later", "count", 1)]
    assert rows(tmp_path) == 2 * len(kept) + 1


def test_a_copy_has_its_writes(saver: KeepsetSaver) -> None:
    configs = grow(saver, "t", STEPS, TEXT)
    saver.copy_thread("t", "copy")
    saver.delete_thread("t")
    for step, at in enumerate(configs):
        there = config("copy", at["configurable"]["checkpoint_id"])
        assert written(saver, there) == expected(step)


def test_a_late_write_of_an_old_checkpoint_lands_and_takes_no_place_that_is_taken(
    saver: KeepsetSaver,
) -> None:
    configs = grow(saver, "t", STEPS, TEXT)
    old = configs[3]
    saver.put_writes(old, [("log", ["other"]), ("count", 9), ("more", 1)], "task-3", "~path")
    saver.put_writes(old, [("__interrupt__", "why?")], "task-3", "~path")
    saver.put_writes(old, [("__interrupt__", "why, again?")], "task-3", "~path")
    (special, *others) = written(saver, old)
    assert special == ("task-3", "__interrupt__", "why, again?")
    assert others == [*expected(3), ("task-3", "more", 1)]


def test_a_damaged_bundle_is_noticed(saver: KeepsetSaver, tmp_path: Path) -> None:
    grow(saver, "t", STEPS, TEXT)
    with sqlite3.connect(tmp_path / "runs.db") as database:
        database.execute("UPDATE write SET value = x'00' WHERE ordinal < -1000")
    database.close()
    with ks.open(f"sqlite:///{tmp_path}/runs.db") as store:
        assert [problem.code for problem in store.verify().problems] == ["integrity.digest"]


def test_a_write_that_comes_before_its_checkpoint_lands_with_it(saver: KeepsetSaver) -> None:
    """Under durability="async" a task may end before the checkpoint that it began with is saved."""
    first = put(saver, config("t"), 0, log=[])
    made = checkpoint(1, log=["x"])
    early = in_loop(config("t", made["id"]))
    saver.put_writes(early, [("log", ["y"])], "task")
    assert saver.get_tuple(config("t", made["id"])) is None
    saver.put(in_loop(first), made, {"source": "loop", "step": 1}, {})
    assert written(saver, config("t", made["id"])) == [("task", "log", ["y"])]


def test_a_write_to_a_checkpoint_that_nobody_saves_is_refused_outside_of_a_run(
    saver: KeepsetSaver,
) -> None:
    with pytest.raises(NotFoundError, match="thread t: there is no checkpoint nowhere"):
        saver.put_writes(config("t", "nowhere"), [("log", ["y"])], "task")
    put(saver, config("t"), 0, log=[])
    with pytest.raises(NotFoundError, match="nowhere"):
        saver.put_writes(config("t", "nowhere"), [("log", ["y"])], "task")


def test_a_late_write_brings_no_deleted_thread_back(saver: KeepsetSaver) -> None:
    at = put(saver, config("t"), 0, log=[])
    saver.delete_thread("t")
    for late in (at, in_loop(at)):
        with pytest.raises(ConflictError) as caught:
            saver.put_writes(late, [("log", ["y"])], "task")
        assert caught.value.code == "conflict.deleted"
        with pytest.raises(ConflictError) as caught:
            put(saver, late, 1, log=[])
        assert caught.value.code == "conflict.deleted"
    assert saver.get_tuple(config("t")) is None
    again = put(saver, config("t"), 0, log=["fresh"])
    assert [found.config for found in saver.list(config("t"))] == [again]
