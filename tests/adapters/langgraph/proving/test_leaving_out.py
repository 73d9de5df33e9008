"""A run that is resumed without a field goes wrong where it is read, and there alone."""

from __future__ import annotations

from typing import Any

from tests.adapters.langgraph.proving import graphs
from tests.adapters.langgraph.proving.proofs import Proof, texts

HI: Any = {"question": "hi"}


def test_a_field_is_needed_from_where_it_is_set_to_where_it_is_read() -> None:
    proof = Proof(graphs.line, HI)
    assert proof.wrong_at("question") == ["after input"]
    assert proof.wrong_at("ids") == ["after find", "after check"]
    assert proof.wrong_at("docs") == []
    assert proof.wrong_at("tries") == []


def test_what_a_node_lacks_is_not_there_as_if_it_had_never_been_set() -> None:
    failure = Proof(graphs.line, HI).outcome("after find", "ids").failure
    assert failure is not None
    assert (failure.kind, failure.steps, failure.code) == ("KeyError", ("answer",), "")


def test_a_field_with_a_reducer_begins_anew() -> None:
    proof = Proof(graphs.line, HI)
    assert texts(proof.outcome(None, "log"), "log") == ["found", "answered"]
    assert texts(proof.outcome("after find", "log"), "log") == ["answered"]


def test_a_field_that_counts_is_needed_on_each_round_but_the_first() -> None:
    proof = Proof(graphs.loop, HI)
    assert proof.wrong_at("tries") == ["after try", "after try (2)"]
    assert len(proof.outcome("after try (2)", "tries").steps) == 5


def test_what_parallel_nodes_gave_is_needed_by_what_joins_them() -> None:
    assert Proof(graphs.branches, HI).wrong_at("log") == ["after left+right"]


def test_a_field_in_the_arguments_of_a_send_is_left_out_there_as_well() -> None:
    proof = Proof(graphs.sends, HI)
    assert proof.wrong_at("question") == ["after input", "after plan"]
    failure = proof.outcome("after plan", "question").failure
    assert failure is not None
    assert failure.code == "restore.not-stored"
    assert proof.wrong_at("ids") == []


def test_a_field_of_a_graph_inside_is_needed_between_its_own_nodes() -> None:
    proof = Proof(graphs.inside, HI)
    assert proof.wrong_at("one.draft") == ["after one.write"]
    assert proof.wrong_at("two.draft") == ["after two.write"]


def test_a_field_that_graphs_share_is_left_out_of_all_of_them() -> None:
    wrong = Proof(graphs.inside, HI).wrong_at("question")
    assert wrong == ["after input", "after one.input", "after one.write", "after two.input"]


def test_what_a_graph_inside_has_written_is_lost_with_the_process_alone() -> None:
    proof = Proof(graphs.inside, HI)
    assert proof.wrong_at("log") == ["after two.input", "after two.write", "after one+two"]


def test_a_field_is_there_after_a_question_unless_the_process_died_before_the_answer() -> None:
    proof = Proof(graphs.asking, HI, answers=("yes", "very"))
    assert proof.wrong_at("ids") == [
        "after find",
        "at question in ask",
        "at question in ask (2)",
        "after ask+beside",
    ]
    assert proof.outcome(None, "ids").failure is None


def test_what_a_finished_node_wrote_beside_a_question_is_there_as_long_as_the_process_lives() -> (
    None
):
    proof = Proof(graphs.asking, HI, answers=("yes", "very"))
    whole = ["found", "yes", "very", "beside", "answered"]
    assert texts(proof.outcome(None, "log"), "log") == whole
    assert texts(proof.outcome("after input", "log"), "log") == whole
    lost = proof.outcome("at question in ask", "log")
    assert texts(lost, "log") == ["yes", "very", "answered"]


def test_a_field_is_there_in_the_next_turn_unless_the_process_died_in_between() -> None:
    proof = Proof(graphs.branches, HI, {"tries": 3})
    wrong = proof.wrong_at("log")
    assert "after join" in wrong
    assert "after input" not in wrong


def test_what_a_workflow_of_the_functional_api_hands_on_to_its_next_turn_is_its_field() -> None:
    proof = Proof(graphs.function, 3, 1, answers=(4, 5))
    assert list(proof.target.fields) == ["__previous__"]
    assert proof.wrong_at("__previous__") == [
        "after flow",
        "after input (2)",
        "at question in flow (2)",
    ]
    assert texts(proof.outcome("after flow", "__previous__"), "__end__") == ["5"]


def test_nodes_on_a_loop_lack_fields_in_the_same_way() -> None:
    proof = Proof(graphs.later, HI, answers=("yes",))
    assert proof.wrong_at("ids") == ["after search", "at question in ask", "after ask+beside"]
    assert proof.wrong_at("question") == ["after input"]
