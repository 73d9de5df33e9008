"""The points at which a graph can be ended and resumed, and what runs between them."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START
from langgraph.types import RetryPolicy

from tests.adapters.langgraph.proving import graphs
from tests.adapters.langgraph.proving.graphs import Ask
from tests.adapters.langgraph.proving.proofs import Proof, texts

HI: Any = {"question": "hi"}


@pytest.mark.parametrize(
    ("build", "points"),
    [
        (graphs.line, ["after input", "after find", "after check"]),
        (graphs.loop, ["after input", "after try", "after try (2)"]),
        (graphs.branches, ["after input", "after split", "after left+right"]),
        (graphs.sends, ["after input", "after plan", "after work"]),
        (
            graphs.inside,
            [
                "after input",
                "after one.input",
                "after one.write",
                "after two.input",
                "after two.write",
                "after one+two",
            ],
        ),
    ],
    ids=["line", "loop", "branches", "sends", "inside"],
)
def test_each_checkpoint_that_a_node_comes_after_is_a_point(build: Any, points: list[str]) -> None:
    assert Proof(build, HI).points() == points


def test_a_question_is_a_point_of_its_own_each_time_one_is_asked() -> None:
    proof = Proof(graphs.asking, HI, answers=("yes", "very"))
    assert proof.points() == [
        "after input",
        "after find",
        "at question in ask",
        "at question in ask (2)",
        "after ask+beside",
    ]
    assert texts(proof.outcome(), "log") == ["found", "yes", "very", "beside", "answered"]


def test_a_run_without_an_answer_ends_at_the_question_and_that_is_no_point() -> None:
    outcome = Proof(graphs.asking, HI, answers=("yes",)).outcome()
    assert outcome.points == ("after input", "after find", "at question in ask")
    assert outcome.failure is None
    assert texts(outcome, "answer") == []


def test_questions_of_graphs_side_by_side_are_answered_in_the_order_of_their_names() -> None:
    proof = Proof(lambda: graphs.inside(asks=True), HI, answers=("first", "second"))
    assert proof.points()[-2:] == ["at question in one.polish+two.polish", "after one+two"]
    assert texts(proof.outcome(), "log") == ["one on hi first", "two on hi second"]


def test_the_end_of_a_turn_is_a_point_where_another_turn_follows() -> None:
    proof = Proof(graphs.branches, HI, {"question": "more"})
    assert proof.points() == [
        "after input",
        "after split",
        "after left+right",
        "after join",
        "after input (2)",
        "after split (2)",
        "after left+right (2)",
    ]


def test_nodes_on_a_loop_have_the_same_points() -> None:
    proof = Proof(graphs.later, HI, {"question": "more"}, answers=("yes", "no"))
    once = ["after input", "after search", "at question in ask", "after ask+beside"]
    assert proof.points() == [*once, "after answer", *(f"{point} (2)" for point in once)]


def test_a_workflow_of_the_functional_api_has_its_input_and_its_questions_for_points() -> None:
    proof = Proof(graphs.function, 3, 1, answers=(4, 5))
    assert proof.target.name == "flow"
    turn = ["after input", "at question in flow"]
    assert proof.points() == [*turn, "after flow", *(f"{point} (2)" for point in turn)]
    doubled = ("flow", *3 * ["flow.double"])
    assert proof.outcome().steps[:2] == (doubled, ("flow",))
    assert proof.outcome("after input").steps == proof.outcome().steps
    assert texts(proof.outcome(), "__end__") == ["15"]


def test_a_graph_that_pauses_without_asking_goes_on() -> None:
    proof = Proof(lambda: graphs.line().compile(interrupt_before=["check"]), HI)
    assert proof.points() == ["after input", "after find", "after check"]
    assert proof.outcome("after find").steps == (("find",), ("check",), ("answer",))


def around(inner: Any) -> Any:
    """Make a graph with a node that is, or calls, a graph."""
    builder = graphs.of(Ask, {"find": graphs.find, "inner": inner, "answer": graphs.answer})
    for edge in ((START, "find"), ("find", "inner"), ("inner", "answer")):
        builder.add_edge(*edge)
    return builder


def test_a_graph_inside_without_checkpoints_has_no_points() -> None:
    proof = Proof(lambda: around(graphs.writer("one", checkpointer=False)), HI)
    assert proof.points() == ["after input", "after find", "after inner"]
    assert proof.outcome().steps == (("find",), ("inner",), ("answer",))
    assert proof.wrong_at("ids") == ["after find", "after inner"]


def test_a_graph_that_a_function_calls_is_answered() -> None:
    inner = graphs.writer("one", asks=True)

    def calling(state: Ask) -> Ask:
        return {"log": inner.invoke({"question": state["question"]})["log"]}

    proof = Proof(lambda: around(calling), HI, answers=("yes",))
    assert proof.points() == ["after input", "after find", "at question in inner", "after inner"]
    assert texts(proof.outcome("at question in inner"), "log")[1] == "one on hi yes"


def test_what_runs_side_by_side_runs_in_the_same_order_each_time() -> None:
    seen: list[str] = []

    def noted(name: str) -> Any:
        def note(_: Ask) -> Ask:
            seen.append(name)
            return {}

        return note

    def build() -> Any:
        builder = graphs.of(Ask, {name: noted(name) for name in "dbac"})
        for name in "cdab":
            builder.add_edge(START, name)
        return builder

    proof = Proof(build, HI)
    for _ in range(20):
        proof.outcome("after input")
    assert seen == list("abcd") * 20


def test_a_resume_runs_what_is_left_and_nothing_else() -> None:
    proof = Proof(lambda: graphs.inside(asks=True), HI, answers=("first", "second"))
    assert proof.outcome().steps == proof.outcome("after one.write").steps
    resumed = proof.outcome("at question in one.polish+two.polish")
    assert resumed.steps[-2:] == (("one.polish", "two.polish"), ("end",))
    assert resumed.state == proof.outcome().state


def test_a_node_that_fails_beside_others_is_named_with_them() -> None:
    def fail(_: Ask) -> Ask:
        raise LookupError

    def build() -> Any:
        builder = graphs.of(Ask, {"a": {"log": ["a"]}, "b": fail, "c": {"log": ["c"]}})
        for name in "abc":
            builder.add_edge(START, name)
        return builder

    failure = Proof(build, HI).outcome().failure
    assert failure is not None
    assert (failure.kind, failure.steps) == ("LookupError", ("a", "b", "c"))


def test_a_node_that_is_tried_again_begins_again() -> None:
    def build() -> Any:
        tries: list[int] = []

        def flaky(_: Ask) -> Ask:
            tries.append(1)
            if len(tries) == 1:
                raise ConnectionError
            return {"tries": len(tries)}

        builder: Any = graphs.of(Ask, {"after": {"log": ["after"]}})
        policy = RetryPolicy(initial_interval=0.001, jitter=False)
        builder.add_node("flaky", flaky, retry_policy=policy)
        builder.add_edge(START, "flaky")
        builder.add_edge("flaky", "after")
        return builder

    outcome = Proof(build, HI).outcome()
    assert outcome.steps == (("flaky", "flaky"), ("after",))
    assert texts(outcome, "tries") == ["2"]
