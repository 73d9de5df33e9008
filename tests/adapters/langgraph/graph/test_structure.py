"""What a graph is, and what its nodes need."""

from __future__ import annotations

import json
import operator
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.messages import AnyMessage
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Command
from pydantic import BaseModel

from keepset.adapters.langgraph.graph import Structure, read_structure, structure_of_graph
from keepset.adapters.langgraph.needs import Needs
from keepset.adapters.langgraph.schemas import contract_of_graph
from keepset.errors import DecodeError, SchemaError


class Item(BaseModel):
    name: str


class State(TypedDict):
    total: int
    items: Annotated[list[Item], operator.add]
    messages: Annotated[list[AnyMessage], add_messages]


class Narrow(TypedDict):
    only: str


class Few(TypedDict):
    total: int


def nothing(_: Any) -> dict[str, Any]:
    return {}


def structure(builder: Any) -> Structure:
    graph = builder.compile()
    return structure_of_graph(graph, contract_of_graph(graph))


def graph_of(*nodes: str, state: Any = State) -> Any:
    builder: Any = StateGraph(state)
    for name in nodes:
        builder.add_node(name, nothing)
        builder.add_edge(START, name)
    return builder


def test_the_order_in_which_a_graph_is_built_is_none_of_its_structure() -> None:
    forth, back = structure(graph_of("a", "b")), structure(graph_of("b", "a"))
    assert (forth.text, forth.digest) == (back.text, back.digest)
    assert structure(graph_of("a", "c")).digest != forth.digest


def test_a_structure_is_read_as_it_was_written() -> None:
    builder = graph_of("a", "b")
    builder.add_node("last", nothing, defer=True)
    builder.add_edge(["a", "b"], "last")
    written = structure(builder)
    assert read_structure(written.text) == written
    assert written.nodes["last"] == ("branch:to:last", "join:a+b:last")
    assert json.loads(written.text)["channels"]["items"] == ["BinaryOperatorAggregate", "add"]


def test_what_the_classes_of_the_host_hold_is_none_of_a_graph() -> None:
    written = json.loads(structure(graph_of("a")).text)
    assert list(written["state"]["classes"]) == ["Item"]
    assert len(json.dumps(written)) < 1500


@pytest.mark.parametrize("text", [None, 7, "", "[]", "{}", '{"format": 1, "nodes": []}'])
def test_what_is_no_structure_is_refused(text: Any) -> None:
    with pytest.raises(DecodeError) as refused:
        read_structure(text)
    assert refused.value.code == "langgraph.structure"


def test_a_structure_of_a_newer_release_is_refused() -> None:
    text = structure(graph_of("a")).text.replace('"format":1,"nodes"', '"format":9,"nodes"')
    with pytest.raises(SchemaError) as refused:
        read_structure(text)
    assert refused.value.code == "langgraph.structure-format"


def test_what_a_run_can_reach_follows_every_kind_of_edge() -> None:
    def goes(_: Any) -> Command[Literal["by-command"]]:
        return Command(goto="by-command")

    builder: Any = StateGraph(State)
    for name in ("a", "by-edge", "by-join", "by-branch", "by-command", "beside"):
        builder.add_node(name, nothing)
    builder.add_node("goes", goes)
    builder.add_edge(START, "a")
    builder.add_edge(START, "beside")
    builder.add_edge("a", "by-edge")
    builder.add_edge("beside", END)
    builder.add_edge(["by-edge", "a"], "by-join")
    builder.add_conditional_edges("by-join", lambda _: "by-branch", ["by-branch"])
    builder.add_edge("by-branch", "goes")
    needs = Needs(builder.compile())
    everything = {"a", "by-edge", "by-join", "by-branch", "goes", "by-command"}
    assert needs.reached(["a"]) == everything
    assert needs.reached(["by-branch"]) == {"by-branch", "goes", "by-command"}
    assert needs.reached(["nobody"]) == set()


def test_a_branch_whose_ends_are_not_declared_may_go_anywhere() -> None:
    builder = graph_of("a", "b", "c")
    builder.add_conditional_edges("a", lambda _: END)
    assert Needs(builder.compile()).reached(["a"]) == {"a", "b", "c"}


def test_a_branch_needs_what_its_own_state_requires() -> None:
    def decides(_: Narrow) -> str:
        return END

    builder: Any = StateGraph(State)
    builder.add_node("a", nothing, input_schema=Few)
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", decides, [END])
    needs = Needs(builder.compile())
    assert needs.requires("a") == {"total": "Few", "only": "Narrow"}
    assert needs.reads("a") >= {"total", "only"}


def test_names_that_a_node_reads_are_found_in_its_code_and_in_that_of_its_branches() -> None:
    class Reads:
        def __call__(self, state: Any) -> dict[str, Any]:
            def later() -> Any:
                return state["inner"]

            return {"total": state["asked"] + later() + len(self.__class__.__name__)}

        def method(self, state: Any) -> dict[str, Any]:
            return {"total": state.attribute or other["elsewhere"]}

    other = {"elsewhere": 1}
    builder: Any = StateGraph(State)
    builder.add_node("called", Reads())
    builder.add_node("method", Reads().method)
    builder.add_edge(START, "called")
    builder.add_edge(START, "method")
    builder.add_conditional_edges("method", lambda state: state["way"], ["called"])
    needs = Needs(builder.compile())
    assert needs.looks_up("called") == {"asked", "inner"}
    assert needs.looks_up("method") == {"attribute", "way"}
