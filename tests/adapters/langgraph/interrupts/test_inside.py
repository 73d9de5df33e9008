"""Answers find their questions where a bound graph runs inside another one."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langgraph")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset.errors import SchemaError, UsageError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG


class State(TypedDict, total=False):
    answer: str


def one_node(node: Any) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("inside", node)
    builder.add_edge(START, "inside")
    return builder.compile()


def asking(question: str) -> Any:
    return one_node(lambda _: {"answer": interrupt(question)})


def test_a_graph_that_is_used_by_itself_gets_its_answer_inside_another_one_too() -> None:
    with KeepsetSaver("memory:") as own, KeepsetSaver("memory:") as around:
        graph = own.bind(one_node(asking("which?")))
        graph.invoke({}, CONFIG)  # asks, in a LangGraph thread of the same name
        graph.invoke(Command(resume="that"), CONFIG)
        outer: Any = one_node(graph)
        outer.checkpointer = around
        assert "__interrupt__" in outer.invoke({}, CONFIG)
        assert outer.invoke(Command(resume="this"), CONFIG) == {"answer": "this"}


def test_questions_are_compared_in_a_bound_graph_that_a_function_calls() -> None:
    with KeepsetSaver("memory:") as own, KeepsetSaver("memory:") as around:

        def deployed(question: str) -> Any:
            inner = own.bind(asking(question))

            def call(state: State) -> Any:
                return inner.invoke(state)

            return around.bind(one_node(call))

        deployed("which?").invoke({}, CONFIG)
        with pytest.raises(SchemaError) as caught:
            deployed("who?").invoke(Command(resume="this"), CONFIG)
        assert caught.value.code == "langgraph.question-changed"
        graph = deployed("which?")
        assert graph.invoke(Command(resume="this"), CONFIG) == {"answer": "this"}


@pytest.mark.parametrize("called", ["as a node", "by a function"])
def test_a_bound_graph_is_not_run_with_a_saver_that_cannot_store_its_pictures(called: str) -> None:
    with KeepsetSaver("memory:") as own:
        inner = own.bind(asking("which?"))

        def call(state: State) -> Any:
            return inner.invoke(state)

        outer: Any = one_node(inner if called == "as a node" else call)
        outer.checkpointer = InMemorySaver()
        with pytest.raises(UsageError, match="InMemorySaver") as caught:
            outer.invoke({}, CONFIG)
        assert caught.value.code == "langgraph.checkpointer"
