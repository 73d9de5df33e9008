"""A class of the user's is the same one on its way, by whichever of its names it was stored."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from keepset.errors import DecodeError, UsageError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import outcomes, taken
from tests.adapters.langgraph.saver.steps import config

MODULE = __name__
T = config("t")


@dataclass
class Order:
    number: int


class State(TypedDict, total=False):
    order: Order
    answer: str


class Other(TypedDict, total=False):
    order: Any
    answer: str


def builder(schema: Any = State, cls: Any = Order) -> Any:
    made: Any = StateGraph(schema)
    made.add_node("make", lambda _: {"order": cls(7)})
    made.add_node("ask", lambda state: {"answer": f"{interrupt('?')} {state['order'].number}"})
    made.add_edge(START, "make")
    made.add_edge("make", "ask")
    return made


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        builder().compile(checkpointer=saver).invoke({}, T)
    return place


def test_a_thread_imported_by_types_goes_on_with_a_bound_graph(path: Path, url: str) -> None:
    assert outcomes(taken(path, url, types=(f"{MODULE}:Order",))) == {"t": "taken"}
    with KeepsetSaver(url) as saver:
        graph = saver.bind(builder().compile())
        assert graph.get_state(T).values["order"] == Order(7)
        assert graph.invoke(Command(resume="yes"), T)["answer"] == "yes 7"
    assert outcomes(taken(path, url, types=(f"{MODULE}:Order",))) == {"t": "ahead"}


def test_what_a_bound_graph_has_stored_is_read_by_a_saver_that_is_told_of_the_class(
    url: str,
) -> None:
    with KeepsetSaver(url) as saver:
        saver.bind(builder().compile()).invoke({}, T)
        with pytest.raises(DecodeError, match="'State/Order', which is not registered"):
            saver.get_tuple(T)
    with KeepsetSaver(url, types=[Order]) as saver:
        found = saver.get_tuple(T)
        assert found is not None
        assert found.checkpoint["channel_values"]["order"] == Order(7)


def test_a_name_that_was_chosen_is_the_only_one(url: str) -> None:
    with KeepsetSaver(url, types={"order/1": Order}) as saver:
        builder(Other).compile(checkpointer=saver).invoke({}, T)
    with KeepsetSaver(url, types=[Order]) as saver, pytest.raises(DecodeError, match="'order/1'"):
        saver.get_tuple(T)


# --- a class that lies elsewhere now --------------------------------------------------------------


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """A store whose class lay in a module that is gone."""
    old = type("Order", (), {"__annotations__": {"number": int}})
    old.__module__ = "shop.old"
    place, module = tmp_path / "old.sqlite", ModuleType("shop.old")
    module.Order = dataclass(old)  # type: ignore[attr-defined] # made here
    sys.modules["shop.old"] = module
    with stores.on_sqlite(place) as saver:
        builder(Other, module.Order).compile(checkpointer=saver).invoke({}, T)
    del sys.modules["shop.old"]
    return place


def test_a_class_that_has_moved_is_left_out_with_the_option_that_says_where_it_is(
    moved: Path, url: str
) -> None:
    told = taken(moved, url, types=(f"{MODULE}:Order",))["t"]
    assert told.outcome.value == "left"
    assert {one.why for one in told.left} == {"a shop.old.Order is not made from data"}
    assert "--moved OLD.MODULE.CLASS=MODULE:CLASS" in told.hint


@pytest.mark.parametrize("before", ["shop.old.Order", "shop.old:Order"])
@pytest.mark.parametrize("graph", [None, f"{MODULE}:builder"])
def test_a_class_that_has_moved_is_named_by_where_it_was(
    moved: Path, url: str, before: str, graph: str | None
) -> None:
    how: dict[str, Any] = {"types": (), "graph": graph, "moved": (f"{before}={MODULE}:Order",)}
    assert outcomes(taken(moved, url, **how)) == {"t": "taken"}
    assert outcomes(taken(moved, url, **how)) == {"t": "there"}
    with KeepsetSaver(url) as saver:
        bound = saver.bind(builder().compile())
        assert bound.invoke(Command(resume="yes"), T)["answer"] == "yes 7"


@pytest.mark.parametrize("wrong", [f"{MODULE}:Order", f"Order={MODULE}:Order", "a.Order="])
def test_what_names_no_former_place_is_refused(moved: Path, url: str, wrong: str) -> None:
    with pytest.raises(UsageError) as refused:
        taken(moved, url, moved=(wrong,))
    assert refused.value.code == "langgraph.moved"
