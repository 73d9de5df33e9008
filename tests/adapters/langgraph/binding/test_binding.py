"""Binding changes nothing of the graph that it is given, and reaches the graphs inside it."""

from __future__ import annotations

import logging
import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset import Drop, Extract, Keep
from keepset.adapters.langgraph.compiling import compile_graph
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import SchemaError, UsageError
from tests.adapters.langgraph.binding.stores import CONFIG, found, saver


@dataclass
class Order:
    """A class that only the state's annotation names."""

    number: int


class State(TypedDict, total=False):
    order: Order
    answer: Annotated[Any, Extract("text")]
    log: Annotated[list[str], operator.add]


def builder_of(answer: Any = None) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("first", lambda _: {"order": Order(7), "answer": {"text": "short"}})
    builder.add_node("ask", lambda _: {"log": [interrupt("?")]} if answer is None else answer)
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    return builder


def test_a_class_that_only_an_annotation_names_comes_back_as_itself(tmp_path: Path) -> None:
    calls: list[Any] = [{"log": ["x"]}, Command(resume="yes")]
    for given in calls:
        with saver(tmp_path) as keeper:
            state = keeper.bind(builder_of().compile()).invoke(given, CONFIG)
    assert state == {"order": Order(7), "answer": "short", "log": ["x", "yes"]}


def test_the_graph_that_was_compiled_stays_as_it_is() -> None:
    graph = builder_of().compile(checkpointer=InMemorySaver())
    channels, nodes, writers = graph.channels, graph.nodes, graph.nodes["first"].writers
    with KeepsetSaver("memory:") as keeper:
        bound = keeper.bind(graph)
        bound.invoke({"log": ["x"]}, CONFIG)
        assert type(bound).__name__ == type(graph).__name__
        assert isinstance(bound, type(graph))
    assert graph.channels is channels
    assert graph.nodes is nodes
    assert graph.nodes["first"].writers is writers
    assert isinstance(graph.checkpointer, InMemorySaver)
    assert graph.invoke({"log": ["y"]}, CONFIG)["answer"] == {"text": "short"}


def test_two_graphs_on_one_saver_have_rules_of_their_own() -> None:
    class Other(TypedDict, total=False):
        answer: Annotated[Any, Drop()]
        log: list[str]

    other: Any = StateGraph(Other)
    other.add_node("first", lambda _: {"answer": {"text": "x"}, "log": ["y"]})
    other.add_edge(START, "first")
    with KeepsetSaver("memory:") as keeper:
        one, two = keeper.bind(builder_of().compile()), keeper.bind(other.compile())
        assert two.invoke({"log": []}, {"configurable": {"thread_id": "two"}}) == {"log": ["y"]}
        assert one.invoke({"log": ["x"]}, CONFIG)["answer"] == "short"


def test_a_bound_graph_can_be_bound_and_configured_again() -> None:
    with KeepsetSaver("memory:") as keeper:
        bound = keeper.bind(keeper.bind(builder_of().compile()))
        assert bound.invoke({"log": ["x"]}, CONFIG)["answer"] == "short"


