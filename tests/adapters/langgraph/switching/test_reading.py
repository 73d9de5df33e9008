"""A thread that keepset does not have is read from the saver that it lies in."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import keepset as ks
from keepset.errors import UsageError
from keepset.langgraph import KeepsetSaver
from keepset.langgraph import compile as compiled
from tests.adapters.landed import held
from tests.adapters.langgraph.saver.graphs import THREAD, outer
from tests.adapters.langgraph.saver.steps import config
from tests.adapters.langgraph.switching.teams import (
    live,
    old_saver,
    old_saver_on_loop,
    rows,
    shown,
    story,
    told,
)


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])
def test_a_user_sees_the_same_history_as_with_the_old_saver_and_nothing_is_written(
    old: Any,
    url: str,
    bound: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    before = live(old)
    with ks.open(url) as store:
        saver = KeepsetSaver(store, fallback=old)
        graph = saver.bind(outer(None)) if bound else outer(saver)
        assert story(graph) == story(before)
        assert shown(graph.get_state(THREAD)) == shown(before.get_state(THREAD))
        inside = graph.get_state(THREAD, subgraphs=True).tasks[0].state
        assert inside.values == before.get_state(THREAD, subgraphs=True).tasks[0].state.values
        assert told(saver) == told(old)
        assert held(store) == []


def test_a_listing_of_all_threads_has_those_of_both_savers(old: Any, url: str) -> None:
    for thread in ("a", "t", "z"):
        live(old, thread)
    with KeepsetSaver(url, fallback=old) as saver:
        live(saver, "m")
        outer(saver).invoke(Command(resume="inner"), config("t"))
        taken = [one.config["configurable"]["thread_id"] for one in saver.list(None)]
        assert set(taken) == {"a", "m", "t", "z"}
        for thread in ("a", "z"):
            assert told(saver, thread) == told(old, thread)
            assert taken.count(thread) == len(told(old, thread))
        assert len(list(saver.list(None, limit=taken.count("m") + 1))) == taken.count("m") + 1
        assert len(list(saver.list(None))) == len(taken)


def test_a_listing_takes_filter_limit_and_before_there_as_well(old: Any, url: str) -> None:
    live(old)
    listed = list(old.list(config("t")))
    with KeepsetSaver(url, fallback=old) as saver:

        def ids(**options: Any) -> tuple[list[str], list[str]]:
            both = (saver.list(config("t"), **options), old.list(config("t"), **options))
            mine, theirs = ([one.checkpoint["id"] for one in each] for each in both)
            return mine, theirs

        for options in (
            {"limit": 2},
            {"filter": {"source": "update"}},
            {"before": listed[2].config},
            {"before": listed[1].config, "limit": 1, "filter": {"source": "loop"}},
        ):
            mine, theirs = ids(**options)
            assert mine == theirs != []
        assert saver.get_tuple(config("t", "nothing")) is None
        assert saver.get_tuple(config("other")) is None


def test_the_same_holds_on_an_event_loop(tmp_path: Path, url: str) -> None:
    async def read(kind: str) -> None:
        (folder := tmp_path / kind).mkdir()
        async with old_saver_on_loop(kind, folder) as old, KeepsetSaver(url, fallback=old) as saver:
            before, graph = outer(old), outer(saver)
            await before.ainvoke({"log": ["in"]}, THREAD)
            mine = [shown(one) async for one in graph.aget_state_history(THREAD)]
            theirs = [shown(one) async for one in before.aget_state_history(THREAD)]
            assert mine == theirs != []
            assert [one.config async for one in saver.alist(None)] == [
                one.config async for one in old.alist(None)
            ]

    for kind in ("async sqlite", "memory"):
        asyncio.run(read(kind))


def test_reading_changes_nothing_in_the_old_database(tmp_path: Path, url: str) -> None:
    with old_saver("sqlite", tmp_path) as old:
        live(old)
        before = rows(tmp_path / "old.db")
        with KeepsetSaver(url, fallback=old) as saver:
            story(outer(saver))
            outer(saver).invoke(Command(resume="inner"), THREAD)
        assert rows(tmp_path / "old.db") == before
        assert before["checkpoints"]


def test_what_is_no_saver_is_refused_by_name(tmp_path: Path) -> None:
    given: Any = SqliteSaver.from_conn_string(str(tmp_path / "old.db"))
    with pytest.raises(UsageError, match="a _GeneratorContextManager cannot be a fallback") as no:
        KeepsetSaver("memory:", fallback=given)
    assert no.value.code == "langgraph.fallback"
    with old_saver("memory", tmp_path) as old, KeepsetSaver("memory:") as saver:
        with pytest.raises(UsageError, match="has its fallback already"):
            compiled(outer(None).builder, saver, fallback=old)
        graph: Any = compiled(outer(None).builder, "memory:", fallback=old)
        live(old)
        assert graph.get_state(THREAD).next == ("inner",)
        graph.checkpointer.close()


class OnLoop(BaseCheckpointSaver[Any]):
    """A saver that has asynchronous methods only."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = InMemorySaver()

    async def aget_tuple(self, config: Any) -> Any:
        return self.inner.get_tuple(config)

    async def alist(self, config: Any, **options: Any) -> Any:
        for one in self.inner.list(config, **options):
            yield one


def test_a_saver_with_asynchronous_methods_only_is_asked_on_the_event_loop(url: str) -> None:
    old = OnLoop()
    live(old.inner)

    async def go_on() -> Any:
        async with KeepsetSaver(url, fallback=old) as saver:
            return await outer(saver).ainvoke(Command(resume="inner"), THREAD)

    plain = pytest.raises(UsageError, match=r"OnLoop\.get_tuple is asynchronous")
    with KeepsetSaver(url, fallback=old) as saver, plain:
        saver.get_tuple(THREAD)
    assert asyncio.run(go_on())["log"][-1] == "inner inner"


def test_a_saver_that_has_to_be_told_which_classes_to_read_is_told() -> None:
    told: list[Any] = []

    class Asking(InMemorySaver):
        def with_allowlist(self, extra_allowlist: Any) -> Any:
            told.append(extra_allowlist)
            return self

    old = Asking()
    live(old)
    with KeepsetSaver("memory:", fallback=old) as saver:
        allowing = saver.with_allowlist([("somewhere", "Order")])
        assert told == [[("somewhere", "Order")]]
        assert outer(allowing).get_state(THREAD).next == ("inner",)
        assert KeepsetSaver.with_allowlist(allowing, []).binding is None
    with KeepsetSaver("memory:") as alone:
        assert alone.with_allowlist([("somewhere", "Order")]) is alone


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_channel_that_is_rebuilt_from_writes_is_read_there_and_goes_on_here(
    url: str, durability: Any
) -> None:
    growing = pytest.importorskip("tests.adapters.langgraph.saver.growing", exc_type=ImportError)
    old = InMemorySaver()
    before = growing.graph(old)
    before.invoke({"log": ["i"]}, THREAD)
    with KeepsetSaver(url, fallback=old) as saver:
        graph = growing.graph(saver)
        assert story(graph) == story(before)
        expected = [shown(one) for one in before.get_state_history(THREAD)]
        out = graph.invoke({"log": ["j"]}, THREAD, durability=durability)
    assert out["log"][: len(expected[0][0]["log"])] == expected[0][0]["log"]
    with KeepsetSaver(url) as alone:
        after = [shown(one) for one in growing.graph(alone).get_state_history(THREAD)]
    assert after[-len(expected) + 1 :] == expected[1:]
    assert after[-len(expected)][0] == expected[0][0]
