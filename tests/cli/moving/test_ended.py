"""Whoever ends a move is told what is there of it, and that the same command goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import keepset as ks
import keepset.langgraph
from tests.adapters.langgraph.saver.steps import config
from tests.cli.terminal import say

HERE = "tests.cli.moving.test_ended"
ENDS: set[str] = set()
"""What somebody presses Ctrl-C at: an order that is made, or a text that is loaded."""


def _end_at(what: str) -> None:
    if what in ENDS:
        raise KeyboardInterrupt


def load(name: str) -> str:
    _end_at(f"text {name}")
    return name


@dataclass
class Order:
    name: str

    def __post_init__(self) -> None:
        _end_at(f"order {self.name}")


class Paper(TypedDict, total=False):
    name: str
    order: Order
    text: Annotated[str, ks.Refetch(load, using="name")]


def build() -> Any:
    builder = StateGraph(Paper)
    builder.add_node("order", lambda paper: {"order": Order(paper["name"]), "text": paper["name"]})
    builder.add_edge(START, "order")
    return builder


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with SqliteSaver.from_conn_string(str(tmp_path / "old.sqlite")) as saver:
        graph = build().compile(checkpointer=saver)
        for thread in "abc":
            graph.invoke({"name": thread}, config(thread))
    return tmp_path / "old.sqlite"


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    url = f"sqlite:///{tmp_path}/runs.db"
    graph: Any = keepset.langgraph.compile(build(), url)
    for thread in "abc":
        graph.invoke({"name": thread}, config(thread))
    graph.checkpointer.close()
    return url


def test_an_import_that_is_ended_says_how_many_runs_are_there(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{HERE}.ENDS", {"order b"})
    line = ("import", old, "--into", tmp_path / "new.db", "--graph", f"{HERE}:build")
    said = say(*line, "--apply")
    assert said.code == 130
    assert said.err == "1 run taken over, each whole; the same command goes on\ninterrupted\n"


def test_a_dry_run_that_is_ended_says_of_no_run_that_it_is_there(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{HERE}.ENDS", {"order b"})
    said = say("import", old, "--into", tmp_path / "new.db", "--graph", f"{HERE}:build")
    assert (said.code, said.err) == (130, "interrupted\n")
    assert not (tmp_path / "new.db").exists()


def test_an_export_that_is_ended_says_how_many_runs_are_there(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{HERE}.ENDS", {"text b"})
    line = ("export", url, "--to", tmp_path / "x.sqlite", "--graph", f"{HERE}:build", "--restore")
    said = say(*line, "--apply")
    assert said.code == 130
    assert said.err == "1 run exported, each whole; the same command goes on\ninterrupted\n"
    assert say(*line).err == "interrupted\n"


def test_whose_runs_were_looked_for_is_said_where_there_are_none(url: str, tmp_path: Path) -> None:
    said = say("export", url, "--to", tmp_path / "x.sqlite", "--tenant", "acmee")
    assert said.out.startswith("no runs of tenant acmee in ")
