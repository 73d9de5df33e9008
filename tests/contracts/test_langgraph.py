"""What LangGraph itself makes of rules in its states; runs where it is installed."""

import operator
from typing import Annotated, Any, NotRequired

import pytest

from keepset.contracts import Keep, check
from tests.contracts.making import state

graphs = pytest.importorskip("langgraph.graph")
managed = pytest.importorskip("langgraph.managed")

RULE = Keep(max_bytes=9)


def after_update(annotation: Any) -> object:
    made = state(field=annotation)
    graph = graphs.StateGraph(made)
    graph.add_node("node", lambda _: {"field": [2]})
    graph.add_edge(graphs.START, "node")
    return graph.compile().invoke({"field": [1]})["field"]


def found(annotation: Any) -> list[str]:
    made = state(field=annotation)
    return [problem.code for problem in check(made)]


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[list[int], RULE, operator.add],
        NotRequired[Annotated[list[int], RULE, operator.add]],
        Annotated[NotRequired[list[int]], RULE, operator.add],
    ],
)
def test_a_reducer_after_a_rule_works_and_nothing_is_found(annotation: Any) -> None:
    assert after_update(annotation) == [1, 2]
    assert found(annotation) == []


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[list[int], operator.add, RULE],
        NotRequired[Annotated[list[int], operator.add, RULE]],
        Annotated[NotRequired[Annotated[list[int], operator.add]], RULE],
    ],
)
def test_a_reducer_before_a_rule_is_ignored_and_found(annotation: Any) -> None:
    assert after_update(annotation) == [2]
    assert found(annotation) == ["marker.order"]


def test_a_class_in_place_of_a_rule_is_refused_by_both() -> None:
    with pytest.raises(ValueError, match="reducer"):
        after_update(Annotated[list[int], Keep])
    assert "marker.class" in found(Annotated[list[int], Keep])


def test_a_managed_value_before_a_rule_becomes_plain_state_and_is_found() -> None:
    hidden = state(steps=Annotated[managed.RemainingSteps, RULE])
    plain = state(steps=managed.RemainingSteps)
    assert "steps" in graphs.StateGraph(hidden).channels
    assert "steps" not in graphs.StateGraph(plain).channels
    assert [problem.code for problem in check(hidden)] == ["marker.order"]
