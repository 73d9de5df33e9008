"""A call whose checkpoint the store has refused stops before its next node."""

from __future__ import annotations

import asyncio
import operator
import threading
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import ConflictError, KeepsetError
from tests.adapters.langgraph.binding.stores import CONFIG

STREAMED: Any = ["checkpoints", "debug"]


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


class Telling(KeepsetSaver):
    """A saver that tells when it has refused a checkpoint."""

    refused: threading.Event

    def put(self, *given: Any) -> Any:
        try:
            return super().put(*given)
        except KeepsetError:
            self.refused.set()
            raise

    async def aput(self, *given: Any) -> Any:
        try:
            return await super().aput(*given)
        except KeepsetError:
            self.refused.set()
            raise


def _graph(refused: threading.Event, others: list[Any], ran: list[str]) -> Any:
    """Three nodes, where another execution takes the first one's place while it runs."""

    def pay(_: State) -> State:
        ran.append("pay")
        if others:
            others.pop().invoke({"log": ["other"]}, CONFIG, durability="sync")
        return {"log": ["paid"]}

    def pack(_: State) -> State:
        ran.append("pack")
        assert refused.wait(30)
        return {"log": ["packed"]}

    async def packed_later(state: State) -> State:
        return await asyncio.to_thread(pack, state)

    def send(_: State) -> State:
        ran.append("send")
        return {"log": ["sent"]}

    builder: Any = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_node("pack", RunnableLambda(pack, afunc=packed_later))
    builder.add_node("send", send)
    builder.add_edge(START, "pay")
    builder.add_edge("pay", "pack")
    builder.add_edge("pack", "send")
    return builder.compile()


def _later(graph: Any, given: Any) -> Any:
    return asyncio.run(graph.ainvoke(given, CONFIG))


@pytest.mark.parametrize("later", [False, True])
def test_the_loser_of_two_executions_is_stopped_before_its_next_node_under_the_usual_durability(
    *, later: bool
) -> None:
    ran: list[str] = []
    with Telling("memory:") as keeper:
        keeper.refused = threading.Event()
        others: list[Any] = []
        graph = keeper.bind(_graph(keeper.refused, others, ran))
        builder: Any = StateGraph(State)
        builder.add_node("other", lambda _: {"log": ["won"]})
        builder.add_edge(START, "other")
        others.append(builder.compile(checkpointer=keeper))  # not bound: it minds no lease
        call: Any = _later if later else graph.invoke
        given = (graph, {"log": ["in"]}) if later else ({"log": ["in"]}, CONFIG)
        with pytest.raises(ConflictError) as error:
            call(*given)
    assert error.value.code == "conflict.two-writers"
    assert ran in (["pay"], ["pay", "pack"])  # which may have begun while "pay" was being saved


def test_what_one_call_was_refused_does_not_stop_the_next_one() -> None:
    ran: list[str] = []
    with Telling("memory:") as keeper:
        keeper.refused = threading.Event()
        others: list[Any] = []
        graph = keeper.bind(_graph(keeper.refused, others, ran))
        unbound = _graph(keeper.refused, [], [])
        unbound.checkpointer = keeper
        others.append(unbound)
        keeper.refused.set()
        with pytest.raises(ConflictError):
            graph.invoke({"log": ["in"]}, CONFIG, durability="sync")
        ran.clear()
        assert graph.invoke({"log": ["again"]}, CONFIG)["log"][-1] == "sent"
    assert ran == ["pay", "pack", "send"]


def test_nothing_of_ours_is_streamed_with_the_config_of_a_checkpoint() -> None:
    builder: Any = StateGraph(State)
    builder.add_node("ask", lambda _: {"log": [interrupt("ok?")]})
    builder.add_edge(START, "ask")
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(builder.compile())
        events = [
            event if mode == "checkpoints" else event["payload"]
            for mode, event in graph.stream({"log": []}, CONFIG, stream_mode=STREAMED)
        ]
        configs = [event["config"] for event in events if event.get("config")]
        usual = {"thread_id", "checkpoint_ns", "checkpoint_id"}
        assert {tuple(sorted(config["configurable"])) for config in configs} == {
            tuple(sorted(usual))
        }
        assert graph.invoke(Command(resume="yes"), configs[-1])["log"] == ["yes"]
