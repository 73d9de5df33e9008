"""Rows that somebody has tampered with end in errors of ours, whoever reads them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langgraph")

from langgraph.checkpoint.base.id import uuid6
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset.errors import DecodeError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import config


class State(TypedDict, total=False):
    answer: str


def waiting(saver: KeepsetSaver) -> Any:
    """A bound graph whose thread waits for an answer."""
    builder: Any = StateGraph(State)
    builder.add_node("ask", lambda _: {"answer": interrupt("which?")})
    builder.add_edge(START, "ask")
    graph = saver.bind(builder.compile())
    graph.invoke({}, config("t"))
    return graph


@pytest.mark.parametrize(
    "part",
    [
        {"channel_versions": {"branch:to:ask": None}},
        {"channel_versions": {"branch:to:ask": [1]}},
        {"versions_seen": {"ask": {"branch:to:ask": "z"}}},
        {"v": "4"},
        {"updated_channels": 5},
    ],
)
def test_a_checkpoint_that_langgraph_could_not_go_on_with_is_refused_by_name(part: Any) -> None:
    with KeepsetSaver("memory:") as saver:
        graph = waiting(saver)
        newest = saver.get_tuple(config("t"))
        assert newest is not None
        made: Any = {**newest.checkpoint, "id": str(uuid6()), **part}
        saver.put(newest.config, made, {"source": "loop", "step": 5}, {})
        for use in (graph.get_state, saver.get_tuple):
            with pytest.raises(DecodeError, match=made["id"]) as caught:
                use(config("t"))
            assert caught.value.code == "langgraph.damaged"
        with pytest.raises(DecodeError):
            graph.invoke(Command(resume="this"), config("t"))
        report = graph.checkpointer.can_resume(config("t"))
        assert [reason.code for reason in report.reasons] == ["langgraph.damaged"]
        assert report.verdict.name == "INCOMPATIBLE"


@pytest.mark.parametrize("told", [5, [5], [[1]], [["ask", True]], [["ask", 1, b""]], ["abc"]])
def test_what_was_never_stored_beside_an_interrupt_is_refused(told: Any) -> None:
    with KeepsetSaver("memory:") as saver:
        graph = waiting(saver)
        newest = saver.get_tuple(config("t"))
        assert newest is not None
        assert newest.pending_writes is not None
        task = newest.pending_writes[0][0]
        saver.put_writes(newest.config, [("langgraph#asked", told)], task)
        with pytest.raises(DecodeError, match="beside an interrupt") as caught:
            graph.invoke(Command(resume="this"), config("t"))
        assert caught.value.code == "langgraph.damaged"
