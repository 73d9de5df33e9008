"""A pin tells content that has changed from content that came from another saver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import keepset as ks
from keepset.errors import IntegrityError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import outcomes, taken
from tests.adapters.langgraph.saver.steps import config

MODULE = __name__
T = config("t")
INDEX = {"a": "the text of a"}


def load(ids: list[str]) -> list[Document]:
    return [Document(page_content=INDEX[one], metadata={"source": one}) for one in ids]


class Search(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[Document], ks.Refetch(load, using="ids", pin="refuse")]
    answer: Annotated[str, ks.Keep()]


def builder() -> Any:
    made: Any = StateGraph(Search)
    made.add_node("find", lambda _: {"ids": ["a"], "docs": load(["a"])})
    made.add_node("ask", lambda state: {"answer": interrupt("?") + state["docs"][0].page_content})
    made.add_edge(START, "find")
    made.add_edge("find", "ask")
    return made


def answered(url: str, fallback: Any = None) -> Any:
    with KeepsetSaver(url, fallback=fallback) as saver:
        return saver.bind(builder().compile()).invoke(Command(resume="yes: "), T)["answer"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        builder().compile(checkpointer=saver).invoke({}, T)
    return place


def test_a_thread_that_was_imported_goes_on_with_documents_that_are_the_same(
    path: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    assert outcomes(taken(path, url, graph=f"{MODULE}:builder")) == {"t": "taken"}
    assert answered(url) == "yes: the text of a"


def test_so_does_one_that_was_taken_over_at_its_first_write(path: Path) -> None:
    with stores.on_sqlite(path) as old:
        assert answered("memory:", old) == "yes: the text of a"


def test_it_is_refused_where_they_are_others(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    url = f"sqlite:///{tmp_path}/runs.db"
    taken(path, url, graph=f"{MODULE}:builder")
    monkeypatch.setitem(INDEX, "a", "another text")
    with pytest.raises(IntegrityError) as refused:
        answered(url)
    assert refused.value.code == "restore.other-content"
