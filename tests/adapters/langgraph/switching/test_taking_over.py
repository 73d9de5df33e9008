"""A thread is taken over at its first write, whole, and the old saver is not written to."""

from __future__ import annotations

import asyncio
import operator
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt

import keepset as ks
from keepset.errors import PolicyError
from keepset.langgraph import KeepsetSaver
from tests.adapters.landed import held
from tests.adapters.langgraph.saver.graphs import THREAD, State, outer
from tests.adapters.langgraph.saver.steps import config
from tests.adapters.langgraph.switching.teams import (
    live,
    names,
    old_saver,
    old_saver_on_loop,
    rows,
    story,
    told,
)


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_paused_thread_goes_on_with_its_answer_and_all_of_its_history_is_here(
    old: Any,
    url: str,
    bound: bool,  # noqa: FBT001 - a parameter of the test
    durability: Any,
) -> None:
    before = told(old) if live(old) else []
    with KeepsetSaver(url, fallback=old) as saver:
        graph = saver.bind(outer(None)) if bound else outer(saver)
        out = graph.invoke(Command(resume="inner"), THREAD, durability=durability)
        assert out["log"][-2:] == ["x", "inner inner"]
        again = graph.invoke({"log": ["again"]}, THREAD, durability=durability)
        assert "__interrupt__" in again
        history = story(graph)
    assert told(old) == before
    with KeepsetSaver(url) as alone:
        for then, now in zip(before, told(alone), strict=False):
            assert now[:-1] == then[:-1]
            assert [write for write in then[-1] if write not in now[-1]] == []
        assert story(outer(alone)) == history
        assert names(url) == ["t"]


def test_the_same_holds_on_an_event_loop(tmp_path: Path, url: str) -> None:
    async def go_on(kind: str) -> None:
        (folder := tmp_path / kind).mkdir()
        at: Any = config(kind)
        async with old_saver_on_loop(kind, folder) as old, KeepsetSaver(url, fallback=old) as saver:
            await asyncio.to_thread(outer(old).invoke, {"log": ["in"]}, at)
            before = await asyncio.to_thread(told, old, kind)
            out = await outer(saver).ainvoke(Command(resume="yes"), at)
            assert "answer yes" in out["log"]
            assert await asyncio.to_thread(told, old, kind) == before
        with KeepsetSaver(url) as alone:
            after = told(alone, kind)
        assert [one[:-1] for one in after[: len(before)]] == [one[:-1] for one in before]

    for kind in ("async sqlite", "sqlite", "memory"):
        asyncio.run(go_on(kind))


def test_an_update_takes_a_thread_over_as_well(old: Any, url: str) -> None:
    live(old)
    first = list(old.list(config("t")))[-1].config
    with KeepsetSaver(url, fallback=old) as saver:
        outer(saver).update_state(first, {"log": ["here"]}, as_node="a")
    with KeepsetSaver(url) as alone:
        graph = outer(alone)
        assert graph.get_state(THREAD).values["log"][-1] == "here"
        assert len(told(alone)) == len(told(old)) + 1


