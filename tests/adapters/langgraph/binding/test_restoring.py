"""What is not stored comes back once for a run that resumes, and never for a look at the state."""

from __future__ import annotations

import asyncio
import gc
import operator
import threading
import weakref
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.channels import UntrackedValue
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from keepset import Drop, Keep, Refetch, Reopen, Scratch, Secret
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import IntegrityError, NotFoundError, PolicyError
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver

KEY = "marked-as-a-secret-of-the-environment"
CALLS: list[str] = []
INDEX = {one: f"marked-as-fetched {one}" for one in "abc"}


def load(ids: list[str]) -> list[str]:
    CALLS.append(f"load {','.join(ids)}")
    return [INDEX.get(one, f"another {one}") for one in ids]


def connect() -> Any:
    CALLS.append("connect")
    return threading.Lock()


def make() -> str:
    CALLS.append("make")
    return "a fresh place"


class State(TypedDict, total=False):
    ids: Annotated[list[str], Keep(), operator.add]
    docs: Annotated[list[str], Refetch(load, using="ids", pin="refuse")]
    db: Annotated[Any, Reopen(connect)]
    key: Annotated[str, Secret("env:KEEPSET_TEST_KEY")]
    place: Annotated[str, Scratch(make)]
    draft: Annotated[str, Drop(default="none")]
    answer: str


GIVEN: dict[str, Any] = {
    "ids": ["a", "b"],
    "docs": ["marked-as-fetched a", "marked-as-fetched b"],
    "db": threading.Lock(),
    "key": KEY,
    "place": "marked-as-temporary",
    "draft": "marked-as-draft",
}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPSET_TEST_KEY", KEY)
    CALLS.clear()


def graph_of(seen: list[Any], first: Any = None) -> Any:
    def ask(state: State) -> dict[str, Any]:
        seen.append(dict(state))
        return {"answer": interrupt("?")}

    builder: Any = StateGraph(State)
    builder.add_node("first", first or (lambda _: None))
    builder.add_node("ask", ask)
    builder.add_node("last", lambda state: seen.append(dict(state)))
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    builder.add_edge("ask", "last")
    return builder.compile()


def locks(state: dict[str, Any]) -> dict[str, Any]:
    """The state with a handle as what it is: one lock is as good as another."""
    return {**state, "db": type(state["db"])}


RESTORED: dict[str, Any] = {
    **GIVEN,
    "db": type(GIVEN["db"]),
    "place": "a fresh place",
    "draft": "none",
}


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("way", ["input", "node"])
def test_a_run_that_resumes_has_all_fields_and_each_was_restored_once(
    durability: Any, way: str, tmp_path: Path
) -> None:
    seen: list[Any] = []
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(seen, None if way == "input" else lambda _: GIVEN))
        graph.invoke(
            GIVEN if way == "input" else {"answer": "marked-by-a-control"},
            CONFIG,
            durability=durability,
        )
        assert CALLS == []
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(seen))
        graph.invoke(Command(resume="marked-by-a-control"), CONFIG, durability=durability)
    resumed, last = (locks(state) for state in seen[1:])
    assert {name: resumed[name] for name in RESTORED} == RESTORED
    assert last["answer"] == "marked-by-a-control"
    assert last["docs"] == GIVEN["docs"]
    assert sorted(CALLS) == ["connect", "load a,b", "make"]
    for text in (KEY, "marked-as-fetched", "marked-as-temporary", "marked-as-draft"):
        assert not found(text, tmp_path)
    assert found("marked-by-a-control", tmp_path)


def test_the_same_holds_in_an_event_loop() -> None:
    async def run(keeper: KeepsetSaver, seen: list[Any]) -> None:
        graph = keeper.bind(graph_of(seen))
        await graph.ainvoke(GIVEN, CONFIG)
        await graph.ainvoke(Command(resume="yes"), CONFIG)

    seen: list[Any] = []
    with KeepsetSaver("memory:") as keeper:
        asyncio.run(run(keeper, seen))
    assert locks(seen[1]) == RESTORED
    assert sorted(CALLS) == ["connect", "load a,b", "make"]


