"""What a node has written is stored as it was where another one of its step stops."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from keepset.adapters.langgraph.saver import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES
from tests.adapters.langgraph.binding.test_handed import State, written


class LeftError(Exception):
    """How a node of a test fails."""


@pytest.mark.parametrize("ends", ["fails", "asks"])
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside"])
@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("durability", DURABILITIES)
def test_what_a_node_has_written_is_stored_as_it_was_where_one_beside_it_changes_it_and_stops(
    ends: str,
    inside: bool,  # noqa: FBT001 - a parameter of the test
    how: str,
    durability: Any,
) -> None:
    kept: dict[str, Any] = {"n": 1}
    ended = threading.Event()

    def other(_: State) -> dict[str, Any]:
        assert ended.wait(30)
        kept["n"] = 99
        if ends == "asks":
            interrupt("?")
        raise LeftError

    builder: Any = StateGraph(State)
    builder.add_node("before", lambda _: {"other": "before"})
    builder.add_node("shared", lambda _: {"nested": kept})
    builder.add_node("other", other)
    builder.add_edge(START, "before")
    builder.add_edge("before", "shared")
    builder.add_edge("before", "other")
    with KeepsetSaver("memory:") as saver:
        inner = builder.compile()
        graph: Any = inner
        if inside:
            around: Any = StateGraph(State)
            around.add_node("inner", inner)
            around.add_edge(START, "inner")
            graph = around.compile()
        bound = saver.bind(graph)
        try:
            seeing(bound, how, durability, ended)
        except LeftError:
            assert ends == "fails"
        assert written(bound, "nested") == [{"n": 1}]


def seeing(graph: Any, how: str, durability: Any, ended: threading.Event) -> None:
    """Run a graph, and say when what its node has written is there."""
    options: Any = {"stream_mode": "updates", "subgraphs": True, "durability": durability}

    def see(part: Any) -> None:
        if "shared" in part[1]:
            ended.set()

    async def run() -> None:
        async for part in graph.astream({"other": "x"}, CONFIG, **options):
            see(part)

    if how == "async":
        asyncio.run(run())
        return
    for part in graph.stream({"other": "x"}, CONFIG, **options):
        see(part)


@dataclass
class Kept:
    """What a weak reference can be made to."""

    n: int


class Holding(TypedDict, total=False):
    held: Kept
    other: str


@pytest.mark.parametrize("durability", DURABILITIES)
def test_what_steps_before_have_written_does_not_stay_in_memory(durability: Any) -> None:
    known: list[Any] = []

    def first(_: Holding) -> dict[str, Any]:
        made = Kept(1)
        known.append(weakref.ref(made))
        return {"held": made}

    def third(_: Holding) -> dict[str, Any]:
        gc.collect()
        known.append(known[0]() is None)
        return {}

    builder: Any = StateGraph(Holding)
    builder.add_sequence([first, ("second", lambda _: {"held": Kept(2)}), ("third", third)])
    builder.add_edge(START, "first")
    with KeepsetSaver("memory:") as saver:
        graph: Any = saver.bind(builder.compile())
        graph.invoke({"other": "x"}, CONFIG, durability=durability)
        gc.collect()
        assert known[0]() is None
    if durability != "async":  # there a write may be under way while a later node runs
        assert known[1]
