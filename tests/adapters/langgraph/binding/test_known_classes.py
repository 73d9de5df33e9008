"""Which classes a graph knows by itself, and what is said about those that it does not."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel

import keepset as ks
from keepset.errors import DecodeError, PolicyError
from keepset.langgraph import KeepsetSaver
from tests.contracts.making import state

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class Weather(BaseModel):
    city: str


class Storm(BaseModel):
    wind: int


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def agent(schema: Any, **given: Any) -> Any:
    called = {"name": type(next(iter(given.values()))).__name__, "id": "call-1"}
    called["args"] = next(iter(given.values())).model_dump()
    answer: Any = AIMessage("", tool_calls=[called])
    return create_agent(Model(messages=iter([answer])), [], response_format=schema)


def holding(value: Any, kept: Any = Any) -> Any:
    builder: Any = StateGraph(state(x=kept))
    builder.add_node("a", lambda _: {"x": value})
    builder.add_edge(START, "a")
    return builder.compile()


@pytest.mark.parametrize("schema", [ToolStrategy(Weather), ToolStrategy(Weather | Storm)])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_the_class_that_an_agent_answers_with_is_known_to_the_bound_agent(
    schema: Any, durability: Any
) -> None:
    answer = Weather(city="Bonn")
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(agent(schema, answer=answer))
        out = graph.invoke({"messages": [("user", "?")]}, CONFIG, durability=durability)
        assert out["structured_response"] == answer
        assert graph.get_state(CONFIG).values["structured_response"] == answer


def test_an_agent_that_is_called_by_a_node_of_its_own_answers_in_a_graph_as_well() -> None:
    answer = Storm(wind=9)
    builder: Any = StateGraph(state(messages=list[Any], structured_response=Any))
    builder.add_node("agent", agent(ToolStrategy(Storm), answer=answer))
    builder.add_edge(START, "agent")
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(builder.compile())
        out = graph.invoke({"messages": [("user", "?")]}, CONFIG)
        assert out["structured_response"] == answer


@pytest.mark.parametrize("bound", [True, False])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_class_that_is_not_known_is_refused_with_what_a_saver_can_be_told(
    durability: Any, *, bound: bool
) -> None:
    with KeepsetSaver("memory:") as saver:
        graph = holding([Weather(city="Bonn")])
        graph = saver.bind(graph) if bound else graph
        graph.checkpointer = graph.checkpointer or saver
        with pytest.raises(PolicyError, match="Weather") as refused:
            graph.invoke({}, CONFIG, durability=durability)
        assert "KeepsetSaver(url, types=[…])" in refused.value.hint


def test_a_live_handle_is_not_said_to_be_a_matter_of_naming_its_class() -> None:
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(holding(threading.Lock()))
        with pytest.raises(PolicyError, match="lock") as refused:
            graph.invoke({}, CONFIG)
        assert "types=" not in refused.value.hint


def test_a_saver_that_lists_what_a_bound_graph_wrote_says_who_knows_its_classes() -> None:
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(holding(Weather(city="Bonn"), Weather))
        graph.invoke({}, CONFIG)
        assert len(list(graph.checkpointer.list(None))) > 1
        with pytest.raises(DecodeError, match="'State/Weather'") as refused:
            list(saver.list(None))
        assert "graph.checkpointer" in refused.value.hint
        assert "types={name: cls}" in refused.value.hint


def test_a_class_that_is_named_as_it_is_stored_is_read_by_a_saver_alone(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    with KeepsetSaver(url) as saver:
        saver.bind(holding(Weather(city="Bonn"), Weather)).invoke({}, CONFIG)
    with KeepsetSaver(url, types={"State/Weather": Weather}) as saver:
        found = next(saver.list(None))
    assert found.checkpoint["channel_values"]["x"] == Weather(city="Bonn")


@pytest.mark.parametrize("before", ["State", "tickets"])
def test_a_state_that_gets_another_name_reads_what_it_held(before: str) -> None:
    earlier, later = state(x=Weather), state(x=Weather)
    if before != "State":
        earlier = ks.contract(name=before)(earlier)
    later = ks.contract(name="support")(later)
    with KeepsetSaver("memory:") as saver:
        for known in (earlier, later):
            builder: Any = StateGraph(known)
            builder.add_node("a", lambda _: {"x": Weather(city="Bonn")})
            builder.add_node("b", lambda given: {"x": interrupt("?") or given["x"]})
            builder.add_edge(START, "a")
            builder.add_edge("a", "b")
            graph = saver.bind(builder.compile())
            if known is earlier:
                graph.invoke({}, CONFIG)
        assert graph.checkpointer.can_resume(CONFIG).verdict == ks.Resume.AS_IS
        assert graph.invoke(Command(resume=""), CONFIG) == {"x": Weather(city="Bonn")}
