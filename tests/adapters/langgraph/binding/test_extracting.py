"""A function that masks and fails lets nothing through; what it has given before may come again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from keepset import Extract, Scratch
from keepset.errors import PolicyError
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver
from tests.adapters.langgraph.importing import stores
from tests.cli.terminal import say

RAW = "marked-as-personal"


class Said:
    """What a model answers; nothing could store it."""

    def __init__(self, content: str) -> None:
        self.content = content


def masked(said: Any) -> str:
    """Fails on a text, as a service would that is down: in the way that a wrong kind would."""
    content: str = said.content
    return content.upper()


class State(TypedDict, total=False):
    said: Annotated[str, Extract(masked)]
    size: int


def graph_of(*nodes: Any, sends: Any = None) -> Any:
    builder: Any = StateGraph(State)
    names = [f"node {number}" for number in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for before, after in zip([START, *names], names, strict=False):
        if sends is None or before == START:
            builder.add_edge(before, after)
        else:
            builder.add_conditional_edges(before, lambda state: [Send(names[1], sends(state))])
    return builder.compile()


def _whole(state: State) -> State:
    return {**state}


def _size(state: State) -> State:
    return {"size": len(state["said"])}


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("way", ["node", "input", "update", "beginning", "command", "send"])
def test_a_text_that_could_not_be_masked_is_refused_and_in_no_row(
    way: str, durability: Any, tmp_path: Path
) -> None:
    nodes = {
        "node": (lambda _: {"said": RAW}, _size),
        "command": (lambda _: {"size": interrupt("?")},),
    }
    sends = (lambda _: {"said": RAW}) if way == "send" else None
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(*nodes.get(way, (_whole, _size)), sends=sends))
        if way in {"update", "command"}:
            graph.invoke({"said": Said("fine")}, CONFIG, durability=durability)
        said: Any = {"said": RAW if way == "input" else Said("fine")}
        given = Command(resume=1, update={"said": RAW}) if way == "command" else said
        with pytest.raises(PolicyError) as refused:  # noqa: PT012 - one of two ways in
            if way in {"update", "beginning"}:
                graph.update_state(CONFIG, {"said": RAW})
            else:
                graph.invoke(given, CONFIG, durability=durability)
    assert refused.value.code == "extract.failed"
    assert not found(RAW, tmp_path)
    assert way in {"input", "beginning"} or found("FINE", tmp_path)


def test_a_thread_of_another_saver_that_cannot_be_masked_stays_there(tmp_path: Path) -> None:
    with stores.on_sqlite(tmp_path / "old.sqlite") as old:
        plain: Any = StateGraph(_Plain)
        plain.add_node("node 0", _size)
        plain.add_edge(START, "node 0")
        plain.compile(checkpointer=old).invoke({"said": RAW}, CONFIG)
    words = ("--graph", f"{__name__}:GRAPH", "--apply", "--json")
    said = say("import", tmp_path / "old.sqlite", "--into", tmp_path / "graph.db", *words)
    assert said.code == 40
    assert "what it extracts from a str failed with AttributeError" in said.out
    assert not found(RAW, tmp_path)


class _Plain(TypedDict, total=False):
    said: str
    size: int


GRAPH = graph_of(_size)


@pytest.mark.parametrize("durability", DURABILITIES)
def test_what_was_masked_before_may_be_given_back_sent_and_handed_to_a_graph_inside(
    durability: Any, tmp_path: Path
) -> None:
    with saver(tmp_path) as keeper:
        inside = graph_of(_whole, _size)
        for thread, sends in enumerate([None, _whole]):
            config: Any = {"configurable": {"thread_id": str(thread)}}
            graph = keeper.bind(graph_of(_whole, inside, sends=sends))
            given: Any = {"said": Said("fine")}
            done = graph.invoke(given, config, durability=durability)
            assert done == {"said": "FINE", "size": 4}
            graph.update_state(config, {"said": "FINE"}, as_node="node 0")
            assert graph.get_state(config).values["said"] == "FINE"


class _Around(TypedDict, total=False):
    said: Annotated[str, Scratch(lambda: RAW)]
    size: int


@pytest.mark.parametrize("called", [False, True], ids=["as a node", "by a function"])
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_graph_inside_refuses_what_the_graph_around_it_has_and_did_not_extract(
    called: Any, durability: Any, tmp_path: Path
) -> None:
    with saver(tmp_path) as keeper:
        inside: Any = keeper.bind(graph_of(_size)) if called else graph_of(_size)
        builder: Any = StateGraph(_Around)
        builder.add_node("give", lambda _: {"said": RAW})
        builder.add_node("inside", (lambda state: inside.invoke({**state})) if called else inside)
        builder.add_edge(START, "give")
        builder.add_edge("give", "inside")
        with pytest.raises(PolicyError) as refused:
            keeper.bind(builder.compile()).invoke({"size": 0}, CONFIG, durability=durability)
    assert refused.value.code == "extract.failed"
    assert not found(RAW, tmp_path)