def test_a_look_at_the_state_or_its_history_restores_nothing() -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of([]))
        graph.invoke(GIVEN, CONFIG)
        values = graph.get_state(CONFIG).values
        for state in graph.get_state_history(CONFIG):
            graph.get_state(state.config)
        list(graph.checkpointer.list(CONFIG))
        graph.checkpointer.get_tuple(CONFIG)
    assert CALLS == []
    assert set(values) == {"ids"}


def test_a_run_that_is_sent_to_a_checkpoint_restores_that_one_and_no_other() -> None:
    with KeepsetSaver("memory:") as keeper:
        seen: list[Any] = []
        graph = keeper.bind(graph_of(seen))
        graph.invoke(GIVEN, CONFIG)
        before = next(s.config for s in graph.get_state_history(CONFIG) if s.next == ("ask",))
        graph.invoke(Command(resume="yes"), CONFIG)
        CALLS.clear()
        graph.invoke(None, before)
    assert sorted(CALLS) == ["connect", "load a,b", "make"]
    assert locks(seen[-1])["docs"] == GIVEN["docs"]


def test_a_run_that_asks_for_its_checkpoint_twice_gets_the_same_and_another_run_its_own() -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of([]))
        graph.invoke(GIVEN, CONFIG)
        newest = graph.get_state(CONFIG).config["configurable"]
        runs = [object(), object()]
        asked = [
            graph.checkpointer.get_tuple(
                {"configurable": {**at, "__pregel_runtime": run}}
            ).checkpoint["channel_values"]["db"]
            for run, at in (
                (runs[0], newest),
                (runs[0], CONFIG["configurable"]),
                (runs[1], newest),
            )
        ]
    assert asked[0] is asked[1]
    assert asked[0] is not asked[2]
    assert CALLS.count("connect") == 2


def test_what_a_run_resumed_with_does_not_stay_in_memory() -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of([]))
        graph.invoke(GIVEN, CONFIG)
        at = {"configurable": {**CONFIG["configurable"], "__pregel_runtime": object()}}
        found = graph.checkpointer.get_tuple(at)
        restored = weakref.ref(found.checkpoint["channel_values"]["db"])
        del found
        gc.collect()
        assert restored() is None


class Telling(KeepsetSaver):
    """A saver that says when a task's writes are stored."""

    stored: threading.Event

    def put_writes(self, *arguments: Any, **named: Any) -> None:
        super().put_writes(*arguments, **named)
        self.stored.set()


def test_a_task_that_wrote_only_what_is_not_stored_does_not_run_again() -> None:
    ran: list[str] = []
    stored = threading.Event()

    def fails(_: State) -> None:
        assert stored.wait(30)
        ran.append("fails")
        if len(ran) < 3:
            message = "the first try fails"
            raise RuntimeError(message)

    def opens(_: State) -> dict[str, Any]:
        ran.append("opens")
        return {"db": threading.Lock()}

    builder: Any = StateGraph(State)
    builder.add_node("opens", opens)
    builder.add_node("fails", fails)
    builder.add_edge(START, "opens")
    builder.add_edge(START, "fails")
    with Telling("memory:") as keeper:
        keeper.stored = stored
        graph = keeper.bind(builder.compile())
        with pytest.raises(RuntimeError):
            graph.invoke({"answer": "x"}, CONFIG)
        graph.invoke(None, CONFIG)
    assert sorted(ran) == ["fails", "fails", "opens"]


def test_a_field_that_is_not_stored_is_carried_over_by_update_state() -> None:
    seen: list[Any] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(seen))
        graph.invoke(GIVEN, CONFIG)
        graph.update_state(CONFIG, {"answer": "changed"})
        assert CALLS == []
        graph.invoke(Command(resume="yes"), CONFIG)
    assert {**RESTORED, "answer": "changed"}.items() <= locks(seen[1]).items()


