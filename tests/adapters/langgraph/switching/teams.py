"""A team that comes from another saver: its threads, and keepset beside them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

import keepset as ks
from tests.adapters.landed import held
from tests.adapters.langgraph.saver.graphs import THREAD, outer, seen

OLD = ("memory", "whole numbers", "sqlite")


class Counting(InMemorySaver):
    """A saver whose versions are whole numbers."""

    def get_next_version(self, current: Any, channel: None) -> Any:  # noqa: ARG002 - LangGraph's
        return 1 if current is None else current + 1


@contextmanager
def old_saver(kind: str, folder: Path) -> Iterator[Any]:
    """Open the saver that a team comes from."""
    if kind == "sqlite":
        with SqliteSaver.from_conn_string(str(folder / "old.db")) as saver:
            yield saver
    else:
        yield Counting() if kind == "whole numbers" else InMemorySaver()


@asynccontextmanager
async def old_saver_on_loop(kind: str, folder: Path) -> AsyncIterator[Any]:
    """The same on an event loop."""
    if kind == "async sqlite":
        async with AsyncSqliteSaver.from_conn_string(str(folder / "old.db")) as saver:
            yield saver
    else:
        with old_saver(kind, folder) as saver:
            yield saver


def told(saver: Any, thread: str = "t") -> list[Any]:
    """All that a saver holds of a thread, without what only other savers store with it."""
    listed = saver.list({"configurable": {"thread_id": thread}})
    return [
        (
            one.config["configurable"]["checkpoint_ns"],
            one.checkpoint["id"],
            (one.parent_config or {}).get("configurable", {}).get("checkpoint_id"),
            one.checkpoint,
            {name: one.metadata[name] for name in ("source", "step", "parents")},
            sorted(one.pending_writes, key=repr),
        )
        for one in sorted(listed, key=lambda one: one.checkpoint["id"])
    ]


def story(graph: Any) -> list[Any]:
    """What a user sees of a thread's history."""
    return [
        (state.config["configurable"]["checkpoint_id"], *shown(state))
        for state in graph.get_state_history(THREAD)
    ]


def shown(state: Any) -> Any:
    values, following, metadata, tasks = seen(state)
    own = {name: metadata[name] for name in ("source", "step")}
    return values, following, own, tasks


def rows(path: Path) -> dict[str, list[Any]]:
    """Everything in a SQLite file."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master")]
        found = {
            name: db.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608 - the file's own names
            for name in names
            if not name.startswith("sqlite_")
        }
    db.close()
    return found


def on_loop(work: Callable[[], Any]) -> Any:
    """Run a coroutine function on an event loop of its own."""
    return asyncio.run(work())


def live(saver: Any, thread: str = "t") -> Any:
    """A thread with a fork, that waits for an answer in a graph inside."""
    graph = outer(saver)
    at = {"configurable": {"thread_id": thread}}
    graph.invoke({"log": ["in"]}, at)
    first = list(graph.get_state_history(at))[-1].config
    graph.update_state(first, {"log": ["old"]}, as_node="a")
    graph.invoke(None, at)
    graph.invoke(Command(resume="yes"), at)
    return graph


def names(url: str) -> list[str]:
    with ks.open(url) as store:
        return held(store)
