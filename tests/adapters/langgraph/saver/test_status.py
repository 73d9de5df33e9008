"""Where a thread stands is what a listing of runs says, as for any other run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import keepset as ks
from keepset.langgraph import KeepsetSaver

BROKEN = "the line is dead"


class State(TypedDict, total=False):
    asked: str
    answer: str
    again: str


def _graph(saver: KeepsetSaver, broken: list[bool]) -> Any:
    def ask(_: State) -> State:
        return {"answer": interrupt("one?"), "again": interrupt("two?")}

    def work(_: State) -> State:
        if broken:
            raise ConnectionError(BROKEN)
        return {"asked": "yes"}

    builder: Any = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("work", work)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "work")
    builder.add_edge("work", END)
    return builder.compile(checkpointer=saver)


def _stands(store: ks.Store) -> str:
    (run,) = store.runs()
    assert [one.run.key.run_id for one in store.runs(status=run.status)] == ["thread"]
    others = {"running", "paused", "failed", "done"} - {run.status}
    assert not [one for status in others for one in store.runs(status=status)]
    assert store.inspect("thread").history(1)[0].status == run.status
    return run.status


@pytest.mark.parametrize("bound", [False, True])
def test_a_thread_that_waits_for_an_answer_is_listed_as_paused(
    tmp_path: Path, *, bound: bool
) -> None:
    with ks.open(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        saver = KeepsetSaver(store)
        broken = [True]
        graph = _graph(saver, broken)
        graph = saver.bind(graph) if bound else graph
        config: Any = {"configurable": {"thread_id": "thread"}}
        graph.invoke({}, config, durability="sync")
        assert _stands(store) == "paused"
        graph.invoke(Command(resume="first"), config, durability="sync")
        assert _stands(store) == "paused"
        with pytest.raises(ConnectionError, match=BROKEN):
            graph.invoke(Command(resume="second"), config, durability="sync")
        assert _stands(store) == "failed"
        broken.clear()
        graph.invoke(None, config, durability="sync")
        assert _stands(store) == "done"