def test_the_digest_of_a_pinned_field_is_carried_over_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of([]))
        graph.invoke(GIVEN, CONFIG)
        graph.update_state(CONFIG, {"answer": "changed"})
        graph.update_state(CONFIG, {"answer": "again"})
        monkeypatch.setitem(INDEX, "b", "another text")
        with pytest.raises(IntegrityError) as error:
            graph.invoke(Command(resume="yes"), CONFIG)
    assert error.value.code == "restore.other-content"


def test_a_loader_that_fails_ends_the_run_and_the_next_try_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(seen))
        graph.invoke(GIVEN, CONFIG)
        monkeypatch.delenv("KEEPSET_TEST_KEY")
        with pytest.raises(NotFoundError):
            graph.invoke(Command(resume="yes"), CONFIG)
        monkeypatch.setenv("KEEPSET_TEST_KEY", KEY)
        graph.invoke(Command(resume="yes"), CONFIG)
    assert seen[-1]["key"] == KEY


class Packets(TypedDict, total=False):
    ids: list[str]
    docs: Annotated[list[str], Refetch(load, using="ids")]
    db: Annotated[Any, Reopen(connect)]
    client: Annotated[Any, UntrackedValue]
    opened: Annotated[Any, Reopen(connect), UntrackedValue]


def packets_of(work: Any) -> Any:
    def plan(state: Packets) -> Any:
        del state
        argument = {**GIVEN, "client": threading.Lock(), "opened": threading.Lock()}
        return Send("work", {**argument, "other": 1})

    builder: Any = StateGraph(Packets)
    builder.add_node("plan", lambda _: None)
    builder.add_node("work", work)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", plan, ["work"])
    return builder.compile()


@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_argument_of_a_send_is_restored_as_the_state_is(
    durability: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def work(argument: dict[str, Any]) -> None:
        seen.append(dict(argument))
        interrupt("?")

    with saver(tmp_path) as keeper:
        graph = keeper.bind(packets_of(work))
        graph.invoke({"ids": ["marked-by-a-control"]}, CONFIG, durability=durability)
        graph.invoke(Command(resume="yes"), CONFIG, durability=durability)
    first, second = seen
    assert first.keys() == second.keys()
    assert second["docs"] == GIVEN["docs"]
    assert type(second["db"]) is type(GIVEN["db"])
    assert type(second["opened"]) is type(GIVEN["db"])
    assert second["other"] == 1
    assert not found("marked-as-fetched", tmp_path)
    assert found("marked-by-a-control", tmp_path)


@pytest.mark.parametrize("durability", DURABILITIES)
def test_an_untracked_value_of_a_task_that_failed_says_that_it_is_to_be_supplied_again(
    durability: Any,
) -> None:
    tries: list[Any] = []

    def work(argument: dict[str, Any]) -> None:
        tries.append("client" in argument)
        argument["client"].acquire()
        message = "the first try fails"
        raise RuntimeError(message)

    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(packets_of(work))
        with pytest.raises(RuntimeError):
            graph.invoke({"ids": ["a"]}, CONFIG, durability=durability)
        with pytest.raises(PolicyError) as error:
            graph.invoke(None, CONFIG, durability=durability)
    assert tries == [True, True]
    assert error.value.code == "restore.not-stored"
    assert "client" in error.value.message


class Live(TypedDict, total=False):
    token: Annotated[str, UntrackedValue]
    answer: str


@pytest.mark.parametrize("durability", DURABILITIES)
def test_an_untracked_value_is_there_while_the_graph_runs_and_stays_out_even_as_input(
    durability: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def third(state: Live) -> None:
        seen.append(state["token"])
        interrupt("?")

    builder: Any = StateGraph(Live)
    builder.add_node("first", lambda state: seen.append(state["token"]))
    builder.add_node("second", lambda state: {"answer": state["token"][:6], "token": "other"})
    builder.add_node("third", third)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", "third")
    with saver(tmp_path) as keeper:
        graph = keeper.bind(builder.compile())
        graph.invoke({"token": "marked-as-untracked"}, CONFIG, durability=durability)
        assert graph.get_state(CONFIG).values == {"answer": "marked"}
    assert seen == ["marked-as-untracked", "other"]
    assert not found("marked-as-untracked", tmp_path)
