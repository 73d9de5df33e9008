"""What a user may say of a saver is refused with a code where it makes no sense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

import keepset.langgraph
from keepset.errors import KeepsetError, UsageError
from keepset.langgraph import KeepsetSaver


class State(TypedDict):
    count: int


@dataclass
class Order:
    number: int


def _another() -> type:
    @dataclass
    class Order:
        number: int

    Order.__qualname__ = "Order"
    return Order


def _builder() -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("step", lambda state: {"count": state["count"] + 1})
    builder.add_edge(START, "step")
    builder.add_edge("step", END)
    return builder


Saver: Any = KeepsetSaver
"""So that mistakes can be made that a type checker would see."""

MISTAKES: dict[str, list[Callable[[str], object]]] = {
    "langgraph.types": [
        lambda url: Saver(url, types=["Order"]),
        lambda url: Saver(url, types="Order"),
        lambda url: Saver(url, types=Order),
        lambda url: Saver(url, types={"order/1": "Order"}),
        lambda url: Saver(url, types=[Order, _another()]),
    ],
    "langgraph.metadata-keys": [
        lambda url: Saver(url, metadata_keys="user"),
        lambda url: Saver(url, metadata_keys=[1]),
    ],
    "langgraph.fallback": [
        lambda url: Saver(url, fallback=object()),
    ],
    "langgraph.not-a-builder": [
        lambda url: keepset.langgraph.compile(_builder().compile(), url),
    ],
    "langgraph.renamed": [
        lambda url: keepset.langgraph.compile(_builder(), url, renamed={"old": "nowhere"}),
    ],
}


@pytest.mark.parametrize(
    ("code", "mistake"), [(code, one) for code, several in MISTAKES.items() for one in several]
)
def test_a_mistake_in_an_option_is_refused_and_leaves_no_store_open(
    tmp_path: Path, code: str, mistake: Callable[[str], object]
) -> None:
    with pytest.raises(UsageError) as caught:
        mistake(f"sqlite:///{tmp_path / 'runs.db'}")
    assert caught.value.code == code
    assert caught.value.hint
    # What the error still refers to would have its log there if it were open.
    assert not list(tmp_path.glob("*-wal"))


def test_a_schema_that_is_unsound_leaves_no_store_open(tmp_path: Path) -> None:
    class Unsound(TypedDict):
        nowhere: "Nowhere"  # type: ignore[name-defined] # noqa: F821, UP037 - the mistake

    builder: Any = StateGraph(State)
    builder.add_node("step", lambda state: state, input_schema=State)
    builder.add_edge(START, "step")
    builder.schemas[Unsound] = {}
    with pytest.raises(KeepsetError) as caught:
        keepset.langgraph.compile(builder, f"sqlite:///{tmp_path / 'runs.db'}")
    assert caught.value.hint
    assert not list(tmp_path.glob("*-wal"))


def test_one_class_given_twice_is_no_mistake() -> None:
    with KeepsetSaver("memory:", types=[Order, Order]) as saver:
        assert saver.get_tuple({"configurable": {"thread_id": "none"}}) is None
