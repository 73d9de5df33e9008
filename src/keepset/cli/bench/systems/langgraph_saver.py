"""LangGraph's SqliteSaver, in a compiled graph of one node that loops.

Every step is waited for (``durability="sync"``), since a save of ours is on the disk when it
returns; LangGraph's own default hands it to a thread. What is timed is the saver alone: the time
in which `put` or `put_writes` is at work, without the graph around it.
"""

from __future__ import annotations

import operator
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from time import perf_counter_ns
from typing import Annotated, Any

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from keepset.cli.bench.system import Begin, Loaded, Save, Written
from keepset.cli.bench.workload import WINDOW, Change, History, How, State

RUN = "run"


class Meter:
    """Adds up the time in which at least one of several calls is at work."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._guard = threading.Lock()
        self._at_work = 0
        self._since = 0
        self._total = 0

    def __enter__(self) -> None:
        with self._guard:
            if self._at_work == 0:
                self._since = perf_counter_ns()
            self._at_work += 1

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._at_work -= 1
            if self._at_work == 0:
                self._total += perf_counter_ns() - self._since

    def total(self) -> int:
        """Give the nanoseconds so far."""
        with self._guard:
            running = perf_counter_ns() - self._since if self._at_work else 0
            return self._total + running


class Metered(SqliteSaver):
    """The saver, with a meter on what it does."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Wrap a connection, as the saver itself does."""
        super().__init__(connection)
        self.meter = Meter()
        self.marks: list[Any] = []

    def put(self, *arguments: Any, **named: Any) -> Any:
        """Store a checkpoint, timed."""
        with self.meter:
            stored = super().put(*arguments, **named)
        self.marks.append(stored)
        return stored

    def put_writes(self, *arguments: Any, **named: Any) -> None:
        """Store a task's writes, timed."""
        with self.meter:
            super().put_writes(*arguments, **named)


class Measured:
    """Saves by running a graph, and loads with `get_state`."""

    refusals = (sqlite3.Error,)

    def create(self, path: Path) -> None:
        """See `System.create`."""
        with closing(_connect(path, "full")) as db:
            SqliteSaver(db).setup()

    def write(self, path: Path, history: History, durability: str) -> Written:
        """See `System.write`."""
        steps = len(history.changes)
        seen: list[int] = []
        with closing(_connect(path, durability)) as db:
            saver = Metered(db)

            def step(state: State) -> dict[str, Any]:
                seen.append(saver.meter.total())
                return dict(history.changes[state["counter"]])

            graph = self.graph(history, saver, step)
            config = {**_config(), "recursion_limit": steps + 2}
            graph.invoke(history.begin(), config, durability="sync")
            seen.append(saver.meter.total())
        took = [after - before for before, after in pairwise(seen)]
        return Written(took, saver.marks[-steps:])

    def load(self, path: Path, history: History, mark: Any | None) -> Loaded:
        """See `System.load`."""
        begun = perf_counter_ns()
        with closing(_connect(path, "full")) as db:
            saver = SqliteSaver(db)
            saver.setup()
            opened = perf_counter_ns()
            graph = self.graph(history, saver, _nothing)
            compiled = perf_counter_ns()
            snapshot = graph.get_state(mark or _config())
            return Loaded(opened - begun, perf_counter_ns() - compiled, snapshot.values)

    @contextmanager
    def open(self, path: Path) -> Iterator[Begin]:
        """See `Concurrent.open`: one saver for all threads, as its documentation has it."""
        with closing(_connect(path, "full")) as db:
            saver = SqliteSaver(db)
            saver.setup()
            yield lambda run_id: _saving(saver, run_id)

    def graph(self, history: History, saver: Any, step: Callable[[State], Any]) -> Any:
        """Compile a graph of one node that runs once for each change."""
        steps = len(history.changes)
        builder: Any = StateGraph(schema(history, self.reduced))
        builder.add_node("step", step)
        builder.add_edge(START, "step")
        builder.add_conditional_edges(
            "step", lambda state: END if state["counter"] >= steps else "step", ["step", END]
        )
        return builder.compile(checkpointer=saver)

    def reduced(self, how: How) -> Any:
        """Give the marker of a field that changes so; None for one that is replaced."""
        return {How.APPEND: operator.add, How.MERGE: operator.or_, How.SLIDE: _slid}.get(how)


def schema(history: History, reduced: Callable[[How], Any]) -> type:
    """Make the state's class, with a marker beside each field that a step adds to."""
    hints: dict[str, Any] = {}
    for name, value in history.start.items():
        hint: Any = Any if value is None else type(value)
        marker = reduced(history.fields.get(name, How.REPLACE))
        hints[name] = hint if marker is None else Annotated[hint, marker]
    return type("State", (dict,), {"__annotations__": hints})


def _slid(window: list[Any], new: list[Any]) -> list[Any]:
    return (window + new)[-WINDOW:]


def _nothing(_: State) -> dict[str, Any]:
    return {}


def _config() -> dict[str, Any]:
    return {"configurable": {"thread_id": RUN}}


def _connect(path: Path, durability: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute(f"PRAGMA synchronous = {durability.upper()}")
    return db


def _saving(saver: SqliteSaver, run_id: str) -> Save:
    """Save as a graph does after each step: its writes, then the checkpoint."""
    config: Any = {"configurable": {"thread_id": run_id, "checkpoint_ns": ""}}
    number = 0

    def save(state: State, change: Change) -> None:
        nonlocal config, number
        number += 1
        if "checkpoint_id" in config["configurable"]:
            saver.put_writes(config, list(change.items()), f"task-{number}")
        checkpoint = empty_checkpoint()
        checkpoint["id"] = str(uuid6(clock_seq=number))
        checkpoint["channel_values"] = dict(state)
        checkpoint["channel_versions"] = _versions(state, number)
        metadata: Any = {"source": "loop", "step": number, "parents": {}}
        config = saver.put(config, checkpoint, metadata, _versions(change, number))

    return save


def _versions(fields: Mapping[str, Any], number: int) -> dict[str, Any]:
    return dict.fromkeys(fields, f"{number:032}.0")
