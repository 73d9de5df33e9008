"""Whatever a saver makes of a checkpoint is noticed, with its place, and nothing else is."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from langgraph.types import Send
from pydantic import BaseModel

from keepset.adapters.langgraph.address import config_of
from keepset.adapters.langgraph.exporting_comparing import unlike
from keepset.adapters.langgraph.exporting_reading import Leaving, Task
from keepset.adapters.langgraph.exporting_same import difference
from keepset.adapters.langgraph.types import host_types
from keepset.codec import Codec, TypeRegistry


@dataclass
class Order:
    id: str
    lines: list[Any]


class Model(BaseModel):
    a: int = 1
    inner: Any = None


CODEC = Codec(TypeRegistry(host_types()).with_types({"order/1": Order, "model/1": Model}))


def _leaving() -> Leaving:
    checkpoint: Any = {
        **empty_checkpoint(),
        "channel_values": {"a": [1], "b": "text"},
        "channel_versions": {"a": "1", "b": "2"},
        "versions_seen": {"n": {"a": "1"}},
    }
    metadata = {"source": "loop", "step": 1, "parents": {}}
    tasks = (Task("t1", "p", (("a", 1), ("b", 2))), Task("t2", "p", (("a", 3),)))
    return Leaving("", "parent", checkpoint, metadata, tasks, {}, CODEC, set())


def _tuple(one: Leaving) -> CheckpointTuple:
    at: Any = config_of("t", "", one.id)
    parent: Any = config_of("t", "", one.parent)
    checkpoint: Any = {**one.checkpoint, "channel_values": {**one.checkpoint["channel_values"]}}
    return CheckpointTuple(at, checkpoint, dict(one.metadata), parent, one.writes)  # type: ignore[arg-type] # LangGraph's own


def _with(**changed: Any) -> Callable[[CheckpointTuple], CheckpointTuple]:
    def change(got: CheckpointTuple) -> CheckpointTuple:
        made: Any = {**got.checkpoint, **changed}
        return got._replace(checkpoint=made)

    return change


def _writes(*writes: tuple[str, str, Any]) -> Callable[[CheckpointTuple], CheckpointTuple]:
    return lambda got: got._replace(pending_writes=list(writes))


@pytest.mark.parametrize(
    ("change", "surface", "path"),
    [
        (_with(channel_values={"a": [1]}), "checkpoint", "b"),
        (_with(channel_values={"a": [1], "b": "text", "c": 1}), "checkpoint", "c"),
        (_with(channel_values={"a": [True], "b": "text"}), "state", "a[0]"),
        (_with(channel_versions={"a": "1"}), "checkpoint", "channel_versions"),
        (_with(versions_seen={}), "checkpoint", "versions_seen"),
        (_with(ts="later"), "checkpoint", "ts"),
        (lambda got: got._replace(parent_config=None), "checkpoint", "parent"),
        (lambda got: got._replace(metadata={"source": "loop"}), "metadata", "step"),
        (lambda got: got._replace(metadata={**got.metadata, "step": 1.0}), "metadata", "step"),
        (lambda got: got._replace(metadata={**got.metadata, "step": b"1"}), "metadata", "step"),
        (_writes(("t1", "a", 1), ("t1", "b", 2)), "checkpoint", "writes"),
        (_writes(("t1", "b", 2), ("t1", "a", 1), ("t2", "a", 3)), "checkpoint", "writes"),
        (_writes(("t1", "a", 1), ("t1", "b", 2), ("t2", "a", "3")), "write", "a"),
    ],
)
def test_a_part_that_is_another_one_is_told_with_its_place(
    change: Callable[[CheckpointTuple], CheckpointTuple], surface: str, path: str
) -> None:
    one = _leaving()
    found = next(unlike(one, change(_tuple(one))))
    assert (found.surface, found.path) == (surface, path)


def test_a_checkpoint_that_is_not_there_is_told() -> None:
    assert [found.surface for found in unlike(_leaving(), None)] == ["checkpoint"]


def test_what_is_the_same_is_not_told_whichever_task_comes_first() -> None:
    one = _leaving()
    assert [*unlike(one, _tuple(one))] == []
    other = [("t2", "a", 3), ("t1", "a", 1), ("t1", "b", 2)]
    more: Any = {**one.metadata, "thread_id": "t"}
    assert [*unlike(one, _tuple(one)._replace(pending_writes=other, metadata=more))] == []


@pytest.mark.parametrize(
    ("given", "got", "path"),
    [
        (1, True, ()),
        (0.0, -0.0, ()),
        ([1, (2,)], [1, [2]], (1,)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ()),
        ({1: "a"}, {True: "a"}, ()),
        ([1], [1, 2], ()),
        ({"a": {"b": ["x", "y"]}}, {"a": {"b": ["x", "z"]}}, ("a", "b", 1)),
        (Order("a", [1]), Order("a", [2]), ("lines", 0)),
        (Order("a", [1]), {"id": "a", "lines": [1]}, ()),
        (Model(inner={"a": 1}), Model(inner={"a": 1.0}), ("inner", "a")),
        (HumanMessage("a"), AIMessage("a"), ()),
        (HumanMessage("a", id="1"), HumanMessage("b", id="1"), ("content",)),
        (Send("n", {"a": 1}), Send("n", {"a": 2}), ("arg", "a")),
        (deque([1, 2], 2), deque([1, 2]), ()),
        ({1, 2}, {1, 3}, (1,)),
        (range(3), range(4), ()),
    ],
)
def test_two_values_that_differ_are_told_apart_where_they_do(
    given: Any, got: Any, path: tuple[Any, ...]
) -> None:
    found = difference(given, got, (), CODEC)
    assert found is not None
    assert found[0] == path


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (float("nan"), float("nan")),
        (Model(), Model(a=1, inner=None)),
        (Order("a", [HumanMessage("x")]), Order("a", [HumanMessage("x", id=None)])),
        (Send("n", {"m": [Model()]}), Send("n", {"m": [Model(a=1)]})),
        ({1, 2, 3}, {3, 2, 1}),
    ],
)
def test_two_values_that_are_the_same_are_not(given: Any, got: Any) -> None:
    assert difference(given, got, (), CODEC) is None


def test_an_object_that_the_codec_does_not_know_is_no_value_that_was_written() -> None:
    found = difference(Order("a", [1]), Order("a", [operator.add]), (), CODEC)
    assert found == ((), f"{__name__}.Order becomes what cannot be compared")
