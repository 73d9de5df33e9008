"""Rules that are declared later hold for what was stored before them."""

from __future__ import annotations

import operator
import threading
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from keepset import Drop, Keep, Refetch, Reopen, Scratch, Secret
from keepset.verdict.status import Resume
from tests.adapters.langgraph.binding.stores import CONFIG, saver

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


class Earlier(TypedDict, total=False):
    ids: list[str]
    docs: list[str]
    notes: list[str]
    db: str
    key: str
    place: str
    draft: str
    answers: Annotated[list[str], operator.add]


class Later(TypedDict, total=False):
    ids: Annotated[list[str], Keep()]
    docs: Annotated[list[str], Refetch(lambda ids: [f"fetched {one}" for one in ids], using="ids")]
    notes: Annotated[list[str], Refetch(list, using="note_ids")]
    note_ids: list[str]
    db: Annotated[Any, Reopen(threading.Lock)]
    key: Annotated[str, Secret("env:KEEPSET_TEST_KEY")]
    place: Annotated[str, Scratch(lambda: "a fresh place")]
    draft: Annotated[str, Drop(default="none")]
    answers: Annotated[list[str], operator.add]


GIVEN: dict[str, Any] = {
    "ids": ["a"],
    "docs": ["stored a"],
    "notes": ["stored"],
    "db": "an address",
    "key": KEY,
    "place": "an old place",
    "draft": "stored",
}
RULED: dict[str, Any] = {
    "ids": ["a"],
    "docs": ["fetched a"],
    "notes": ["stored"],  # there are no ids by which they could be fetched
    "key": KEY,
    "place": "a fresh place",
    "draft": "none",
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPSET_TEST_KEY", KEY)


def graph_of(state: Any, seen: list[Any], way: str) -> Any:
    """A graph that waits for an answer: behind a node, in its first one, or in one sent there."""

    def wait(given: Any) -> dict[str, Any]:
        seen.append(dict(given))
        return {"answers": [interrupt("?")]}

    def beside(_: Any) -> dict[str, Any]:
        return dict(GIVEN) if way == "written" else {}

    builder: Any = StateGraph(state)
    builder.add_node("wait", wait)
    builder.add_node("beside", beside)
    builder.add_node("last", lambda given: seen.append(dict(given)))
    builder.add_edge("wait", "last")
    if way == "sent":
        builder.add_conditional_edges(START, lambda _: [Send("wait", dict(GIVEN))], ["wait"])
    else:
        builder.add_edge(START, "wait")
        builder.add_edge(START, "beside")
    return builder


def ruled(state: dict[str, Any]) -> dict[str, Any]:
    """A state as it should be; of a handle its kind is enough."""
    assert isinstance(state["db"], type(threading.Lock()))
    return {name: value for name, value in state.items() if name not in {"db", "answers"}}


@pytest.mark.parametrize("by", ["bound", "unbound"])
@pytest.mark.parametrize("way", ["given", "sent", "written"])
def test_a_run_that_was_stored_before_the_rules_resumes_by_them(
    way: str, by: str, tmp_path: Path
) -> None:
    seen: list[Any] = []
    with saver(tmp_path) as keeper:
        first = graph_of(Earlier, seen, way)
        if by == "bound":
            before = keeper.bind(first.compile())
        else:
            before = first.compile(checkpointer=keeper)
        before.invoke({} if way == "written" else GIVEN, CONFIG)
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(Later, seen, way).compile())
        bound_saver: Any = graph.checkpointer
        assert bound_saver.can_resume(CONFIG).verdict == Resume.AS_IS
        graph.invoke(Command(resume="yes"), CONFIG)
        after = [ruled(state) for state in seen[-1 if way == "written" else -2 :]]
        # What a task had written is there, and no ids of an earlier checkpoint say otherwise.
        given = RULED | {"docs": GIVEN["docs"]} if way == "written" else RULED
        assert after == [given] * len(after)
        assert seen[-1]["answers"] == ["yes"]


def test_what_the_rules_leave_out_is_gone_from_the_next_checkpoint(tmp_path: Path) -> None:
    with saver(tmp_path) as keeper:
        graph_of(Earlier, [], "given").compile(checkpointer=keeper).invoke(GIVEN, CONFIG)
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(Later, [], "given").compile())
        graph.invoke(Command(resume="yes"), CONFIG)
        stored = keeper.get_tuple(CONFIG)
        assert stored is not None
        assert {"docs", "place", "key", "draft"}.isdisjoint(stored.checkpoint["channel_values"])
