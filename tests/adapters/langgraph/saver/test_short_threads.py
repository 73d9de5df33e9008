"""A thread of a few steps, as most are, takes little more than what was said in it, once."""

from __future__ import annotations

import asyncio
import operator
import os
import sqlite3
from concurrent import futures
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import keepset as ks
from keepset.backends import driver
from keepset.langgraph import KeepsetSaver
from keepset.run.hosted import writing
from tests.cli.terminal import say

CONFIG: Any = {"configurable": {"thread_id": "one"}}
EVERY = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
STEPS = 5


class Talk(TypedDict, total=False):
    messages: Annotated[list[str], operator.add]
    count: int


class Course:
    """A graph that adds one text a step; every call gives the same texts."""

    def __init__(self) -> None:
        self.texts = [os.urandom(300).hex() for _ in range(4 * STEPS)]

    def step(self, state: Talk) -> Talk:
        number = state.get("count", 0)
        return {"messages": [self.texts[number]], "count": number + 1}

    def compiled(self, **options: Any) -> Any:
        builder: Any = StateGraph(Talk)
        builder.add_node("step", self.step)
        builder.add_edge(START, "step")
        builder.add_conditional_edges(
            "step", lambda state: "step" if state["count"] % STEPS else END, ["step", END]
        )
        return builder.compile(**options)


def call(graph: Any, *, later: bool) -> None:
    if later:
        asyncio.run(graph.ainvoke({}, CONFIG, durability="sync"))
    else:
        graph.invoke({}, CONFIG, durability="sync")


def told(graph: Any) -> list[Any]:
    """All that a history says, but for ids and times."""
    return [
        (state.values, state.next, state.metadata["step"], [task.result for task in state.tasks])
        for state in graph.get_state_history(CONFIG)
    ]


@EVERY
def test_each_text_is_stored_once_however_few_steps_there_are(
    tmp_path: Path, *, later: bool
) -> None:
    course = Course()
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}", compression=False) as store:
        call(KeepsetSaver(store).bind(course.compiled()), later=later)
    with sqlite3.connect(path) as db:
        rows = [row for (row,) in db.execute("SELECT data FROM segment")]
        rows += [row for (row,) in db.execute("SELECT changes FROM step")]
        rows += [row for (row,) in db.execute("SELECT value FROM write")]
    db.close()
    stored = b"".join(rows)
    assert [stored.count(text.encode()) for text in course.texts[:STEPS]] == [1] * STEPS
    assert [stored.count(text.encode()) for text in course.texts[STEPS:]] == [0] * (3 * STEPS)


@EVERY
@pytest.mark.parametrize("turns", [1, 4])
def test_turns_of_their_own_processes_tell_the_same_as_memory(
    tmp_path: Path, turns: int, *, later: bool
) -> None:
    """A turn ends, another store goes on: what its tasks wrote is there, however it is stored."""
    course, memory = Course(), InMemorySaver()
    beside = course.compiled(checkpointer=memory)
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    for _ in range(turns):
        call(beside, later=later)
        with KeepsetSaver(url) as saver:
            call(saver.bind(course.compiled()), later=later)
    with ks.open(url) as store:
        saver = KeepsetSaver(store)
        graph = saver.bind(course.compiled())
        assert told(graph) == told(beside)
        assert not store.verify().problems
        saver.copy_thread("one", "two")
        copied = {"configurable": {"thread_id": "two"}}
        assert len(list(graph.get_state_history(copied))) == len(told(beside))
        history = list(graph.get_state_history(CONFIG))
        store.prune("one", keep_latest=2)
        assert told(graph) == told(beside)[:2]
        store.prune("two", every=2)
        kept = list(graph.get_state_history(copied))
        by_step = {state.metadata["step"]: state for state in history}
        for state in kept:
            same = by_step[state.metadata["step"]]
            assert state.values == same.values
            assert [task.result for task in state.tasks] == [task.result for task in same.tasks]
        assert not store.verify().problems


def finished(path: Path, saver: KeepsetSaver, course: Course) -> tuple[Any, Any]:
    """A thread that has ended: its graph, and the checkpoint of which its last task came."""
    graph = course.compiled(checkpointer=saver)
    steps = list(graph.stream({}, CONFIG, durability="sync", stream_mode="checkpoints"))
    assert steps[-1]["next"] == []
    assert linked(path) == 0
    return graph, steps[-2]["config"]


