"""What a graph that can be proven says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START
from typing_extensions import TypedDict

import keepset.langgraph
from keepset.adapters.langgraph.proving import GraphTarget, is_graph
from keepset.errors import UsageError
from tests.adapters.langgraph.proving import graphs
from tests.adapters.langgraph.proving.graphs import Ask
from tests.adapters.langgraph.proving.proofs import Proof, texts

HI: Any = {"question": "hi"}


@dataclass
class Order:
    number: int


class Shop(TypedDict, total=False):
    order: Order
    total: int


class Out(TypedDict):
    answer: str


def test_a_builder_and_what_is_compiled_are_graphs() -> None:
    assert is_graph(graphs.line())
    assert is_graph(graphs.line().compile())
    assert is_graph(graphs.function())
    assert not is_graph(graphs.line)
    assert not is_graph(Ask)


def test_what_makes_no_graph_is_refused() -> None:
    with pytest.raises(UsageError, match="no compiled graph"):
        GraphTarget(lambda: graphs.line)


def test_a_graph_that_was_bound_by_its_factory_is_proven_in_a_store_of_its_own(
    tmp_path: Any,
) -> None:
    url = f"sqlite:///{tmp_path}/own.db"
    with keepset.langgraph.KeepsetSaver(url) as saver:
        bound = saver.bind(graphs.line().compile())
        proof = Proof(lambda: bound, HI)
        assert proof.wrong_at("ids") == ["after find", "after check"]
        assert list(saver.list(None)) == []


def test_the_fields_are_those_of_the_state_and_of_graphs_inside() -> None:
    target = GraphTarget(graphs.inside)
    assert target.name == "Ask"
    assert list(target.fields) == [*Ask.__annotations__, "one.draft", "two.draft"]
    assert target.outputs == frozenset()


def test_a_graph_with_an_output_schema_says_what_is_read_of_it() -> None:
    def build() -> Any:
        builder = graphs.of(Ask, {"answer": {"answer": "yes"}}, output_schema=Out)
        builder.add_edge(START, "answer")
        return builder

    proof = Proof(build, HI)
    assert proof.target.outputs == {"answer"}
    assert texts(proof.outcome(), "question") == ["hi"]


def test_a_state_may_hold_instances_of_classes_that_it_names() -> None:
    def build() -> Any:
        nodes = {"take": {"order": Order(7)}, "sum": lambda state: {"total": state["order"].number}}
        builder = graphs.of(Shop, nodes)
        builder.add_edge(START, "take")
        builder.add_edge("take", "sum")
        return builder

    proof = Proof(build, {"total": 0})
    assert proof.wrong_at("order") == ["after take"]
    assert texts(proof.outcome("after take"), "order") == ["7"]


class Model(GenericFakeChatModel):
    """Calls a tool, and then says how many messages it has been given."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002 - LangChain's name
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        call = {"name": "pay", "args": {"to": "Ann"}, "id": "call-1"}
        called = AIMessage("", tool_calls=[call])
        last = AIMessage(f"done after {len(messages)}")
        self.messages = iter([called if len(messages) == 1 else last])
        return super()._generate(messages, *args, **kwargs)


def test_an_agent_is_proven_with_a_model_that_costs_nothing() -> None:
    paid: list[str] = []

    def pay(to: str) -> str:
        """Pay somebody."""
        paid.append(to)
        return f"paid {to}"

    def build() -> Any:
        return create_agent(Model(messages=iter([])), [pay])

    proof = Proof(build, {"messages": [("user", "pay Ann")]})
    assert "messages" in proof.target.fields
    assert proof.points() == ["after input", "after model", "after tools"]
    assert paid == ["Ann"]
    assert proof.wrong_at("messages") == ["after input", "after model"]
    assert "done after 3" in texts(proof.outcome("after tools"), "messages")
    assert "done after 0" in texts(proof.outcome("after tools", "messages"), "messages")
