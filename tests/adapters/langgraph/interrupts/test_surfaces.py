"""Wherever LangGraph lets a question be asked, its answer is compared; nothing secret is kept."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.types import Command, interrupt

import keepset as ks
from keepset.errors import SchemaError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.graph.deploys import CONFIG, Compiled, Deploys, in_a_row

SECRET = "sk-" + "proj-" + "aB3" * 16


def flow_of(first: str, second: str, *, later: bool = False) -> Any:
    """A workflow of the functional API that asks by itself and in a task."""
    if later:

        @task
        async def asks_later(_: int) -> Any:
            return interrupt(second)

        @entrypoint()
        async def flows_later(given: int) -> list[Any]:
            return [interrupt(first), await asks_later(given)]

        return flows_later

    @task
    def asks(_: int) -> Any:
        return interrupt(second)

    @entrypoint()
    def flows(given: int) -> list[Any]:
        return [interrupt(first), asks(given).result()]

    return flows


@pytest.mark.parametrize("changed", [("a!", "b?"), ("a?", "b!")])
def test_a_workflow_and_its_tasks_get_only_their_own_answers(
    deploys: Deploys, changed: tuple[str, str]
) -> None:
    later = deploys.how == "async"
    given: list[Any] = [1, Command(resume="A"), Command(resume="B")]
    refused = 1 + (changed[0] == "a?")
    for call in given[:refused]:
        deploys.call(deploys.deploy(Compiled(flow_of("a?", "b?", later=later))), call)
    with pytest.raises(SchemaError) as error:
        deploys.call(deploys.deploy(Compiled(flow_of(*changed, later=later))), given[refused])
    assert error.value.code == "langgraph.question-changed"
    for call in given[refused:]:
        out = deploys.call(deploys.deploy(Compiled(flow_of("a?", "b?", later=later))), call)
    assert out == ["A", "B"]


def test_a_question_may_be_asked_by_a_tool(deploys: Deploys) -> None:
    def tool_that_asks(question: str) -> Any:
        @tool
        def asks(amount: int) -> str:
            """Ask."""
            return str(interrupt(f"{question} {amount}"))

        work: Any = RunnableLambda(lambda _: {"approved": asks.invoke({"amount": 100})})
        return in_a_row("human", work)

    deploys.call(deploys.deploy(tool_that_asks("pay?")), {"total": 1})
    with pytest.raises(SchemaError) as refused:
        deploys.call(deploys.deploy(tool_that_asks("delete?")), Command(resume="yes"))
    assert refused.value.code == "langgraph.question-changed"
    out = deploys.call(deploys.deploy(tool_that_asks("pay?")), Command(resume="yes"))
    assert out["approved"] == "yes"


def test_a_secret_in_a_question_is_in_no_row_and_in_no_error(tmp_path: Any) -> None:
    def asks(tail: str) -> Any:
        def ask(_: Any) -> dict[str, Any]:
            return {"approved": interrupt({"api_key": SECRET, "text": f"use {SECRET} {tail}"})}

        return in_a_row("human", ask).compile()

    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        saver = KeepsetSaver(store)
        saver.bind(asks("now")).invoke({"total": 1}, CONFIG)
        with pytest.raises(SchemaError) as refused:
            saver.bind(asks("later")).invoke(Command(resume="yes"), CONFIG)
        assert SECRET not in str(refused.value)
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert SECRET.encode() not in stored
    assert b"langgraph#asked" in stored


def test_a_saver_that_is_not_bound_compares_nothing(on_disk: Deploys) -> None:
    def graph(question: str) -> Any:
        builder = in_a_row("human", lambda _: {"approved": interrupt(question)})
        return builder.compile(checkpointer=on_disk.saver())

    graph("pay?").invoke({"total": 1}, CONFIG)
    assert graph("delete?").invoke(Command(resume="yes"), CONFIG)["approved"] == "yes"


def test_what_is_read_of_langgraph_is_where_it_is_looked_for(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    graph = deploys.deploy(in_a_row("human", lambda _: {"approved": interrupt("?")}))
    with caplog.at_level(logging.WARNING, "keepset"):
        deploys.call(graph, {"total": 1})
        deploys.call(graph, Command(resume="yes"))
    assert caplog.records == []
