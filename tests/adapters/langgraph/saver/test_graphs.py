"""Real graphs see with this saver exactly what they see with LangGraph's own one in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.graphs import STORIES, THREAD, history, outer, plain, seen

DURABILITIES = ["sync", "async", "exit"]


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeepsetSaver]:
    tmp_path.chmod(0o700)
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/runs.db"
    with ks.open(url) as store:
        yield KeepsetSaver(store)
        assert store.verify().problems == ()


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("story", STORIES)
def test_a_graph_tells_the_same_story(story: str, durability: str, saver: KeepsetSaver) -> None:
    told = STORIES[story]
    assert plain(told(saver, durability)) == plain(told(InMemorySaver(), durability))


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_channel_that_is_rebuilt_from_writes_tells_the_same_story(
    durability: str, saver: KeepsetSaver
) -> None:
    pytest.importorskip("langgraph.channels.delta")
    growing = import_module("tests.adapters.langgraph.saver.growing")
    mine, theirs = (growing.delta(one, durability) for one in (saver, InMemorySaver()))
    assert plain(mine) == plain(theirs)


def test_what_a_channel_is_rebuilt_from_is_what_other_savers_give(saver: KeepsetSaver) -> None:
    """LangGraph's own walk over whole checkpoints gives the same; this one reads little."""
    pytest.importorskip("langgraph.channels.delta")
    growing = import_module("tests.adapters.langgraph.saver.growing")
    growing.delta(saver, "sync")
    asked: Any = {"channels": ["log", "count", "never"]}
    default: Any = BaseCheckpointSaver.get_delta_channel_history
    told = list(saver.list(THREAD))
    assert len(told) > 20
    for one in told:
        mine = saver.get_delta_channel_history(config=one.config, **asked)
        assert mine == default(saver, config=one.config, **asked)
        again = asyncio.run(saver.aget_delta_channel_history(config=one.config, **asked))
        assert again == mine
    nothing = saver.get_delta_channel_history(
        config={"configurable": {"thread_id": "none"}}, channels=["log"]
    )
    assert nothing == {"log": {"writes": []}}


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_pruned_thread_has_what_its_channels_are_rebuilt_from(
    durability: str, saver: KeepsetSaver
) -> None:
    pytest.importorskip("langgraph.channels.delta")
    growing = import_module("tests.adapters.langgraph.saver.growing")
    whole = growing.graph(saver)
    whole.invoke({"log": ["i"]}, THREAD, durability=durability)
    before, count = seen(whole.get_state(THREAD)), len(history(whole))
    saver.prune(["t"])
    assert seen(growing.graph(saver).get_state(THREAD)) == before
    assert len(history(whole)) <= min(count, 3)
    assert growing.graph(saver).invoke({"log": ["j"]}, THREAD)["log"][:9] == [
        *before[0]["log"],
        "j",
    ]


async def _awaited(saver: Any, durability: Any) -> list[Any]:
    graph: Any = outer(saver)
    told: list[Any] = []
    inputs: list[Any] = [{"log": ["in"]}, Command(resume="yes"), Command(resume="inner")]
    for given in inputs:
        told.append(await graph.ainvoke(given, THREAD, durability=durability))
        told.append(seen(await graph.aget_state(THREAD))[:3])
    told.append([seen(state) async for state in graph.aget_state_history(THREAD)])
    await graph.aupdate_state(THREAD, {"log": ["updated"]}, as_node="a")
    told.append(seen(await graph.aget_state(THREAD)))
    return told


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_graph_on_an_event_loop_tells_the_same_story(
    durability: str, saver: KeepsetSaver
) -> None:
    mine = asyncio.run(_awaited(saver, durability))
    assert plain(mine) == plain(asyncio.run(_awaited(InMemorySaver(), durability)))


def test_event_loops_and_threads_share_one_saver(saver: KeepsetSaver) -> None:
    graph = outer(saver)

    async def ask(number: int) -> Any:
        own: Any = {"configurable": {"thread_id": f"t{number}"}}
        await graph.ainvoke({"log": [str(number)]}, own)
        return await graph.ainvoke(Command(resume=number), own)

    async def several(first: int) -> list[Any]:
        return await asyncio.gather(*(ask(first + number) for number in range(5)))

    for first in (0, 5):
        for number, told in enumerate(asyncio.run(several(first)), first):
            assert told["log"][:3] == [str(number), "a", f"answer {number}"]
    synchronous = graph.invoke({"log": ["again"]}, {"configurable": {"thread_id": "t7"}})
    assert synchronous["log"][0] == "7"


def test_a_thread_goes_on_after_the_store_was_opened_again(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    url = f"sqlite:///{tmp_path}/runs.db"
    inputs: list[Any] = [{"log": ["in"]}, Command(resume="yes"), Command(resume="inner")]
    whole = outer(InMemorySaver())
    told = []
    for given in inputs:
        whole.invoke(given, THREAD)
        with KeepsetSaver(url) as saver:
            outer(saver).invoke(given, THREAD)
            told = history(outer(saver))
    assert plain(told) == plain(history(whole))


@pytest.mark.parametrize("version", ["", 0, 0.5])
def test_a_thread_with_versions_of_another_saver_goes_on(
    version: object, saver: KeepsetSaver
) -> None:
    """Texts go on as texts and numbers as numbers, since LangGraph compares them."""
    other = InMemorySaver()
    graph = outer(other)
    graph.invoke({"log": ["in"]}, THREAD)
    for found in reversed(list(other.list(THREAD))):
        made: Any = dict(found.checkpoint)
        if version != "":
            made["channel_versions"] = _numbered(made["channel_versions"], version)
            made["versions_seen"] = {
                node: _numbered(seen, version) for node, seen in made["versions_seen"].items()
            }
        at: Any = found.parent_config or {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        saver.put(at, made, found.metadata, {})
        for task, channel, value in found.pending_writes or ():
            saver.put_writes(found.config, [(channel, value)], task)
    mine = outer(saver)
    assert mine.invoke(Command(resume="yes"), THREAD)["log"][:3] == ["in", "a", "answer yes"]
    newest = saver.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
    assert newest is not None
    kinds = {type(one) for one in newest.checkpoint["channel_versions"].values()}
    assert kinds == {type(version)}


def _numbered(versions: dict[str, str], like: object) -> dict[str, object]:
    return {name: int(text.split(".")[0]) + like for name, text in versions.items()}  # type: ignore[operator] # a number


def test_new_threads_count_in_whole_numbers(saver: KeepsetSaver) -> None:
    versions = [saver.get_next_version(None, None)]
    for _ in range(3):
        versions.append(saver.get_next_version(versions[-1], None))
    assert versions == [1, 2, 3, 4]
    text = saver.get_next_version(f"{41:032}.0123", None)
    assert text > f"{41:032}.9999"
    assert text.startswith(f"{42:032}.")
