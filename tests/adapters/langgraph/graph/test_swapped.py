"""A node that was a graph is a function after a deploy, or the reverse; a thread waits there."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from keepset import Resume
from keepset.errors import SchemaError
from tests.adapters.langgraph.graph.deploys import CONFIG, Deploys, Order, ask, in_a_row

ran: list[str] = []


def plain(_: Order) -> dict[str, Any]:
    ran.append("plain")
    return {"checked": "by a function"}


def team(**options: Any) -> Any:
    """A graph of one node, in which a human is asked."""
    builder: Any = StateGraph(Order)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    return builder.compile(**options)


def deep(node: Any) -> Any:
    """A graph that has a node inside another graph."""
    builder: Any = StateGraph(Order)
    builder.add_node("team", node)
    builder.add_edge(START, "team")
    return in_a_row("desk", builder.compile())


OLD: dict[str, Any] = {
    "that asks": in_a_row("team", team()),
    "that stops before a node": in_a_row("team", team(interrupt_before=["ask"])),
    "that lasts": in_a_row("team", team(checkpointer=True)),
    "that lasts and stops before a node": in_a_row(
        "team", team(checkpointer=True, interrupt_before=["ask"])
    ),
    "deep inside": deep(team()),
}


def new(old: str) -> Any:
    return deep(plain) if old == "deep inside" else in_a_row("team", plain)


def refused(deploys: Deploys, graph: Any, given: Any) -> SchemaError:
    with pytest.raises(SchemaError) as error:
        deploys.call(graph, given)
    reason = graph.checkpointer.can_resume(CONFIG).reasons[0]
    assert reason.verdict is Resume.INCOMPATIBLE
    assert (reason.code, reason.hint) == (error.value.code, error.value.hint)
    assert reason.message in error.value.message
    return error.value


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("given", [Command(resume="yes"), None], ids=["answered", "gone on with"])
def test_a_thread_that_waits_inside_a_graph_is_not_gone_on_with_by_a_function(
    deploys: Deploys, old: str, given: Any
) -> None:
    ran.clear()
    deploys.call(deploys.deploy(OLD[old]), {"total": 1})
    error = refused(deploys, deploys.deploy(new(old)), given)
    assert error.code == "langgraph.graph-gone"
    assert "inside node team, which was a graph" in error.message
    assert error.message.startswith("thread order-7")
    assert "finish the thread with the code that wrote it" in error.hint
    assert ran == []


@pytest.mark.parametrize("old", OLD)
def test_the_answer_still_arrives_at_the_graph_that_asked(deploys: Deploys, old: str) -> None:
    deploys.call(deploys.deploy(OLD[old]), {"total": 1})
    refused(deploys, deploys.deploy(new(old)), Command(resume="yes"))
    graph = deploys.deploy(OLD[old])
    assert graph.checkpointer.can_resume(CONFIG).verdict is Resume.AS_IS
    out = deploys.call(graph, None if "stops" in old else Command(resume="yes"))
    if "stops" in old:
        out = deploys.call(graph, Command(resume="yes"))
    assert out["approved"] == "yes"


def test_a_renamed_node_that_is_no_graph_any_more_is_refused_as_well(deploys: Deploys) -> None:
    deploys.call(deploys.deploy(OLD["that asks"]), {"total": 1})
    graph = deploys.deploy(in_a_row("desk", plain), renamed={"team": "desk"})
    error = refused(deploys, graph, Command(resume="yes"))
    assert (error.code, "node desk" in error.message) == ("langgraph.graph-gone", True)


def test_a_thread_that_has_not_begun_with_the_graph_goes_on_with_the_function(
    deploys: Deploys,
) -> None:
    ran.clear()
    before = {"interrupt_before": ["team"]}
    for lasts in (None, True):
        deploys.call(
            deploys.deploy(in_a_row("team", team(checkpointer=lasts)), compiled=before),
            {"total": 1},
        )
        graph = deploys.deploy(in_a_row("team", plain), compiled=before)
        assert graph.checkpointer.can_resume(CONFIG).verdict is Resume.AS_IS
        assert deploys.call(graph, None)["checked"] == "by a function"
    assert ran == ["plain", "plain"]


def test_a_new_input_begins_with_the_function(deploys: Deploys) -> None:
    deploys.call(deploys.deploy(OLD["that asks"]), {"total": 1})
    graph = deploys.deploy(in_a_row("team", plain))
    assert deploys.call(graph, {"total": 2})["checked"] == "by a function"


def test_an_answer_to_a_function_does_not_reach_a_graph_that_has_taken_its_place(
    deploys: Deploys,
) -> None:
    deploys.call(deploys.deploy(in_a_row("team", ask)), {"total": 1})
    graph = deploys.deploy(OLD["that asks"])
    error = refused(deploys, graph, Command(resume="yes"))
    assert (error.code, "node team" in error.message) == ("langgraph.question-moved", True)
    graph = deploys.deploy(in_a_row("team", ask))
    assert deploys.call(graph, Command(resume="yes"))["approved"] == "yes"


def test_a_function_that_calls_the_graph_goes_on_with_what_waits_in_it(deploys: Deploys) -> None:
    inner = team()
    deploys.call(deploys.deploy(in_a_row("team", inner)), {"total": 1})

    def calls(state: Order) -> Any:
        return inner.invoke(state)

    graph = deploys.deploy(in_a_row("team", calls))
    assert deploys.call(graph, Command(resume="yes"))["approved"] == "yes"


def asks_and_calls(inner: Any) -> Any:
    def both(state: Order) -> Any:
        return {**inner.invoke(state), "checked": interrupt("sure?")}

    return both


def test_a_function_that_asks_and_calls_a_graph_is_not_taken_for_one(deploys: Deploys) -> None:
    def quiet(_: Order) -> dict[str, Any]:
        return {"approved": "no need"}

    builder: Any = StateGraph(Order)
    builder.add_node("quiet", quiet)
    builder.add_edge(START, "quiet")
    calls: list[Any] = [{"total": 1}, Command(resume="yes")]
    for given in calls:
        graph = deploys.deploy(in_a_row("team", asks_and_calls(builder.compile())))
        out = deploys.call(graph, given)
    assert (out["approved"], out["checked"]) == ("no need", "yes")
