"""Whoever has classes in a state is told what to name, and what that means for the next resume."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import config
from tests.cli.terminal import say

HERE = "tests.cli.moving.test_advice"
LEFT_OUT = "left out: it has values that cannot be taken"


@dataclass
class Order:
    number: int


class Shop(TypedDict, total=False):
    order: Order
    answer: str


class Other(TypedDict, total=False):
    order: Any
    answer: str


def _build(state: Any) -> Any:
    builder: Any = StateGraph(state)
    builder.add_node("order", lambda _: {"order": Order(7)})
    builder.add_node("ask", lambda shop: {"answer": f"{shop['order'].number} {interrupt('?')}"})
    builder.add_edge(START, "order")
    builder.add_edge("order", "ask")
    return builder


def build() -> Any:
    return _build(Shop)


def build_without() -> Any:
    return _build(Other)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with SqliteSaver.from_conn_string(str(tmp_path / "old.sqlite")) as saver:
        build().compile(checkpointer=saver).invoke({"answer": ""}, config("t"))
    return tmp_path / "old.sqlite"


def hint(*arguments: str | Path) -> str:
    (told,) = say("import", *arguments, "--json").result("import")["told"]
    return str(told["hint"])


def test_the_graph_is_advised_first_and_where_it_does_not_help_the_class(
    old: Path, tmp_path: Path
) -> None:
    line = (old, "--into", tmp_path / "new.db")
    assert hint(*line).startswith("Name the graph that wrote it, --graph MODULE:NAME, or a class")
    without = hint(*line, "--graph", f"{HERE}:build_without")
    assert without.startswith("The graph names no such class: --types MODULE:CLASS does.")


def test_a_graph_goes_on_with_what_was_imported_by_it_or_by_types(
    old: Path, tmp_path: Path
) -> None:
    named = {"graph": f"{HERE}:build", "types": f"{HERE}:Order"}
    for option, types in (("graph", {}), ("types", {"Order": Order}), ("types", {})):
        target = tmp_path / f"{option}{len(types)}.db"
        assert (
            say("import", old, "--into", target, f"--{option}", named[option], "--apply").code == 0
        )
        with KeepsetSaver(f"sqlite:///{target}", types=types) as saver:
            out = saver.bind(build().compile()).invoke(Command(resume="yes"), config("t"))
        assert out["answer"] == "7 yes"


def test_an_import_by_other_rules_than_the_first_says_to_give_the_same_again(
    old: Path, tmp_path: Path
) -> None:
    line = (old, "--into", tmp_path / "new.db")
    assert say("import", *line, "--graph", f"{HERE}:build", "--apply").code == 0
    assert hint(*line).startswith("It was taken over by other rules:")
    same = say("import", *line, "--types", f"{HERE}:Order", "--json").result("import")
    assert same["runs"]["there"] == 1


def test_a_store_of_keepset_s_own_is_nothing_to_import_and_is_called_so(
    old: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new.db"
    assert say("import", old, "--into", target, "--graph", f"{HERE}:build", "--apply").code == 0
    said = say("import", target, "--into", tmp_path / "more.db", "--json")
    assert (said.code, said.error()["code"]) == (2, "import.unknown-store")
    assert said.error()["hint"].startswith("It is a store of keepset's already")
