"""What is deleted is gone from both savers; what is shortened or copied is taken over first."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from keepset.errors import ConflictError, NotFoundError, UsageError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.graphs import THREAD, outer
from tests.adapters.langgraph.saver.steps import config, in_loop, put
from tests.adapters.langgraph.switching import crashing
from tests.adapters.langgraph.switching.teams import live, names, old_saver, told


@pytest.mark.parametrize("taken", [True, False], ids=["taken over", "not taken over"])
@pytest.mark.parametrize("how", ["delete", "prune"])
def test_a_deleted_thread_is_gone_from_both_and_its_id_begins_anew(
    old: Any,
    url: str,
    how: str,
    taken: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    live(old)
    live(old, "other")
    with KeepsetSaver(url, fallback=old) as saver:
        graph = outer(saver)
        if taken:
            graph.invoke(Command(resume="inner"), THREAD)
        if how == "delete":
            saver.delete_thread("t")
        else:
            saver.prune(["t"], strategy="delete")
        assert told(old) == []
        assert told(old, "other") != []
        assert (graph.get_state(THREAD).values, list(saver.list(THREAD))) == ({}, [])
        assert graph.invoke({"log": ["new"]}, THREAD)["log"] == ["new", "a"]
    with KeepsetSaver(url, fallback=old) as again:
        assert outer(again).get_state(THREAD).values["log"] == ["new", "a"]


def test_a_thread_that_was_deleted_here_is_not_read_there_though_a_copy_came_back(
    old: Any, url: str
) -> None:
    live(old)
    with KeepsetSaver(url, fallback=old) as saver:
        outer(saver).invoke(Command(resume="inner"), THREAD)
        saver.delete_thread("t")
        live(old)  # as a restored backup of the old database would bring it back
        assert saver.get_tuple(THREAD) is None
        assert list(saver.list(None)) == []
    with KeepsetSaver(url, fallback=old) as again:
        assert again.get_tuple(THREAD) is None
        assert list(again.list(None, limit=5)) == []


@pytest.mark.parametrize("taken", [True, False], ids=["taken over", "not taken over"])
def test_a_late_write_brings_no_deleted_thread_back(
    old: Any,
    url: str,
    taken: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    live(old)
    with KeepsetSaver(url, fallback=old) as saver:
        newest = saver.get_tuple(THREAD)
        assert newest is not None
        if taken:
            saver.put_writes(newest.config, [("log", ["x"])], "task")
        saver.delete_thread("t")
        with pytest.raises((ConflictError, NotFoundError)):
            put(saver, in_loop(newest.config), 9, log=["late"])
        with pytest.raises((ConflictError, NotFoundError)):
            saver.put_writes(newest.config, [("log", ["late"])], "task")
        assert saver.get_tuple(THREAD) is None
    assert names(url) == []


class Interrupted(InMemorySaver):
    """Lets something happen when a checkpoint is read by its id for the so-many-th time."""

    happens: Callable[[], object] | None = None
    left = 0

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        if self.happens is not None and config["configurable"].get("checkpoint_id"):
            self.left -= 1
            if self.left == 0:
                self.happens()
        return found


@pytest.mark.parametrize("taken", [True, False], ids=["taken over", "not taken over"])
@pytest.mark.parametrize("left", [1, 4, 10, 11])
def test_a_thread_that_is_deleted_while_it_is_taken_over_does_not_come_back(
    url: str,
    left: int,
    taken: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    old = Interrupted()
    live(old)
    assert len(told(old)) == 10
    with (
        KeepsetSaver(url, fallback=old) as saver,
        KeepsetSaver(url, fallback=old) as other,
        KeepsetSaver(url) as alone,
    ):
        newest = saver.get_tuple(THREAD)
        assert newest is not None
        at = newest.config

        def delete() -> None:
            old.happens = None
            if taken:  # who deletes it knows nothing of a copy elsewhere
                other.put_writes(at, [("log", ["x"])], "task")
                alone.delete_thread("t")
            else:
                other.delete_thread("t")

        old.happens, old.left = delete, left
        with pytest.raises((ConflictError, NotFoundError)):
            saver.put_writes(at, [("log", ["late"])], "task")
        assert saver.get_tuple(THREAD) is None
    assert names(url) == []


def test_a_thread_that_is_shortened_while_it_is_taken_over_is_taken_over_as_it_is_then(
    url: str,
) -> None:
    old = Interrupted()
    live(old)
    second = sorted(old.storage["t"][""])[1]
    with KeepsetSaver(url, fallback=old) as saver:
        newest = saver.get_tuple(THREAD)
        assert newest is not None
        old.happens, old.left = lambda: old.storage["t"][""].pop(second), 1
        saver.put_writes(newest.config, [("log", ["x"])], "task")
        assert second not in [one[1] for one in told(saver)]
        assert [one[1] for one in told(saver)] == [one[1] for one in told(old)]
    assert names(url) == ["t"]


class Keeping(InMemorySaver):
    """A saver that cannot delete."""

    delete_thread = BaseCheckpointSaver.delete_thread
    adelete_thread = BaseCheckpointSaver.adelete_thread


@pytest.mark.parametrize("taken", [True, False], ids=["taken over", "not taken over"])
def test_a_saver_that_cannot_delete_is_told_of_and_nothing_is_deleted(
    url: str,
    taken: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    old = Keeping()
    live(old)
    with KeepsetSaver(url, fallback=old) as saver:
        if taken:
            outer(saver).update_state(THREAD, {"log": ["x"]}, as_node="a")
        with pytest.raises(UsageError, match="Keeping cannot delete") as refused:
            saver.delete_thread("t")
        assert refused.value.code == "langgraph.fallback-keeps"
        assert saver.get_tuple(THREAD) is not None


def test_a_thread_that_lies_there_is_shortened_here_and_stays_whole_there(
    old: Any, url: str
) -> None:
    before = told(old) if live(old) else []
    with KeepsetSaver(url, fallback=old) as saver:
        saver.prune(["t"])
        spaces = {one[0] for one in before}
        assert len(told(saver)) == len(spaces) == 2
        assert outer(saver).invoke(Command(resume="inner"), THREAD)["log"][-1] == "inner inner"
    assert told(old) == before


def test_a_thread_that_lies_there_is_copied_and_is_no_free_id(old: Any, url: str) -> None:
    live(old)
    live(old, "other")
    with KeepsetSaver(url, fallback=old) as saver:
        saver.copy_thread("t", "copy")
        assert told(saver, "copy") == told(old)
        with pytest.raises(ConflictError, match="'other' already"):
            saver.copy_thread("t", "other")


def test_the_checkpoints_of_an_execution_are_deleted_in_threads_that_lie_there(
    old: Any, url: str
) -> None:
    graph = outer(old)
    graph.invoke({"log": ["in"]}, {**THREAD, "metadata": {"run_id": "one"}})
    graph.invoke(Command(resume="yes"), {**THREAD, "metadata": {"run_id": "two"}})
    live(old, "other")
    kept = [one for one in old.list(THREAD) if one.metadata.get("run_id") == "one"]
    with KeepsetSaver(url, fallback=old) as saver:
        saver.delete_for_runs(["two"])
        assert [one.checkpoint for one in saver.list(THREAD)] == [one.checkpoint for one in kept]
    assert names(url) == ["t"]


def test_a_crash_while_a_thread_is_taken_over_leaves_it_whole(tmp_path: Path, url: str) -> None:
    with old_saver("sqlite", tmp_path) as old:
        before = told(old) if live(old) else []
    command = [sys.executable, "-m", crashing.__name__, str(tmp_path / "old.db"), url]
    root = Path(__file__).resolve().parents[4]
    done = subprocess.run(command, capture_output=True, check=False, cwd=root, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "half\n")
    assert names(url) != []
    with old_saver("sqlite", tmp_path) as old, KeepsetSaver(url, fallback=old) as saver:
        assert told(saver) == before
        assert {one.config["configurable"]["thread_id"] for one in saver.list(None)} == {"t"}
        assert outer(saver).invoke(Command(resume="inner"), THREAD)["log"][-1] == "inner inner"
    assert names(url) == ["t"]


def test_what_a_crash_has_left_goes_with_the_thread(tmp_path: Path, url: str) -> None:
    with old_saver("sqlite", tmp_path) as old:
        live(old)
    command = [sys.executable, "-m", crashing.__name__, str(tmp_path / "old.db"), url]
    root = Path(__file__).resolve().parents[4]
    subprocess.run(command, capture_output=True, check=False, cwd=root)
    assert names(url) != []
    with old_saver("sqlite", tmp_path) as old, KeepsetSaver(url, fallback=old) as saver:
        saver.delete_thread("t")
        assert saver.get_tuple(config("t")) is None
    assert names(url) == []
