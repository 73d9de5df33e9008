"""A node that a thread waits at gets another name."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from keepset.errors import SchemaError, UsageError
from tests.adapters.langgraph.graph.deploys import (
    CONFIG,
    Deploys,
    Order,
    approve,
    draft,
    in_a_row,
    review,
)

RENAMED = {"approve": "review"}


def test_a_resume_at_a_node_that_was_renamed_is_refused_by_name(deploys: Deploys) -> None:
    deploys.call(deploys.deploy(in_a_row("approve", approve)), {"total": 1})
    graph = deploys.deploy(in_a_row("review", review))
    with pytest.raises(SchemaError, match=r"thread order-7: .*node approve") as refused:
        deploys.call(graph, Command(resume="yes"))
    assert refused.value.code == "langgraph.node-gone"
    assert 'renamed={"approve": "…"}' in refused.value.hint


def test_a_refusal_changes_nothing_and_the_old_code_still_gets_its_answer(
    deploys: Deploys,
) -> None:
    old = in_a_row("approve", approve)
    deploys.call(deploys.deploy(old), {"total": 1})
    graph = deploys.deploy(in_a_row("review", review))
    before = graph.get_state(CONFIG)
    with pytest.raises(SchemaError):
        deploys.call(graph, Command(resume="yes"))
    assert graph.get_state(CONFIG) == before
    assert before.values == {"total": 100}
    assert len(list(graph.get_state_history(CONFIG))) == 3
    out = deploys.call(deploys.deploy(old), Command(resume="yes"))
    assert out == {"total": 100, "approved": "yes"}


def test_the_answer_arrives_at_a_node_that_is_declared_to_be_renamed(deploys: Deploys) -> None:
    deploys.call(deploys.deploy(in_a_row("approve", approve)), {"total": 1})
    graph = deploys.deploy(in_a_row("review", review), renamed=RENAMED)
    assert graph.get_state(CONFIG).next == ("review",)
    out = deploys.call(graph, Command(resume="yes"))
    assert out == {"total": 100, "approved": "yes"}
    assert graph.get_state(CONFIG).next == ()


def test_another_process_refuses_by_name_or_takes_the_answer_where_it_belongs(
    on_disk: Deploys,
) -> None:
    assert on_disk.elsewhere("approve", {"total": 1}) == {"total": 100}
    assert on_disk.elsewhere("review", {"resume": "yes"}) == {"code": "langgraph.node-gone"}
    out = on_disk.elsewhere("review", {"resume": "yes"}, renamed=RENAMED)
    assert out == {"total": 100, "approved": "yes"}


def test_an_answer_under_the_id_that_the_human_was_shown_arrives(deploys: Deploys) -> None:
    shown = deploys.call(deploys.deploy(in_a_row("approve", approve)), {"total": 1})
    asked = shown["__interrupt__"][0].id
    graph = deploys.deploy(in_a_row("review", review), renamed=RENAMED)
    now = graph.get_state(CONFIG).interrupts[0].id
    assert now != asked
    assert deploys.call(graph, Command(resume={asked: "yes"}))["approved"] == "yes"


def test_answers_that_were_given_before_the_rename_are_not_asked_for_again(
    deploys: Deploys,
) -> None:
    def twice(_: Any) -> dict[str, Any]:
        return {"approved": interrupt("first?") + interrupt("second?")}

    graph = deploys.deploy(in_a_row("approve", twice))
    deploys.call(graph, {"total": 1})
    deploys.call(graph, Command(resume="a"))
    graph = deploys.deploy(in_a_row("review", twice), renamed=RENAMED)
    assert [one.value for one in graph.get_state(CONFIG).interrupts] == ["second?"]
    assert deploys.call(graph, Command(resume="b"))["approved"] == "ab"


def test_a_packet_that_was_sent_to_the_old_name_is_delivered(deploys: Deploys) -> None:
    class Wide(TypedDict, total=False):
        done: Annotated[list[str], operator.add]

    def each(item: Any) -> dict[str, Any]:
        return {"done": [item + interrupt(item)] if item == "b" else [item]}

    def builder(name: str) -> Any:
        made: Any = StateGraph(Wide)
        made.add_node("draft", lambda _: {"done": ["draft"]})
        made.add_node(name, each)
        made.add_edge(START, "draft")
        made.add_conditional_edges("draft", lambda _: [Send(name, "a"), Send(name, "b")], [name])
        return made

    deploys.call(deploys.deploy(builder("approve")), {"done": []})
    graph = deploys.deploy(builder("review"), renamed=RENAMED)
    assert deploys.call(graph, Command(resume="!"))["done"] == ["draft", "a", "b!"]


def test_a_join_to_which_the_old_name_has_come_goes_on(deploys: Deploys) -> None:
    class Wide(TypedDict, total=False):
        done: Annotated[list[str], operator.add]

    def builder(name: str) -> Any:
        made: Any = StateGraph(Wide)
        made.add_node("first", lambda _: {"done": ["first"]})
        made.add_node("left", lambda _: {"done": [interrupt("left?")]})
        made.add_node(name, lambda _: {"done": ["right"]})
        made.add_node("last", lambda _: {"done": ["last"]})
        made.add_edge(START, "first")
        made.add_edge("first", "left")
        made.add_edge(START, name)
        made.add_edge(["left", name], "last")
        made.add_edge("last", END)
        return made

    deploys.call(deploys.deploy(builder("approve")), {"done": []})
    graph = deploys.deploy(builder("review"), renamed=RENAMED)
    done = deploys.call(graph, Command(resume="left"))["done"]
    assert sorted(done) == ["first", "last", "left", "right"]


def test_what_is_asked_under_the_new_name_takes_the_place_of_what_was_asked_under_the_old(
    deploys: Deploys,
) -> None:
    def twice(_: Any) -> dict[str, Any]:
        return {"approved": interrupt("first?") + interrupt("second?")}

    deploys.call(deploys.deploy(in_a_row("approve", twice)), {"total": 1})
    graph = deploys.deploy(in_a_row("review", twice), renamed=RENAMED)
    deploys.call(graph, Command(resume="a"))
    graph = deploys.deploy(in_a_row("review", twice), renamed=RENAMED)
    assert [one.value for one in graph.get_state(CONFIG).interrupts] == ["second?"]
    assert deploys.call(graph, Command(resume="b"))["approved"] == "ab"


def test_a_function_that_is_renamed_with_its_node_is_no_other_one(deploys: Deploys) -> None:
    def approve(_: Any) -> dict[str, Any]:
        return {"approved": interrupt("sure?")}

    def review(_: Any) -> dict[str, Any]:
        return {"approved": interrupt("sure?")}

    deploys.call(deploys.deploy(in_a_row("approve", approve)), {"total": 1})
    graph = deploys.deploy(in_a_row("review", review), renamed=RENAMED)
    assert deploys.call(graph, Command(resume="yes"))["approved"] == "yes"


def test_a_rename_does_not_hand_the_answer_to_another_function_that_the_node_calls(
    deploys: Deploys,
) -> None:
    def ask_to_pay() -> Any:
        return interrupt("sure?")

    def ask_to_delete() -> Any:
        return interrupt("sure?")

    old = in_a_row("approve", lambda _: {"approved": ask_to_pay()})
    deploys.call(deploys.deploy(old), {"total": 1})
    new = in_a_row("review", lambda _: {"approved": ask_to_delete()})
    with pytest.raises(SchemaError) as refused:
        deploys.call(deploys.deploy(new, renamed=RENAMED), Command(resume="yes"))
    assert refused.value.code == "langgraph.question-moved"


def test_a_graph_inside_goes_on_where_it_was_though_its_node_was_renamed(
    deploys: Deploys,
) -> None:
    drafted: list[int] = []

    def drafts(_: Order) -> dict[str, Any]:
        drafted.append(1)
        return {"total": 100}

    def inner(name: str) -> Any:
        builder: Any = StateGraph(Order)
        builder.add_node("draft", drafts)
        builder.add_node(name, lambda _: {"approved": interrupt("sure?")})
        builder.add_edge(START, "draft")
        builder.add_edge("draft", name)
        return builder.compile()

    deploys.call(deploys.deploy(in_a_row("team", inner("approve"))), {"total": 1})
    renamed = {"team": "crew", "approve": "review"}
    graph = deploys.deploy(in_a_row("crew", inner("review")), renamed=renamed)
    waits = graph.get_state(CONFIG, subgraphs=True).tasks[0].state
    assert waits.next == ("review",)
    out = deploys.call(graph, Command(resume="yes"))
    assert out == {"total": 100, "approved": "yes"}
    assert drafted == [1]


def test_a_node_that_gets_one_more_way_in_keeps_its_answers(deploys: Deploys) -> None:
    def twice(_: Any) -> dict[str, Any]:
        return {"approved": interrupt("first?") + interrupt("second?")}

    old = in_a_row("approve", twice)
    graph = deploys.deploy(old)
    deploys.call(graph, {"total": 1})
    deploys.call(graph, Command(resume="a"))
    new = in_a_row("approve", twice)
    new.add_node("left", draft)
    new.add_node("right", draft)
    new.add_edge(["left", "right"], "approve")
    assert deploys.call(deploys.deploy(new), Command(resume="b"))["approved"] == "ab"


@pytest.mark.parametrize("renamed", [{"approve": "draft"}, {"draft": "review"}, {"x": "nobody"}])
def test_a_rename_that_the_graph_contradicts_is_refused(renamed: dict[str, str]) -> None:
    deploys = Deploys("memory:")
    builder = in_a_row("review" if "draft" in renamed else "approve", approve)
    with pytest.raises(UsageError) as refused:
        deploys.deploy(builder, renamed=renamed)
    assert refused.value.code == "langgraph.renamed"
    deploys.close()
