"""What a rule masks or leaves out of a field is masked wherever the field's value lies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import outcomes, taken
from tests.adapters.langgraph.saver.steps import config

MODULE = __name__
T = config("t")
ADDRESS = "jane.doe@example.org"
RAW = "marked-as-raw"
KEPT = "marked-by-a-control"


def masked(said: str) -> str:
    return re.sub(r"\S+@\S+", "[address]", said)


class Before(TypedDict, total=False):
    said: str
    reply: dict[str, str]
    answer: str


class After(TypedDict, total=False):
    said: Annotated[str, ks.Extract(masked)]
    reply: Annotated[dict[str, str], ks.Keep(without="raw")]
    answer: Annotated[str, ks.Keep()]


class Inside(TypedDict, total=False):
    answer: str


def inside() -> Any:
    made: Any = StateGraph(Inside)
    made.add_node("ask", lambda _: {"answer": interrupt("?")})
    made.add_edge(START, "ask")
    return made.compile()


def graph_of(state: Any) -> Any:
    made: Any = StateGraph(state)
    made.add_node("write", lambda _: {"reply": {"raw": RAW, "text": KEPT}})
    made.add_node("inner", inside())
    made.add_node("sent", lambda _: None)
    made.add_edge(START, "write")
    made.add_edge("write", "inner")
    made.add_conditional_edges("write", lambda state: [Send("sent", {**state})], ["sent"])
    return made


def builder() -> Any:
    return graph_of(After)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        graph_of(Before).compile(checkpointer=saver).invoke({"said": f"mail {ADDRESS}"}, T)
    return place


def states(saver: KeepsetSaver) -> str:
    """All that the saver gives of the thread and of the graph inside, as text."""
    return repr([(one.checkpoint, one.pending_writes) for one in saver.list(T)])


@pytest.mark.parametrize("way", ["import", "take-over"])
def test_it_is_so_in_the_input_of_a_graph_inside_and_in_what_is_sent(
    path: Path, tmp_path: Path, way: str
) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    if way == "import":
        assert outcomes(taken(path, url, graph=f"{MODULE}:builder")) == {"t": "taken"}
    with stores.on_sqlite(path) as old, KeepsetSaver(url, fallback=old) as saver:
        graph = saver.bind(builder().compile())
        assert graph.invoke(Command(resume="yes"), T)["answer"] == "yes"
        history = states(saver)
    assert KEPT in history
    assert "[address]" in history
    assert ADDRESS not in history
    assert RAW not in history


def test_it_is_so_in_the_input_that_an_update_has_left_beside_a_checkpoint(tmp_path: Path) -> None:
    place, url = tmp_path / "old.sqlite", f"sqlite:///{tmp_path}/runs.db"
    with stores.on_sqlite(place) as saver:
        graph = graph_of(Before).compile(checkpointer=saver)
        graph.invoke({"said": "nothing"}, T)
        graph.update_state(T, {"said": f"mail {ADDRESS}"}, as_node="__input__")
        assert ADDRESS in repr([one.pending_writes for one in saver.list(T)])
    assert outcomes(taken(place, url, graph=f"{MODULE}:builder")) == {"t": "taken"}
    with KeepsetSaver(url) as saver:
        history = states(saver)
    assert "[address]" in history
    assert ADDRESS not in history


def test_without_the_rules_it_is_there(path: Path, tmp_path: Path) -> None:
    """The control."""
    url = f"sqlite:///{tmp_path}/runs.db"
    taken(path, url)
    with KeepsetSaver(url) as saver:
        history = states(saver)
    assert ADDRESS in history
    assert RAW in history
