"""Stores that LangGraph's own savers write."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt

from keepset.readers.databases.sqlite import opened
from keepset.readers.langgraph.layout import layout_of
from keepset.readers.langgraph.reader import LangGraphReader
from keepset.readers.ports import Item

ERROR = "401 for key sk-proj-1234567890"


class Talk(TypedDict, total=False):
    question: str
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]
    tags: set[str]


def _broken(_: Talk) -> Talk:
    raise ValueError(ERROR)


def _graph(saver: Any) -> Any:
    """Answers, asks a person, sends to two nodes at once; one more node fails when told to."""
    builder: Any = StateGraph(Talk)
    builder.add_node("answer", lambda _: {"messages": [AIMessage("yes", id="m2")], "tags": {"a"}})
    builder.add_node("ask", lambda _: {"log": [interrupt("may I?")]})
    builder.add_node("fan", lambda _: Command(goto=[Send("work", {"n": n}) for n in (1, 2)]))
    builder.add_node("work", lambda arg: {"log": [f"work {arg['n']}"]})
    builder.add_node("broken", _broken)
    builder.add_edge(START, "answer")
    builder.add_conditional_edges(
        "answer", lambda state: "broken" if state["question"] == "break" else "ask"
    )
    builder.add_edge("ask", "fan")
    return builder.compile(checkpointer=saver)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name, "openai_api_key": "sk-in-config"}}


def write_threads(saver: Any) -> None:
    """One thread that is done, one that waits for a person, one of which a node failed."""
    graph = _graph(saver)
    for name in ("done", "waits"):
        graph.invoke({"question": "why?", "messages": [HumanMessage("hi", id="m1")]}, thread(name))
    graph.invoke(Command(resume="you may"), thread("done"))
    try:
        graph.invoke({"question": "break"}, thread("failed"))
    except ValueError:
        return
    raise AssertionError("the node did not fail")


@contextmanager
def connected(path: Path) -> Iterator[SqliteSaver]:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield SqliteSaver(connection)


@contextmanager
def reading(path: Path) -> Iterator[LangGraphReader]:
    with opened(path) as database:
        layout = layout_of(database)
        assert layout is not None
        yield LangGraphReader(database, layout)


def of(items: list[Item], field: str, surface: str) -> list[Any]:
    """The values of a field on a surface, in their order."""
    return [one.value for one in items if (one.field, one.surface) == (field, surface)]
