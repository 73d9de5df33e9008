"""Where a thread stands is told from what is stored as LangGraph tells it from the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels import EphemeralValue, LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import NodeBuilder, Pregel
from langgraph.types import Command, Send, interrupt

from keepset.adapters.langgraph.graph import structure_of_graph
from keepset.adapters.langgraph.renaming import Place, ids_of
from keepset.adapters.langgraph.schemas import contract_of_graph
from keepset.adapters.langgraph.standing import tasks_of
from tests.adapters.langgraph.graph.deploys import CONFIG


class Log(TypedDict, total=False):
    done: Annotated[list[str], operator.add]


def notes(name: str) -> Callable[[Any], dict[str, Any]]:
    return lambda _: {"done": [name]}


def joined(*, defer: bool = False) -> Any:
    builder: Any = StateGraph(Log)
    for name in ("a", "b", "c"):
        builder.add_node(name, notes(name))
    builder.add_node("last", notes("last"), defer=defer)
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    builder.add_edge("b", "c")
    builder.add_edge(["a", "c"], "last")
    builder.add_edge("last", END)
    return builder


def deferred() -> Any:
    builder: Any = StateGraph(Log)
    for name in ("a", "b", "c"):
        builder.add_node(name, notes(name))
    builder.add_node("last", notes("last"), defer=True)
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    builder.add_edge("b", "c")
    builder.add_edge("a", "last")
    builder.add_edge("c", "last")
    return builder


def sent() -> Any:
    builder: Any = StateGraph(Log)
    builder.add_node("a", notes("a"))
    builder.add_node("each", notes("each"))
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", lambda _: [Send("each", 1), Send("each", 2)], ["each"])
    return builder


def looping() -> Any:
    def again(state: Any) -> Any:
        return Command(goto="a" if len(state["done"]) < 3 else "b", update={"done": ["a"]})

    builder: Any = StateGraph(Log)
    builder.add_node("a", again)
    builder.add_node("b", lambda _: {"done": [interrupt("?")]})
    builder.add_edge(START, "a")
    return builder


GRAPHS = {
    "joined": joined,
    "joined and deferred": lambda: joined(defer=True),
    "deferred": deferred,
    "sent": sent,
    "looping": looping,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_next_nodes_and_the_ids_of_their_tasks_are_those_of_langgraph(name: str) -> None:
    saver = InMemorySaver()
    graph = GRAPHS[name]().compile(checkpointer=saver)
    graph.invoke({"done": []}, CONFIG)
    assert len(judged(graph, saver)) > 3


def test_a_workflow_of_the_functional_api_stands_at_its_function() -> None:
    saver = InMemorySaver()

    @entrypoint(checkpointer=saver)
    def flow(given: int) -> int:
        return given + int(interrupt("?"))

    flow.invoke(1, CONFIG)
    assert judged(flow, saver) == [["flow"]]
    flow.invoke(Command(resume="2"), CONFIG)
    assert judged(flow, saver) == [[], ["flow"]]


def test_a_value_that_a_node_has_seen_is_not_new_to_it() -> None:
    saver = InMemorySaver()
    add = NodeBuilder().subscribe_only("given").do(lambda value: value + 1).write_to("sum")
    tell = NodeBuilder().subscribe_only("sum").do(lambda value: f"{value}").write_to("text")
    channels: Any = {"given": EphemeralValue(int), "sum": LastValue(int), "text": LastValue(str)}
    graph: Any = Pregel(
        nodes={"add": add, "tell": tell},
        channels=channels,
        input_channels="given",
        output_channels="text",
        checkpointer=saver,
    )
    assert graph.invoke(1, CONFIG) == "2"
    assert judged(graph, saver) == [[], ["tell"], ["add"]]


def judged(graph: Any, saver: InMemorySaver) -> list[list[str]]:
    """Give what is next at every checkpoint, the newest first, by both ways of telling it."""
    structure = structure_of_graph(graph, contract_of_graph(graph))
    found = []
    for state in graph.get_state_history(CONFIG):
        stored = saver.get_tuple(state.config)
        assert stored is not None
        checkpoint: Any = stored.checkpoint
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        tasks = tasks_of(structure, values, versions, checkpoint["versions_seen"])
        assert sorted(task.node for task in tasks) == sorted(state.next)
        step = stored.metadata["step"] + 1
        place = Place(checkpoint["id"], checkpoint["v"], step, "", "")
        ours = sorted(ids_of(task, place)[0] for task in tasks)
        assert ours == sorted(task.id for task in state.tasks)
        found.append(sorted(state.next))
    return found