def linked(path: Path) -> int:
    """How many writes have a row of their own that says where their values lie."""
    with sqlite3.connect(path) as db:
        ((count,),) = db.execute("SELECT count(*) FROM write WHERE hex(value) LIKE 'C1C1%'")
    db.close()
    return int(count)


def pending(saver: KeepsetSaver, config: Any) -> list[tuple[str, str, Any]]:
    found = saver.get_tuple(config)
    assert found is not None
    return found.pending_writes or []


def late(saver: KeepsetSaver, config: Any) -> list[Any]:
    return [(channel, value) for task, channel, value in pending(saver, config) if task == "late"]


def test_what_comes_late_for_the_last_step_is_read_as_it_was_written(tmp_path: Path) -> None:
    """As where a host saves in the background: the writes land after the checkpoint of theirs."""
    course, path = Course(), tmp_path / "runs.db"
    messages = [course.texts[STEPS - 1]]
    writes = [("messages", messages), ("messages", ["another"]), ("count", STEPS)]
    with ks.open(f"sqlite:///{path}") as store:
        saver = KeepsetSaver(store)
        _, config = finished(path, saver, course)
        saver.put_writes(config, writes, "late", "")
        assert linked(path) == 1
        assert late(saver, config) == writes
        assert not store.verify().problems
        store.prune("one", keep_latest=2)
        assert linked(path) == 0
        assert late(saver, config) == writes
        assert not store.verify().problems


def test_an_audit_reads_what_came_late(tmp_path: Path) -> None:
    course, path = Course(), tmp_path / "runs.db"
    with KeepsetSaver(f"sqlite:///{path}") as saver:
        _, config = finished(path, saver, course)
        saver.put_writes(config, [("messages", [course.texts[STEPS - 1]])], "late", "")
    assert linked(path) == 1
    said = say("audit", path)
    assert said.code == 0, said.err
    assert "error" not in said.out


def test_what_comes_late_stays_where_the_thread_goes_on_and_stops_again(tmp_path: Path) -> None:
    """What was written before it is in a bundle, and a second one would hide it."""
    course, path = Course(), tmp_path / "runs.db"
    writes = [("messages", ["of no step"]), ("count", STEPS)]
    with KeepsetSaver(f"sqlite:///{path}") as saver:
        graph, config = finished(path, saver, course)
        saver.put_writes(config, writes, "late", "")
        graph.update_state(CONFIG, {"messages": [os.urandom(2000).hex()]}, as_node="step")
        graph.update_state(CONFIG, None, as_node=END)
        assert late(saver, config) == writes
        graph.invoke({}, CONFIG, durability="sync")
        assert late(saver, config) == writes


def test_a_task_that_writes_again_changes_nothing_before_and_after_a_pruning(
    tmp_path: Path,
) -> None:
    course, path = Course(), tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        saver = KeepsetSaver(store)
        _, config = finished(path, saver, course)
        first = pending(saver, config)
        again = [(channel, value) for _, channel, value in first]
        saver.put_writes(config, [*again[1:], again[0]], first[0][0], "")
        assert linked(path) > 0
        assert pending(saver, config) == first
        store.prune("one", keep_latest=2)
        assert pending(saver, config) == first


def test_many_writes_that_cannot_go_on_hold_an_end_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of tasks of an event loop, while one of its callbacks saves without awaiting."""
    waits: list[float] = []

    def counted(work: Any, seconds: float) -> Any:
        waits.append(seconds)
        return futures.wait(work, seconds)

    monkeypatch.setattr(writing, "_PATIENCE", 0.01)
    monkeypatch.setattr(driver, "wait", counted)

    async def stuck(saver: KeepsetSaver) -> None:
        steps = [empty_checkpoint() for _ in range(2)]
        for number, step in enumerate(steps):
            step["channel_values"] = {"messages": [str(number)]}
            step["channel_versions"] = {"messages": number + 1}
        first = saver.put(
            {"configurable": {**CONFIG["configurable"], "checkpoint_ns": ""}},
            steps[0],
            {"step": 0},
            {"messages": 1},
        )
        tasks = [
            asyncio.create_task(saver.aput_writes(first, [("messages", ["a"])], f"task-{number}"))
            for number in range(5)
        ]
        await asyncio.sleep(0)
        saver.put(first, steps[1], {"step": 1}, {"messages": 2})
        await asyncio.gather(*tasks)
        assert len(pending(saver, first)) == len(tasks)

    with KeepsetSaver(f"sqlite:///{tmp_path / 'runs.db'}") as saver:
        asyncio.run(stuck(saver))
    assert len(waits) == 1
