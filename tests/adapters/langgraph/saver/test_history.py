"""A history holds what each checkpoint held, and each has a state of its own."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph

import keepset.langgraph
from keepset.adapters.langgraph.saver import KeepsetSaver

STEPS = 40


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]
    counter: int


def step(state: Talk) -> dict[str, Any]:
    number = state["counter"]
    return {"messages": [AIMessage(f"answer {number}", id=str(number))], "counter": number + 1}


def talking() -> Any:
    builder = StateGraph(Talk)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    builder.add_conditional_edges(
        "step", lambda state: END if state["counter"] >= STEPS else "step", ["step", END]
    )
    return builder


@pytest.fixture(params=["bound", "not bound"])
def graph(request: pytest.FixtureRequest) -> Any:
    if request.param == "bound":
        return keepset.langgraph.compile(talking(), "memory:")
    return talking().compile(checkpointer=KeepsetSaver("memory:"))


def test_each_state_of_a_history_is_what_the_graph_gives_of_that_checkpoint(graph: Any) -> None:
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 2 * STEPS}
    graph.invoke({"messages": [], "counter": 0}, config, durability="sync")
    history = list(graph.get_state_history(config))
    assert [len(state.values.get("messages", ())) for state in history[:-1]] == [
        *range(STEPS, -1, -1)
    ]
    for state in history:
        assert graph.get_state(state.config) == state
    listed = list(graph.checkpointer.list(config))
    for found in listed:
        alone = graph.checkpointer.get_tuple(found.config)
        assert (alone.checkpoint, alone.metadata) == (found.checkpoint, found.metadata)
        assert (alone.parent_config, alone.pending_writes) == (
            found.parent_config,
            found.pending_writes,
        )


def test_a_state_of_a_history_that_is_changed_changes_no_other(graph: Any) -> None:
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 2 * STEPS}
    graph.invoke({"messages": [], "counter": 0}, config, durability="sync")
    listed = list(graph.checkpointer.list(config))
    before = list(graph.checkpointer.list(config))
    for message in listed[3].checkpoint["channel_values"]["messages"]:
        message.content = "changed"
        message.additional_kwargs["changed"] = True
    listed[3].checkpoint["channel_values"]["messages"].clear()
    listed[3].checkpoint["versions_seen"].clear()
    del listed[3], before[3]
    assert listed == before
