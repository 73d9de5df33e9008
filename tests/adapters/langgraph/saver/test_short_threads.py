"""A thread of a few steps, as most are, takes little more than what was said in it, once."""

from __future__ import annotations

import asyncio
import operator
import os
import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import keepset as ks
from keepset.langgraph import KeepsetSaver

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


def test_what_comes_late_for_the_last_step_is_read_as_it_was_written(tmp_path: Path) -> None:
    """As where a host saves in the background: the writes land after the checkpoint of theirs."""
    course = Course()
    with KeepsetSaver(f"sqlite:///{tmp_path / 'runs.db'}") as saver:
        graph = saver.bind(course.compiled())
        call(graph, later=False)
        last, before = list(graph.get_state_history(CONFIG))[:2]
        assert last.next == ()
        messages = [course.texts[STEPS - 1]]
        writes = [("messages", messages), ("messages", ["another"]), ("count", STEPS)]
        saver.put_writes(before.config, writes, "late", "")
        found = saver.get_tuple(before.config)
        assert found is not None
        pending = found.pending_writes or []
        late = [(channel, value) for task, channel, value in pending if task == "late"]
        assert late == writes
