"""What LangGraph itself makes of rules in its states; runs where it is installed."""

import operator
from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from keepset.contracts import Keep, check

graphs = pytest.importorskip("langgraph.graph")
managed = pytest.importorskip("langgraph.managed")

RULE = Keep(max_bytes=9)


def after_update(annotation: Any) -> object:
    state = TypedDict("State", {"field": annotation})  # type: ignore[misc]  # made from a parameter
    graph = graphs.StateGraph(state)
    graph.add_node("node", lambda _: {"field": [2]})
    graph.add_edge(graphs.START, "node")
    return graph.compile().invoke({"field": [1]})["field"]


def found(annotation: Any) -> list[str]:
    state = TypedDict("State", {"field": annotation})  # type: ignore[misc]  # made from a parameter
    return [problem.code for problem in check(state)]


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
    hidden = TypedDict("State", {"steps": Annotated[managed.RemainingSteps, RULE]})  # type: ignore[misc]  # known at run time
    plain = TypedDict("State", {"steps": managed.RemainingSteps})  # type: ignore[misc]  # as above
    assert "steps" in graphs.StateGraph(hidden).channels
    assert "steps" not in graphs.StateGraph(plain).channels
    assert [problem.code for problem in check(hidden)] == ["marker.order"]
