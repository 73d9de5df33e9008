"""A rule that hides a host's own marker is found, and a rule before it is not."""

import operator
from typing import Annotated, Any, NotRequired

import pytest

from keepset.contracts import Keep, check
from tests.contracts.making import state


def append(old: list[int], new: list[int]) -> list[int]:
    return old + new


def audited(value: object) -> object:
    return value


class TwoArguments:
    def __init__(self, one: int, two: int) -> None:
        self.sum = one + two


Appended = Annotated[list[int], append]
RULE = Keep(max_bytes=9)


def codes(annotation: Any) -> list[str]:
    made = state(field=annotation)
    return [problem.code for problem in check(made)]


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[list[int], operator.add, RULE],
        Annotated[Appended, RULE],
        Annotated[list[int], append, "a note", RULE],
        NotRequired[Annotated[list[int], append, RULE]],
        Annotated[NotRequired[Annotated[list[int], append]], RULE],
        Annotated[list[int], lambda old, new: old + new, RULE],
    ],
)
def test_a_rule_after_a_reducer_is_found(annotation: Any) -> None:
    assert codes(annotation) == ["marker.order"]


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[list[int], RULE, operator.add],
        Annotated[list[int], RULE, append],
        Annotated[list[int], "a note", RULE, append],
        Annotated[NotRequired[Annotated[list[int], RULE]], append],
        Annotated[list[int], audited, RULE],
        Annotated[list[int], TwoArguments, RULE],
        Annotated[list[int], "a note", RULE],
        Annotated[list[int], append, RULE, "a note"],
    ],
)
def test_a_rule_that_hides_no_reducer_is_not_found(annotation: Any) -> None:
    assert codes(annotation) == []