class Fan(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def fan(saver: Any, **options: Any) -> Any:
    builder: Any = StateGraph(Fan)
    builder.add_node("ask", lambda _: {"log": [interrupt("?")]})
    builder.add_node("work", lambda given: {"log": [given]})
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", lambda _: [Send("work", f"{n}") for n in range(20)])
    return builder.compile(checkpointer=saver, **options)


class Counted(InMemorySaver):
    """Counts how often all of a thread is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.listed = 0

    def list(self, *arguments: Any, **options: Any) -> Any:
        self.listed += 1
        return super().list(*arguments, **options)


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_thread_is_taken_over_once_however_many_tasks_write_at_once(
    url: str, durability: Any
) -> None:
    old = Counted()
    fan(old).invoke({"log": ["in"]}, THREAD)
    with KeepsetSaver(url, fallback=old) as saver:
        newest = saver.get_tuple(THREAD)
        assert newest is not None
        at, failed = newest.config, []

        def write(number: int) -> None:
            try:
                saver.put_writes(at, [("log", [f"{number}"])], f"task-{number}")
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test fails with it
                failed.append(error)

        workers = [threading.Thread(target=write, args=(n,)) for n in range(12)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert failed == []
        assert old.listed == 1
        out = fan(saver).invoke(Command(resume="yes"), THREAD, durability=durability)
        assert out["log"] == ["in", "yes", *(f"{n}" for n in range(20))]


def test_tasks_on_an_event_loop_take_a_thread_over_once(url: str) -> None:
    old = Counted()
    fan(old).invoke({"log": ["in"]}, THREAD)

    async def write() -> None:
        async with KeepsetSaver(url, fallback=old) as saver:
            newest = await saver.aget_tuple(THREAD)
            assert newest is not None
            at = newest.config
            several = [saver.aput_writes(at, [("log", [f"{n}"])], f"task-{n}") for n in range(12)]
            await asyncio.gather(*several)
            after = await saver.aget_tuple(THREAD)
            assert after is not None
            assert len(after.pending_writes or ()) == len(newest.pending_writes or ()) + 12

    asyncio.run(write())
    assert old.listed == 1


def test_two_processes_that_take_one_thread_over_end_in_one_history(old: Any, url: str) -> None:
    live(old)
    both = threading.Barrier(2)
    lengths: list[int] = []
    with KeepsetSaver(url, fallback=old) as one, KeepsetSaver(url, fallback=old) as other:

        def write(saver: KeepsetSaver) -> None:
            newest = saver.get_tuple(THREAD)
            assert newest is not None
            both.wait(30)
            saver.put_writes(newest.config, [("log", ["late"])], "task")
            lengths.append(len(list(saver.list(THREAD))))

        workers = [threading.Thread(target=write, args=(saver,)) for saver in (one, other)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert lengths == [len(list(old.list(THREAD)))] * 2
        assert names(url) == ["t"]


@dataclass
class Order:
    """What keepset does not know how to store."""


def test_what_cannot_be_stored_is_refused_by_name_and_the_thread_stays_where_it_was(
    url: str,
) -> None:
    old = InMemorySaver()
    old.serde = Passing()
    builder: Any = StateGraph(State)
    builder.add_node("node", lambda _: {"log": [Order()]})
    builder.add_edge(START, "node")
    builder.compile(checkpointer=old).invoke({"log": ["in"]}, THREAD)
    with ks.open(url) as store:
        saver = KeepsetSaver(store, fallback=old)
        graph = builder.compile(checkpointer=saver)
        assert isinstance(graph.get_state(THREAD).values["log"][1], Order)
        with pytest.raises(PolicyError, match=r"thread t: log\[0\]: .*Order") as refused:
            graph.update_state(THREAD, {"log": ["more"]})
        assert refused.value.code == "codec.unknown-type"
        assert held(store) == []
        assert len(graph.get_state(THREAD).values["log"]) == 2
        graph = builder.compile(checkpointer=KeepsetSaver(store, fallback=old, types=[Order]))
        graph.update_state(THREAD, {"log": ["more"]})
        assert held(store) == ["t"]


class Passing:
    """Hands objects on as they are, as a saver with a serializer of its own may."""

    def dumps_typed(self, obj: Any) -> Any:
        return "object", obj

    def loads_typed(self, data: Any) -> Any:
        return data[1]


def test_the_old_database_is_what_it_was_after_a_thread_was_taken_over_and_written_to(
    tmp_path: Path, url: str
) -> None:
    with old_saver("sqlite", tmp_path) as old:
        live(old)
        before = rows(tmp_path / "old.db")
        with KeepsetSaver(url, fallback=old) as saver:
            graph = outer(saver)
            calls: list[Any] = [Command(resume="inner"), {"log": ["again"]}, Command(resume="no")]
            for given in calls:
                graph.invoke(given, THREAD)
        assert rows(tmp_path / "old.db") == before


def test_a_thread_that_waits_there_is_listed_as_paused_once_it_is_here(old: Any, url: str) -> None:
    live(old)
    with ks.open(url) as store:
        saver = KeepsetSaver(store, fallback=old)
        newest = saver.get_tuple(THREAD)
        assert newest is not None
        saver.put_writes(newest.config, [("log", ["x"])], "another task")
        assert [one.status for one in store.runs()] == ["paused"]
