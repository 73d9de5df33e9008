"""The asynchronous names do what the synchronous ones do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import UsageError
from tests.run.states import Chat


async def load(ids: list[str]) -> list[dict[str, str]]:
    await asyncio.sleep(0)
    return [{"id": one} for one in ids]


class Loaded(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[dict[str, str]], ks.Refetch(load, using="ids")]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


def test_an_asynchronous_store_saves_forks_lists_and_deletes(url: str) -> None:
    async def work() -> None:
        async with await ks.aopen(url) as store:
            run = await store.run(Chat, "r")
            first = await run.save("one", {"count": 1})
            await run.save("two", {"count": 2})
            fork = await run.fork(first.id)
            await fork.save("other", {"count": 3})
            again = await store.run(Chat, "r")
            assert (await again.state) == {"count": 3}
            assert [c.step for c in await again.history()] == ["other", "one"]
            assert (await again.at(first.id)).values == {"count": 1}
            assert [s.run.key.run_id for s in await store.runs()] == ["r"]
            assert (await store.verify()).checkpoints == 3
            assert (await store.can_resume("r")).verdict == 0
            assert (await store.stats()).checkpoints == 3
            assert (await store.prune("r", keep_latest=1)).removed == 1
            inspected = await store.inspect("r")
            assert len(await inspected.history()) == 1
            assert await store.delete("r")

    asyncio.run(work())


def test_many_tasks_save_at_once_and_none_is_lost(url: str) -> None:
    async def one(store: ks.AsyncStore, name: str) -> None:
        run = await store.run(Chat, name)
        for count in range(20):
            await run.save("step", {"count": count})

    async def work() -> None:
        async with await ks.aopen(url) as store:
            await asyncio.gather(*(one(store, f"run {n}") for n in range(20)))
            assert (await store.verify()).checkpoints == 400

    asyncio.run(work())


def test_a_loader_may_be_a_coroutine_where_the_store_is_asynchronous(url: str) -> None:
    async def work() -> Any:
        async with await ks.aopen(url) as store:
            await (await store.run(Loaded, "r")).save("one", {"ids": ["a"]})
            return await (await store.run(Loaded, "r")).state

    assert asyncio.run(work()) == {"ids": ["a"], "docs": [{"id": "a"}]}
    with ks.open(url) as store, pytest.raises(UsageError, match="load"):
        _ = store.run(Loaded, "r").state


def test_a_run_refuses_two_users_at_a_time(url: str) -> None:
    async def work() -> None:
        async with await ks.aopen(url) as store:
            run = await store.run(Chat, "r")
            results = await asyncio.gather(
                *(run.save("step", {"count": n}) for n in range(2)), return_exceptions=True
            )
            refused = [r for r in results if isinstance(r, UsageError)]
            assert [r.code for r in refused] == ["run.in-use"]
            assert len(await run.history()) == 1

    asyncio.run(work())


def test_a_save_that_was_cancelled_lands_or_not_and_the_run_goes_on(url: str) -> None:
    async def work() -> None:
        async with await ks.aopen(url) as store:
            run = await store.run(Chat, "r")
            for count in range(30):
                task = asyncio.ensure_future(run.save("step", {"count": count}))
                for _ in range(count % 5):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await run.save("last", {"count": 99})
            assert (await (await store.run(Chat, "r")).state) == {"count": 99}
            assert (await store.verify()).problems == ()

    asyncio.run(work())
