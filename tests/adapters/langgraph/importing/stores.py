"""Stores of LangGraph's own savers with threads of every kind, and what an import makes of them."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any, TypedDict
from uuid import UUID

from langchain_core import messages as lc
from langchain_core.documents import Document
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph, add_messages
from langgraph.types import Command, interrupt
from pydantic import BaseModel

import keepset as ks
from keepset.adapters.langgraph.host import DeltaChannel
from keepset.adapters.moved import Moved
from keepset.cli.moving.sources import Asked, importing
from tests.adapters.langgraph.exporting.legs import flow
from tests.adapters.langgraph.saver.graphs import outer
from tests.adapters.langgraph.saver.steps import config

MODULE = __name__


class Colour(Enum):
    RED = "red"


@dataclass
class Order:
    number: int
    at: datetime


class Card(BaseModel):
    holder: str
    order: Order | None = None


OWN = tuple(f"{MODULE}:{cls.__name__}" for cls in (Colour, Order, Card))

VALUES: dict[str, Any] = {
    "plain": [None, True, 0, -1, 2**63, 1.5, -0.0, "text", "\u00e9\u2028", b"\x00\xff"],
    "bytes": b"\x00\x01",
    "array": bytearray(b"ab"),
    "keys": {1: "a", "1": "b", None: "c", 2.5: "d"},
    "times": [
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        datetime(2026, 1, 2, 3, 4),  # noqa: DTZ001 - as some store it
        datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        date(2026, 1, 2),
        time(1, 2, 3),
        timedelta(days=1, microseconds=2),
    ],
    "numbers": [Decimal("1.10"), UUID(int=7)],
    "groups": [{1, 2}, frozenset({"a"}), deque([1, 2])],
    "places": [Path("/a/b"), IPv4Address("127.0.0.1"), IPv6Network("::/64")],
    "own": [Colour.RED, Order(1, datetime(2026, 1, 1, tzinfo=UTC)), Card(holder="x")],
    "documents": [Document("text", id="d", metadata={"page": 1})],
}

MESSAGES: list[Any] = [
    lc.HumanMessage("hello", id="1", additional_kwargs={"a": 1}),
    lc.SystemMessage([{"type": "text", "text": "be kind"}], id="2"),
    lc.AIMessage(
        "",
        id="3",
        tool_calls=[{"name": "find", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    ),
    lc.ToolMessage("found", tool_call_id="c1", id="4", artifact={"raw": [1]}, status="success"),
    lc.ChatMessage(content="said", role="critic", id="5"),
    lc.FunctionMessage(content="called", name="f", id="6"),
]


class Chat(TypedDict, total=False):
    messages: Annotated[list[lc.AnyMessage], add_messages]
    held: dict[str, Any]


def chat(saver: Any) -> Any:
    builder: Any = StateGraph(Chat)
    builder.add_node("keep", lambda _: {"held": VALUES, "messages": MESSAGES})
    builder.add_node("ask", lambda _: {"messages": [lc.AIMessage(interrupt("?"), id="answer")]})
    builder.add_edge(START, "keep")
    builder.add_edge("keep", "ask")
    return builder.compile(checkpointer=saver)


def _joined(before: list[str] | None, written: list[list[str]]) -> list[str]:
    return [*(before or []), *[line for lines in written for line in lines]]


HAS_DELTA = DeltaChannel.__module__.startswith("langgraph.")


class Log(TypedDict, total=False):
    log: Annotated[list[str], DeltaChannel(_joined, 3) if HAS_DELTA else None]


def delta(saver: Any) -> Any:
    """A channel that is stored by its differences."""
    builder: Any = StateGraph(Log)
    builder.add_node("a", lambda _: {"log": ["a"]})
    builder.add_node("ask", lambda _: {"log": [interrupt("?")]})
    builder.add_edge(START, "a")
    builder.add_edge("a", "ask")
    return builder.compile(checkpointer=saver)


def _forked(saver: Any, thread: str) -> None:
    graph, at = outer(saver), config(thread)
    graph.invoke({"log": ["in"]}, at)
    first = list(graph.get_state_history(at))[-1].config
    graph.update_state(first, {"log": ["old"]}, as_node="a")
    graph.invoke(None, at)
    graph.invoke(Command(resume="yes"), at)


def _talked(saver: Any, thread: str) -> None:
    graph, at = chat(saver), config(thread)
    graph.invoke({"messages": [lc.HumanMessage("in", id="in")]}, at)


def _counted(saver: Any, thread: str) -> None:
    graph, at = flow(saver), config(thread)
    graph.invoke(1, at)
    graph.invoke(Command(resume=5), at)
    graph.invoke(10, at)


def _added(saver: Any, thread: str) -> None:
    graph, at = delta(saver), config(thread)
    for turn in range(5):
        graph.invoke({"log": [str(turn)]}, at)
        graph.invoke(Command(resume="yes"), at)
    graph.invoke({"log": ["last"]}, at)


KINDS: dict[str, tuple[Callable[[Any, str], None], Callable[[Any], Any], Any]] = {
    "forked": (_forked, outer, Command(resume="inner")),
    "talked": (_talked, chat, Command(resume="so")),
    "counted": (_counted, flow, Command(resume=7)),
}
if HAS_DELTA:
    KINDS["added"] = (_added, delta, Command(resume="end"))
"""By thread: what writes it, its graph, and the answer that it waits for."""


def fill(saver: Any) -> None:
    """Write a thread of every kind."""
    for name, (write, _, _) in KINDS.items():
        write(saver, name)


@contextmanager
def on_sqlite(path: Path) -> Iterator[Any]:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


def taken(place: str | Path, url: str, *, apply: bool = True, **how: Any) -> dict[str, Moved]:
    """Import all threads of a store, and give what became of each."""
    asked = Asked(
        graph=how.get("graph"),
        types=how.get("types", OWN),
        moved=how.get("moved", ()),
        metadata_keys=how.get("metadata_keys", ()),
        skips=how.get("skips", False),
        again=how.get("again", False),
    )
    with importing(str(place), asked) as make, ks.open(url, mode=how.get("mode", "protect")) as to:
        if apply:
            importer = make(to, to, how.get("told", lambda _: None))
            return {run: importer.move(run) for run in importer.runs()}
        with ks.open("memory:", mode=how.get("mode", "protect")) as memory:
            importer = make(memory, to, lambda _: None)
            return {run: importer.move(run) for run in importer.runs()}


def outcomes(moved: dict[str, Moved]) -> dict[str, str]:
    return {run: one.outcome.value for run, one in moved.items()}


def everything(saver: Any, thread: str) -> list[Any]:
    """All that a saver holds of a thread, in order."""
    return [
        (
            one.config["configurable"]["checkpoint_ns"],
            (one.parent_config or {}).get("configurable", {}).get("checkpoint_id"),
            _sorted(
                {**one.checkpoint, "channel_values": _sorted(one.checkpoint["channel_values"])}
            ),
            {
                name: one.metadata[name]
                for name in ("source", "step", "parents", "counters_since_delta_snapshot")
                if name in one.metadata
            },
            one.pending_writes,
        )
        for one in sorted(saver.list(config(thread)), key=lambda one: one.checkpoint["id"])
    ]


def _sorted(given: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(given.items()))


def change(path: Path, statement: str, *parameters: object) -> None:
    """Change a row of a SQLite file, as nobody does who means well."""
    with sqlite3.connect(path) as database:
        database.execute(statement, parameters)
    database.close()
