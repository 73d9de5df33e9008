"""A path in `without` that can match nothing is found, where the type tells."""

import collections
import dataclasses
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict

from keepset.contracts import Keep, check
from keepset.contracts.matching import can_match
from keepset.contracts.paths import parse_glob


@dataclasses.dataclass
class Part:
    text: str
    usage_total: int = 0


class Message(BaseModel):
    content: str | list[Part]
    response_metadata: dict[str, Any] = {}


class Reply(Message):
    usage_metadata: dict[str, int] = {}


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    content: str


class Tree(TypedDict):
    children: "list[Tree]"
    leaf: str


@pytest.mark.parametrize(
    ("annotation", "glob", "matches"),
    [
        (list[Message], "*.response_metadata", True),
        (list[Message], "[*].response_metadata.usage", True),
        (list[Message], "[0].content", True),
        (list[Message], "**.usage_*", True),
        (list[Message], "*.usage_metadata", True),
        (list[Message], "*.content[*].text", True),
        (list[Message], "*.content[*].nothing", False),
        (list[Message], "*.content.text", False),
        (list[Message], "response_metadata", False),
        (list[Message], "*.nothing", False),
        (Message | None, "response_metadata", True),
        (dict[str, Part], "any.text", True),
        (dict[str, Part], "any.other", False),
        (dict[str, Part], "**.usage_total", True),
        (collections.deque[Part], "[*].text", True),
        (tuple[int, Part], "[1].text", True),
        (Tree, "**.leaf", True),
        (Tree, "**.nothing", False),
        (str, "*", False),
        (set[str], "*", False),
        (int | None, "**", False),
        (Open, "more", True),
        (dict, "a.b", True),
        (list, "[*].b", True),
        (Any, "a.b", True),
        (list[object], "*.b", True),
    ],
)
def test_whether_a_glob_can_match_is_read_from_the_type(
    annotation: Any, glob: str, *, matches: bool
) -> None:
    assert can_match(annotation, parse_glob(glob)) is matches


def test_a_useless_path_is_found_by_check() -> None:
    class State(TypedDict):
        messages: Annotated[list[Message], Keep(max_bytes=9, without=("*.content", "*.metadata"))]

    (problem,) = check(State)
    assert (problem.severity, problem.code) == ("error", "without.no-match")
    assert "*.metadata" in problem.message