class Inner(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    private: Annotated[Any, Extract("text")]


def nested(*, ask: bool = True) -> Any:
    inner: Any = StateGraph(Inner)
    inner.add_node("work", lambda _: {"private": {"text": "part", "rest": "marked-as-left-out"}})
    inner.add_node("ask", lambda _: {"log": [interrupt("?") if ask else "no"]})
    inner.add_edge(START, "work")
    inner.add_edge("work", "ask")
    outer: Any = StateGraph(State)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    return outer


def test_a_graph_that_is_a_node_is_bound_by_its_own_schema(tmp_path: Path) -> None:
    compiled = nested().compile()
    with saver(tmp_path) as keeper:
        graph: Any = keeper.bind(compiled)
        graph.invoke({"log": ["marked-by-a-control"]}, CONFIG)
        inside = graph.get_state(CONFIG, subgraphs=True).tasks[0].state
        assert inside.values["private"] == "part"
        assert inside.next == ("ask",)
        assert graph.invoke(Command(resume="yes"), CONFIG)["log"][-1] == "yes"
    assert not found("marked-as-left-out", tmp_path)
    assert found("marked-by-a-control", tmp_path)
    assert compiled.nodes["inner"].bound is compiled.nodes["inner"].subgraphs[0]


def test_a_graph_that_a_function_calls_is_named_since_it_has_to_be_bound_by_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inner = builder_of({"log": ["z"]}).compile()
    outer: Any = StateGraph(State)
    outer.add_node("calls", lambda state: {**inner.invoke(state)})
    outer.add_edge(START, "calls")
    with KeepsetSaver("memory:") as keeper, caplog.at_level(logging.WARNING, "keepset"):
        graph = keeper.bind(outer.compile())
        assert graph.invoke({"log": ["x"]}, CONFIG)["order"] == Order(7)
    assert "inside node calls" in caplog.text


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def test_an_agent_that_others_compiled_is_bound_and_resumes_where_it_paused(
    tmp_path: Path,
) -> None:
    call = {"name": "add", "args": {"a": 2, "b": 3}, "id": "1", "type": "tool_call"}
    said = [AIMessage("", tool_calls=[call]), AIMessage("It is 5.")]
    for given in ({"messages": [("user", "2 + 3?")]}, None):
        model = Model(messages=iter(said[:1] if given else said[1:]))
        agent: Any = create_agent(model, [add], interrupt_before=["tools"])
        with saver(tmp_path) as keeper:
            state = keeper.bind(agent).invoke(given, CONFIG)
    assert [type(message).__name__ for message in state["messages"]] == [
        "HumanMessage",
        "AIMessage",
        "ToolMessage",
        "AIMessage",
    ]
    assert [message.text for message in state["messages"][2:]] == ["5", "It is 5."]


def test_a_workflow_of_the_functional_api_is_bound_with_the_classes_it_names(
    tmp_path: Path,
) -> None:
    @task
    def double(order: Order) -> Order:
        return Order(order.number * 2)

    @entrypoint()
    def flow(order: Order, *, previous: Order | None = None) -> Order:
        doubled = double(order).result()
        interrupt("go on?")
        return Order(doubled.number + (previous.number if previous else 0))

    calls: list[Any] = [(Order(1), None), (Command(resume=1), 2), (Order(5), None)]
    for given, expected in calls:
        with saver(tmp_path) as keeper:
            result: Any = keeper.bind(flow).invoke(given, CONFIG)
            if expected is not None:
                assert result == Order(expected)
    with saver(tmp_path) as keeper:
        assert keeper.bind(flow).invoke(Command(resume=1), CONFIG) == Order(12)


def test_one_line_compiles_a_graph_onto_a_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    calls: list[Any] = [{"log": ["x"]}, Command(resume="yes")]
    for given in calls:
        graph: Any = compile_graph(builder_of(), url, name="orders")
        state = graph.invoke(given, CONFIG)
        graph.checkpointer.close()
    assert graph.name == "orders"
    assert state["log"] == ["x", "yes"]


def test_a_second_checkpointer_and_what_is_no_graph_are_refused() -> None:
    with KeepsetSaver("memory:") as keeper:
        with pytest.raises(UsageError) as error:
            compile_graph(builder_of(), keeper, checkpointer=InMemorySaver())
        assert error.value.code == "langgraph.checkpointer"
        with pytest.raises(UsageError) as error:
            keeper.bind(builder_of())
        assert error.value.code == "langgraph.not-a-graph"


class Conflicting(TypedDict, total=False):
    answer: Annotated[Any, Keep()]


def test_unsound_schemas_are_refused_before_any_node_runs() -> None:
    ran: list[str] = []
    builder: Any = StateGraph(State, input_schema=Conflicting)
    builder.add_node("first", lambda _: ran.append("first"))
    builder.add_edge(START, "first")
    with KeepsetSaver("memory:") as keeper, pytest.raises(SchemaError) as error:
        keeper.bind(builder.compile()).invoke({"answer": 1}, CONFIG)
    assert error.value.code == "rule.conflict"
    assert ran == []
