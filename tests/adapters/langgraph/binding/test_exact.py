"""A checkpoint of a bound graph is what the state was, whatever later nodes do to its objects."""

from __future__ import annotations

import asyncio
import threading
from copy import deepcopy
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import START, StateGraph, add_messages
from langgraph.types import Command, Send, interrupt
from pydantic import SecretStr
from typing_extensions import TypedDict

from keepset.adapters.langgraph.saver import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES

STEPS = 12


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    nested: dict[str, Any]
    log: list[dict[str, Any]]


class Recorder:
    """A graph whose every node notes what it is given, and then changes it in place."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.began = threading.Event()

    def node(self, number: int) -> Any:
        def run(state: State) -> dict[str, Any]:
            self.given[f"n{number}"] = deepcopy(dict(state))
            state["nested"]["deep"]["count"] += 1
            state["nested"][f"key {number}"] = number
            state["log"].append({"by": number, "text": "x" * 500})
            state["log"][0]["by"] = -number
            state["messages"][0].additional_kwargs["seen"] = number
            self.began.set()
            if number == STEPS // 2:
                interrupt("go on?")
            return {"messages": [AIMessage(f"step {number}")], "log": state["log"]}

        return run

    def graph(self) -> Any:
        builder: Any = StateGraph(State)
        for number in range(STEPS):
            builder.add_node(f"n{number}", self.node(number))
            builder.add_edge(START if number == 0 else f"n{number - 1}", f"n{number}")
        return builder.compile()


def given() -> dict[str, Any]:
    return {
        "messages": [HumanMessage("hello", id="1")],
        "nested": {"deep": {"count": 0}},
        "log": [{"by": 0, "text": "the first"}],
    }


@pytest.mark.parametrize("durability", DURABILITIES)
def test_every_checkpoint_is_what_the_next_node_was_given(durability: Any) -> None:
    with KeepsetSaver("memory:") as saver:
        recorder = Recorder()
        graph = saver.bind(recorder.graph())
        graph.invoke(given(), CONFIG, durability=durability)
        first = {**recorder.given}
        graph.invoke(Command(resume=True), CONFIG, durability=durability)
        compared = compare(graph, first) | compare(graph, recorder.given)
        assert f"n{STEPS // 2}" in compared
        if durability != "exit":
            assert len(compared) == STEPS


@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_same_holds_in_an_event_loop(durability: Any) -> None:
    async def run(saver: KeepsetSaver) -> set[str]:
        recorder = Recorder()
        graph = saver.bind(recorder.graph())
        await graph.ainvoke(given(), CONFIG, durability=durability)
        return compare(graph, recorder.given)

    with KeepsetSaver("memory:") as saver:
        assert f"n{STEPS // 2}" in asyncio.run(run(saver))


def compare(graph: Any, given: dict[str, Any]) -> set[str]:
    """Compare each checkpoint with what the node after it noted first; name the nodes."""
    compared = set()
    for state in graph.get_state_history(CONFIG):
        for node in state.next:
            if node in given:
                assert state.values == given[node], f"the checkpoint before {node} is another"
                compared.add(node)
    return compared


class Late(KeepsetSaver):
    """A saver whose every save begins once the next node has changed what it was given."""

    recorder: Recorder

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if metadata["step"] == 1:
            assert self.recorder.began.wait(30)
        return super().put(config, checkpoint, metadata, new_versions)


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])
def test_a_save_that_is_late_stores_what_there_was_and_without_binding_what_there_is(
    bound: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    recorder = Recorder()
    builder: Any = StateGraph(State)
    builder.add_node("first", lambda _: {"nested": {"deep": {"count": 0}}})
    builder.add_node("second", recorder.node(2))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    with Late("memory:") as saver:
        saver.recorder = recorder
        graph: Any = builder.compile(checkpointer=None if bound else saver)
        graph = saver.bind(graph) if bound else graph
        graph.invoke(given(), CONFIG, durability="async")
        history = [s for s in graph.get_state_history(CONFIG) if s.next == ("second",)]
        assert (history[0].values == recorder.given["n2"]) is bound


@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_same_holds_for_what_stands_beside_a_secret(durability: Any) -> None:
    recorder = Recorder()
    builder: Any = StateGraph(State)
    builder.add_node(
        "first",
        lambda _: {"nested": {"deep": {"count": 0}, "key": SecretStr("a-secret-that-is-made-up")}},
    )
    builder.add_node("second", recorder.node(STEPS // 2))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(builder.compile())
        graph.invoke(given(), CONFIG, durability=durability)
        assert recorder.began.is_set()
        assert graph.get_state(CONFIG).values["nested"]["deep"]["count"] == 0


class Fan(TypedDict):
    items: list[dict[str, Any]]
    done: Annotated[list[int], lambda a, b: a + b]


def test_what_a_node_does_to_the_argument_of_its_send_does_not_show_in_the_checkpoint() -> None:
    def work(argument: dict[str, Any]) -> dict[str, Any]:
        argument["item"]["n"] = 99
        interrupt("stop")
        return {"done": [1]}

    builder: Any = StateGraph(Fan)
    builder.add_node("plan", lambda _: {})
    builder.add_node("work", work)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges(
        "plan", lambda state: [Send("work", {"item": item}) for item in state["items"]], ["work"]
    )
    for durability in DURABILITIES:
        with KeepsetSaver("memory:") as saver:
            graph: Any = saver.bind(builder.compile())
            graph.invoke({"items": [{"n": 1}, {"n": 2}]}, CONFIG, durability=durability)
            found = graph.checkpointer.get_tuple(CONFIG).checkpoint["channel_values"]
            assert [packet.arg["item"]["n"] for packet in found["__pregel_tasks"]] == [1, 2]
