"""What an audit says to type next goes on from what was done, and names each graph's own fields."""

from __future__ import annotations

import operator
import shlex
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from tests.cli.terminal import say, start


class Research(TypedDict, total=False):
    ids: Annotated[list[str], operator.add]
    docs: list[dict[str, str]]


def _inner() -> Any:
    def search(_: Research) -> Research:
        return {"ids": ["a", "b"], "docs": [{"id": name, "text": name * 9_000} for name in "ab"]}

    builder: Any = StateGraph(Research)
    builder.add_node("search", search)
    builder.add_node("read", lambda _: {"ids": []})
    builder.add_edge(START, "search")
    builder.add_edge("search", "read")
    return builder.compile()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of a graph within a graph, in the current folder."""
    monkeypatch.chdir(tmp_path)
    builder: Any = StateGraph(Research)
    builder.add_node("research", _inner())
    builder.add_edge(START, "research")
    with SqliteSaver.from_conn_string("old.sqlite") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"ids": []}, {"configurable": {"thread_id": "one"}})
    return Path("old.sqlite")


def next_lines(out: str) -> list[str]:
    lines = out.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith("Next: ")), len(lines))
    return [line.removeprefix("Next: ").strip() for line in lines[first:]]


def test_after_a_contract_was_written_it_is_checked_next_and_not_written_again(
    place: Path,
) -> None:
    page, check = next_lines(say("audit", place).out)[1], "check kept:State"
    lines = next_lines(say("audit", place, "--write-contract", "kept.py").out)
    assert [line.endswith(check) for line in lines] == [True, False]
    assert lines[1] == page
    assert start(*shlex.split(lines[0])[-2:], folder=Path.cwd()).code == 0


def test_what_was_written_elsewhere_or_is_the_page_itself_is_not_said_next(place: Path) -> None:
    Path("states").mkdir()
    said = say("audit", place, "--write-contract", "states/kept.py", "--html", "page.html")
    assert next_lines(said.out) == []
    assert "--html audit.html" not in Path("page.html").read_text("utf-8")


def test_a_contract_for_a_graph_says_where_its_reducers_go(place: Path) -> None:
    say("audit", place, "--write-contract", "kept.py")
    assert "Annotated[list[Any], ks.Keep(), add_messages]" in Path("kept.py").read_text("utf-8")


def test_a_field_of_a_graph_inside_is_told_from_one_of_the_same_name(place: Path) -> None:
    found = say("audit", place, "--json").result("audit")["findings"]
    places = {one["place"] for one in found if one["code"] == "content.beside-ids"}
    assert places == {"docs", "research/docs"}
