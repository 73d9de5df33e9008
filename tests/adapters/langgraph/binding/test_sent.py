"""`Extract` and `without` shape the argument of a `Send` as they shape what a node returns."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from keepset import Extract, Keep
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import PolicyError
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver

RAW: dict[str, Any] = {
    "said": "mail jane.doe@example.org",
    "reply": {"raw": "marked-as-raw", "text": "marked-by-a-control"},
}
SHAPED: dict[str, Any] = {
    "said": "mail [address]",
    "reply": {"text": "marked-by-a-control"},
}


def masked(said: str) -> str:
    return re.sub(r"\S+@\S+", "[address]", said)


class State(TypedDict, total=False):
    said: Annotated[str, Extract(masked)]
    reply: Annotated[dict[str, str], Keep(without="raw")]
    answer: str


def graph_of(seen: list[Any], way: str, given: Any, *, fails: bool = False) -> Any:
    def fail(_: State) -> Any:
        raise RuntimeError

    def ask(state: State) -> Any:
        seen.append(dict(state))
        return {"answer": interrupt("?")}

    def send(_: State) -> Any:
        return [Send("ask", given)]

    builder: Any = StateGraph(State)
    builder.add_node("ask", ask)
    if way == "start":
        builder.add_conditional_edges(START, send, ["ask"])
        return builder.compile()
    if way == "edge":
        builder.add_node("first", lambda _: None)
        builder.add_conditional_edges("first", send, ["ask"])
    else:
        builder.add_node("first", lambda state: Command(goto=send(state)), destinations=("ask",))
    builder.add_edge(START, "first")
    if fails:
        builder.add_conditional_edges("first", fail, ["ask"])
    return builder.compile()


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("way", ["edge", "command", "start"])
def test_a_node_is_sent_what_it_gets_after_a_resume_and_nothing_else_is_stored(
    way: str, durability: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(seen, way, RAW))
        graph.invoke({"answer": "none"}, CONFIG, durability=durability)
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(seen, way, RAW))
        graph.invoke(Command(resume="yes"), CONFIG, durability=durability)
    assert seen == [SHAPED, SHAPED]
    assert RAW["said"].endswith("example.org")
    for text in ("jane.doe", "marked-as-raw"):
        assert not found(text, tmp_path)
    assert found("marked-by-a-control", tmp_path)


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("way", ["edge", "command"])
def test_what_a_node_has_sent_is_shaped_also_where_another_edge_of_it_fails(
    way: str, durability: Any, tmp_path: Path
) -> None:
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of([], way, RAW, fails=True))
        with pytest.raises(RuntimeError):
            graph.invoke({"answer": "none"}, CONFIG, durability=durability)
    for text in ("jane.doe", "marked-as-raw"):
        assert not found(text, tmp_path)
    assert found("marked-by-a-control", tmp_path)


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("goto", [Send("ask", RAW), [Send("ask", RAW)]], ids=["one", "list"])
def test_what_a_command_sends_with_which_a_graph_is_called_is_shaped(
    goto: Any, durability: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(seen, "edge", SHAPED))
        graph.invoke({"answer": "none"}, CONFIG)
        graph.invoke(Command(goto=goto), CONFIG, durability=durability)
    assert seen[-1] == SHAPED
    for text in ("jane.doe", "marked-as-raw"):
        assert not found(text, tmp_path)


@pytest.mark.parametrize("node", [None, START])
@pytest.mark.parametrize("given", [RAW, Command(update=RAW, goto=Send("ask", RAW))])
def test_an_update_of_a_new_thread_is_shaped_once_as_what_a_node_gives(
    given: Any, node: Any, tmp_path: Path
) -> None:
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of([], "edge", SHAPED))
        graph.update_state(CONFIG, given, as_node=node)
        assert graph.get_state(CONFIG).values == SHAPED
    for text in ("jane.doe", "marked-as-raw"):
        assert not found(text, tmp_path)


def test_an_input_that_an_update_brings_to_a_thread_is_shaped_once(tmp_path: Path) -> None:
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of([], "edge", SHAPED))
        graph.invoke({"answer": "none"}, CONFIG)
        graph.update_state(CONFIG, RAW, as_node="__input__")
        graph.invoke(None, CONFIG)
        assert graph.get_state(CONFIG).values == SHAPED | {"answer": "none"}
    for text in ("jane.doe", "marked-as-raw"):
        assert not found(text, tmp_path)
    assert found("marked-by-a-control", tmp_path)


def test_an_update_of_a_new_thread_is_shaped_in_an_event_loop_too(tmp_path: Path) -> None:
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of([], "start", SHAPED))
        asyncio.run(graph.aupdate_state(CONFIG, RAW))
        assert graph.get_state(CONFIG).values == SHAPED
    assert not found("jane.doe", tmp_path)


def test_a_bound_graph_is_drawn_with_its_branches() -> None:
    plain = graph_of([], "edge", RAW)
    with KeepsetSaver("memory:") as keeper:
        assert keeper.bind(plain).get_graph().edges == plain.get_graph().edges


def test_what_cannot_be_extracted_is_refused_with_its_node() -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of([], "edge", {"said": ["a", "list"]}))
        with pytest.raises(PolicyError, match="node first") as refused:
            graph.invoke({}, CONFIG)
    assert refused.value.code == "extract.failed"
