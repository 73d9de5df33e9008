"""The rules of a graph apply on the way, and no secret comes along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.adapters.landed import held
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import outcomes, taken
from tests.adapters.langgraph.saver.steps import config

MODULE = __name__
T = config("t")
PLANTED = "the-whole-text-of-a-document"
KEY = "sk-proj-Zq3vX8mN2pL7kR4tY9wB6cD1fG5hJ0aSuEiOxVbNmQwErTyU"


def load(ids: list[str]) -> list[str]:
    return [f"{PLANTED} {one}" for one in ids]


class Ticket(TypedDict, total=False):
    question: Annotated[str, ks.Keep()]
    doc_ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[str], ks.Refetch(load, using="doc_ids")]
    scrap: Annotated[str, ks.Drop()]
    answer: str


def _find(_: Any) -> dict[str, Any]:
    return {"doc_ids": ["a"], "docs": load(["a"]), "scrap": f"{PLANTED} scrap"}


def builder() -> Any:
    made: Any = StateGraph(Ticket)
    made.add_node("find", _find)
    made.add_node("ask", lambda state: {"answer": f"{interrupt('?')} {len(state['docs'])}"})
    made.add_edge(START, "find")
    made.add_edge("find", "ask")
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        builder().compile(checkpointer=saver).invoke({"question": f"with {KEY} ?"}, T)
    return place


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def bytes_of(url: str) -> bytes:
    path = Path(url.removeprefix("sqlite:///"))
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


def states(url: str) -> str:
    """All that the saver gives of the thread, as text."""
    with KeepsetSaver(url) as saver:
        return repr([(one.checkpoint, one.metadata, one.pending_writes) for one in saver.list(T)])


@pytest.mark.parametrize("name", ["builder", "BUILDER", "COMPILED"])
def test_what_a_rule_leaves_out_is_not_in_the_store(path: Path, url: str, name: str) -> None:
    assert outcomes(taken(path, url, graph=f"{MODULE}:{name}")) == {"t": "taken"}
    assert PLANTED not in states(url)
    assert PLANTED.encode() not in bytes_of(url)
    assert outcomes(taken(path, url, graph=f"{MODULE}:{name}")) == {"t": "there"}


def test_without_a_graph_all_of_it_is(path: Path, url: str) -> None:
    """The control."""
    taken(path, url)
    assert PLANTED in states(url)


def test_a_thread_that_was_imported_by_rules_goes_on_with_what_they_bring_back(
    path: Path, url: str
) -> None:
    taken(path, url, graph=f"{MODULE}:builder")
    with KeepsetSaver(url) as saver:
        graph = saver.bind(builder().compile())
        assert saver_of(graph).can_resume(T).verdict is ks.Resume.AS_IS
        assert graph.invoke(Command(resume="yes"), T)["answer"] == "yes 1"


def saver_of(graph: Any) -> KeepsetSaver:
    saver = graph.checkpointer
    assert isinstance(saver, KeepsetSaver)
    return saver


def test_the_graph_that_was_named_is_the_one_that_the_next_is_compared_with(
    path: Path, url: str
) -> None:
    taken(path, url, graph=f"{MODULE}:builder")
    made: Any = StateGraph(Ticket)
    made.add_node("find", _find)
    made.add_edge(START, "find")
    with KeepsetSaver(url) as saver:
        report = saver_of(saver.bind(made.compile())).can_resume(T)
    assert report.verdict is ks.Resume.INCOMPATIBLE


def test_a_secret_is_masked_on_the_way_and_counted(path: Path, url: str) -> None:
    moved = taken(path, url)["t"]
    assert KEY not in states(url)
    assert KEY.encode() not in bytes_of(url)
    assert {path for _, path in moved.withheld} >= {"question"}
    assert all(kind.startswith("secret.") for kind, _ in moved.withheld)
    assert outcomes(taken(path, url)) == {"t": "there"}


def test_in_observe_mode_it_is_stored_as_any_saver_would(path: Path, url: str) -> None:
    """The control."""
    moved = taken(path, url, mode="observe")["t"]
    assert KEY in states(url)
    assert moved.withheld == {}


def test_in_strict_mode_its_thread_is_left_out_and_the_place_is_told(path: Path, url: str) -> None:
    moved = taken(path, url, mode="strict", graph=f"{MODULE}:builder")["t"]
    assert moved.outcome.value == "left"
    assert KEY not in repr(moved)
    with ks.open(url) as store:
        assert held(store) == []


BUILDER = builder()
COMPILED = BUILDER.compile()


class Noted(TypedDict, total=False):
    metadata: Annotated[dict[str, str], ks.Keep(secrets="allow")]


def noted() -> Any:
    made: Any = StateGraph(Noted)
    made.add_node("note", lambda _: {"metadata": {"allowed": KEY}})
    made.add_edge(START, "note")
    return made


def test_a_field_called_metadata_has_no_say_in_what_is_masked_in_the_metadata(
    tmp_path: Path, url: str
) -> None:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        said = {**T, "metadata": {"note": f"with {KEY}"}}
        noted().compile(checkpointer=saver).invoke({"metadata": {}}, said)
    how: dict[str, Any] = {"graph": f"{MODULE}:noted", "metadata_keys": ("note",)}
    assert outcomes(taken(place, url, **how)) == {"t": "taken"}
    with KeepsetSaver(url) as saver:
        (newest, *_) = saver.list(T)
    assert newest.checkpoint["channel_values"]["metadata"] == {"allowed": KEY}
    assert KEY not in repr(newest.metadata)
