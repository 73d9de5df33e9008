"""What the command line says of runs that a host framework has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from keepset.langgraph import KeepsetSaver
from tests.cli.terminal import say


class State(TypedDict, total=False):
    answer: str


def _ask(_: State) -> State:
    return {"answer": interrupt("may I?")}


def test_a_thread_that_waits_is_shown_as_paused_and_without_what_is_langgraphs_own(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    builder: Any = StateGraph(State)
    builder.add_node("ask", _ask)
    builder.add_edge(START, "ask")
    with KeepsetSaver(url) as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({}, {"configurable": {"thread_id": "thread"}}, durability="sync")
    assert "paused" in say("runs", "--store", url).out
    shown = say("show", "thread", "--store", url)
    assert (shown.code, "paused" in shown.out) == (0, True)
    assert "langgraph#" not in shown.out
    assert "fields of its own" in shown.out
    assert "langgraph#versions" in say("show", "thread", "--store", url, "--reveal").out
