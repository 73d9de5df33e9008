"""An answer reaches the question that was asked, whatever became of the code since."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from keepset.errors import SchemaError, UsageError
from tests.adapters.langgraph.graph.deploys import (
    CONFIG,
    Deploys,
    delete_then_pay,
    in_a_row,
    pay,
)


def ask_to_pay() -> Any:
    return interrupt("sure?")


def ask_to_delete() -> Any:
    return interrupt("sure?")


def by_paying(_: Any) -> dict[str, Any]:
    return {"approved": ask_to_pay()}


def by_deleting(_: Any) -> dict[str, Any]:
    return {"approved": ask_to_delete()}


def waits(deploys: Deploys, work: Callable[[Any], Any], **options: Any) -> Any:
    graph = deploys.deploy(in_a_row("human", work), **options)
    return deploys.call(graph, {"total": 1})


def answered(deploys: Deploys, work: Callable[[Any], Any], **options: Any) -> Any:
    graph = deploys.deploy(in_a_row("human", work), **options)
    return deploys.call(graph, Command(resume="yes"))


def refused(deploys: Deploys, work: Callable[[Any], Any], **options: Any) -> SchemaError:
    with pytest.raises(SchemaError) as error:
        answered(deploys, work, **options)
    return error.value


def test_an_answer_does_not_reach_a_question_that_was_put_before_the_one_it_was_given_to(
    deploys: Deploys,
) -> None:
    waits(deploys, pay)
    error = refused(deploys, delete_then_pay)
    assert error.code == "langgraph.question-changed"
    assert "node human, interrupt 0" in error.message
    assert "100" not in str(error)
    assert answered(deploys, pay) == {"total": 100, "approved": "yes"}


def test_another_process_refuses_the_answer_as_well(on_disk: Deploys) -> None:
    assert on_disk.elsewhere("pay", {"total": 1}) == {"total": 100}
    out = on_disk.elsewhere("delete then pay", {"resume": "yes"})
    assert out == {"code": "langgraph.question-changed"}
    out = on_disk.elsewhere("pay", {"resume": "yes"})
    assert out == {"total": 100, "approved": "yes"}


def test_the_node_does_not_get_the_answer_that_is_refused(deploys: Deploys) -> None:
    got: list[Any] = []

    def spying(_: Any) -> dict[str, Any]:
        got.append(interrupt("delete the account?"))
        return {}

    waits(deploys, pay)
    assert refused(deploys, spying).code == "langgraph.question-moved"
    assert got == []


def test_another_function_is_refused_though_it_asks_the_same(deploys: Deploys) -> None:
    waits(deploys, by_paying)
    error = refused(deploys, by_deleting, on_changed_interrupt="accept")
    assert error.code == "langgraph.question-moved"
    assert "ask_to_pay" in error.message
    assert "ask_to_delete" in error.message


def test_a_question_of_another_value_is_accepted_where_that_is_declared(deploys: Deploys) -> None:
    waits(deploys, pay)
    out = answered(deploys, delete_then_pay, on_changed_interrupt="accept")
    assert "approved" not in out  # the second question is asked now
    assert deploys.call(
        deploys.deploy(in_a_row("human", delete_then_pay)), Command(resume="no")
    ) == {"total": 100, "checked": "yes", "approved": "no"}


def test_every_question_of_a_node_is_compared(deploys: Deploys) -> None:
    def first_two(_: Any) -> dict[str, Any]:
        return {"checked": interrupt("a?"), "approved": interrupt("b?")}

    waits(deploys, first_two)
    assert "approved" not in answered(deploys, first_two)

    def other_second(_: Any) -> dict[str, Any]:
        return {"checked": interrupt("a?"), "approved": interrupt("c?")}

    other_second.__code__ = other_second.__code__.replace(co_qualname=first_two.__qualname__)
    error = refused(deploys, other_second)
    assert (error.code, "interrupt 1" in error.message) == ("langgraph.question-changed", True)


def test_a_question_that_is_asked_anew_may_be_another(deploys: Deploys) -> None:
    waits(deploys, pay)
    graph = deploys.deploy(in_a_row("human", delete_then_pay))
    here = graph.get_state(CONFIG).config
    asked = deploys.call(graph, None, here)
    assert [one.value for one in asked["__interrupt__"]] == ["delete the account?"]
    deploys.call(graph, Command(resume="no"))
    out = deploys.call(graph, Command(resume="yes"))
    assert out == {"total": 100, "checked": "no", "approved": "yes"}


def test_a_node_that_is_tried_again_is_refused_again(deploys: Deploys) -> None:
    waits(deploys, by_paying)
    retry = RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False)
    builder = in_a_row("human", by_deleting, retry_policy=retry)
    with pytest.raises(SchemaError):
        deploys.call(deploys.deploy(builder), Command(resume="yes"))
    assert deploys.call(deploys.deploy(in_a_row("human", by_paying)), None)["approved"] == "yes"


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_questions_are_compared_under_every_durability(on_disk: Deploys, durability: str) -> None:
    graph = on_disk.deploy(in_a_row("human", pay))
    on_disk.call(graph, {"total": 1}, durability=durability)
    assert refused(on_disk, delete_then_pay).code == "langgraph.question-changed"
    assert answered(on_disk, pay)["approved"] == "yes"


def test_questions_inside_a_graph_inside_are_compared(deploys: Deploys) -> None:
    waits(deploys, in_a_row("human", pay).compile())
    assert refused(deploys, in_a_row("human", delete_then_pay).compile()).code == (
        "langgraph.question-changed"
    )
    out = answered(deploys, in_a_row("human", pay).compile())
    assert out == {"total": 100, "approved": "yes"}


class Wide(TypedDict, total=False):
    done: Annotated[list[str], operator.add]


def test_an_answer_goes_to_the_task_that_asked_and_not_to_one_that_asks_only_now(
    deploys: Deploys,
) -> None:
    fails = [True]

    def eager(_: Any) -> dict[str, Any]:
        if fails:
            while not graph.checkpointer.get_tuple(CONFIG).pending_writes:
                pass  # the other one has not asked yet
            fails.clear()
            msg = "down"
            raise ConnectionError(msg)
        return {"done": ["eager " + interrupt("delete?")]}

    def asks(_: Any) -> dict[str, Any]:
        return {"done": ["asks " + interrupt("pay?")]}

    builder: Any = StateGraph(Wide)
    builder.add_node("a", eager)
    builder.add_node("b", asks)
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    builder.add_edge(["a", "b"], END)
    graph = deploys.deploy(builder)
    with pytest.raises(ConnectionError):
        deploys.call(graph, {"done": []}, durability="sync")
    out = deploys.call(graph, Command(resume="yes"))
    assert [one.value for one in out["__interrupt__"]] == ["delete?"]
    assert sorted(deploys.call(graph, Command(resume="no"))["done"]) == ["asks yes", "eager no"]


def test_an_answer_may_come_before_its_question_where_none_waits(deploys: Deploys) -> None:
    graph = deploys.deploy(in_a_row("human", pay), compiled={"interrupt_before": ["human"]})
    deploys.call(graph, {"total": 1})
    assert deploys.call(graph, Command(resume="yes"))["approved"] == "yes"


def test_an_answer_still_counts_after_the_state_was_put_right(deploys: Deploys) -> None:
    waits(deploys, pay)
    graph = deploys.deploy(in_a_row("human", pay))
    graph.update_state(CONFIG, {"total": 50})
    assert deploys.call(graph, Command(resume="yes")) == {"total": 50, "approved": "yes"}


def test_nobody_sees_what_is_stored_beside_an_interrupt(deploys: Deploys) -> None:
    waits(deploys, pay)
    saver = deploys.saver()
    found = saver.get_tuple(CONFIG)
    assert found is not None
    assert [channel for _, channel, _ in found.pending_writes or []] == ["__interrupt__"]
    listed = next(saver.list(CONFIG))
    assert [channel for _, channel, _ in listed.pending_writes or []] == ["__interrupt__"]


def test_a_policy_that_is_not_known_is_refused() -> None:
    deploys = Deploys("memory:")
    with pytest.raises(UsageError) as error:
        deploys.deploy(in_a_row("human", pay), on_changed_interrupt="maybe")
    assert error.value.code == "langgraph.on-changed-interrupt"
    deploys.close()
