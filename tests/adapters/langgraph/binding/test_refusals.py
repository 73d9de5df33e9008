"""What cannot be stored is refused by its path, before a next node runs."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import SecretStr
from typing_extensions import TypedDict

from keepset.adapters.langgraph.host import DeltaChannel
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import PolicyError
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver

BAD: Any = {"b": [1, {"c": threading.Lock()}]}


class State(TypedDict, total=False):
    a: Any
    other: str


def graph_of(first: Any, ran: list[str]) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("second", lambda _: ran.append("second"))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder.compile()


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_handle_deep_in_what_a_node_returns_is_refused_before_the_next_node(
    durability: Any,
) -> None:
    ran: list[str] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: {"a": BAD}, ran))
        with pytest.raises(PolicyError, match=r"a\.b\[1\]\.c: _thread\.lock") as error:
            graph.invoke({"other": "x"}, CONFIG, durability=durability)
    assert error.value.code == "codec.unknown-type"
    assert ran == []


@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_same_holds_in_an_event_loop(durability: Any) -> None:
    ran: list[str] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: {"a": BAD}, ran))
        with pytest.raises(PolicyError, match=r"a\.b\[1\]\.c"):
            asyncio.run(graph.ainvoke({"other": "x"}, CONFIG, durability=durability))
    assert ran == []


@pytest.mark.skipif(DeltaChannel.__name__ == "_Absent", reason="this release of LangGraph has none")
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_handle_for_a_channel_that_is_rebuilt_from_writes_is_refused_before_the_next_node(
    durability: Any,
) -> None:
    def joined(before: list[Any] | None, given: Any) -> list[Any]:
        return [*(before or []), *(item for items in given for item in items)]

    rebuilt: Any = TypedDict("rebuilt", {"log": Annotated[list[Any], DeltaChannel(joined)]})
    ran: list[str] = []
    builder: Any = StateGraph(rebuilt)
    builder.add_node("first", lambda _: {"log": [BAD]})
    builder.add_node("second", lambda _: ran.append("second"))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(builder.compile())
        with pytest.raises(PolicyError, match=r"log\[0\]\.b\[1\]\.c: _thread\.lock"):
            graph.invoke({"log": []}, CONFIG, durability=durability)
    assert ran == []


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_handle_in_the_input_is_refused_before_the_first_node(durability: Any) -> None:
    ran: list[str] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: ran.append("first"), ran))
        with pytest.raises(PolicyError, match=r"(^|: )a\.b\[1\]\.c"):
            graph.invoke({"a": BAD}, CONFIG, durability=durability)
    assert ran == []


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_handle_in_the_argument_of_a_send_is_refused_before_its_node_runs(
    durability: Any,
) -> None:
    ran: list[str] = []
    first: Any = lambda _: Command(goto=Send("second", {"a": BAD}))  # noqa: E731 - one line says it
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(first, ran))
        with pytest.raises(PolicyError, match=r"__pregel_tasks.*a\.b\[1\]\.c"):
            graph.invoke({"other": "x"}, CONFIG, durability=durability)
    assert ran == []


def test_a_handle_that_a_node_puts_in_place_is_refused_as_well() -> None:
    def first(state: State) -> dict[str, Any]:
        state["a"]["db"] = sqlite3.connect(":memory:")
        return {"other": "done"}

    ran: list[str] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(first, ran))
        with pytest.raises(PolicyError, match=r"a\.db: sqlite3\.Connection"):
            graph.invoke({"a": {}}, CONFIG)
    assert ran == []


def test_a_handle_in_the_update_of_a_command_that_resumes_is_refused() -> None:
    ran: list[str] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: {"other": interrupt("?")}, ran))
        graph.invoke({"other": "x"}, CONFIG)
        with pytest.raises(PolicyError, match=r"a\.b\[1\]\.c"):
            graph.invoke(Command(resume="y", update={"a": BAD}), CONFIG)
    assert ran == []


SECRET = "sk-proj-" + "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0P" * 2  # made up


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_secret_type_is_withheld_and_the_run_goes_on_with_it(
    durability: Any, tmp_path: Path
) -> None:
    used: list[str] = []
    builder: Any = StateGraph(State)
    builder.add_node("first", lambda _: {"a": {"key": SecretStr(SECRET), "n": 1}})
    builder.add_node("second", lambda s: used.append(s["a"]["key"].get_secret_value()))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    with saver(tmp_path) as keeper:
        graph: Any = keeper.bind(builder.compile())
        graph.invoke({"other": "marked-by-a-control"}, CONFIG, durability=durability)
        assert graph.get_state(CONFIG).values["a"]["n"] == 1
    assert used == [SECRET]
    assert not found(SECRET, tmp_path)
    assert found("marked-by-a-control", tmp_path)
