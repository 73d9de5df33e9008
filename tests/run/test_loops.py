"""Event loops and threads on one store: none waits for a disk, and none disturbs another."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import sys
import threading
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.run.retention import LIMIT
from tests.run.states import Chat

BIG = "a value that is stored apart " * 4_000


async def _every_call(store: ks.AsyncStore) -> None:
    run = await store.run(Chat, "r")
    first = await run.save("one", {"count": 1, "draft": BIG})
    await run.save("two", {"count": 2, "draft": BIG})
    await run.put_writes(first, "task", [("draft", BIG)])
    assert [w.value for w in await run.writes(first)] == [BIG]
    fork = await run.fork(first)
    await fork.save("other", {"count": 3})
    again = await store.run(Chat, "r")
    assert await again.state == {"count": 3}
    assert len(await again.history()) == 2
    assert (await again.at(first)).values["draft"] == BIG
    assert len(await store.runs()) == 1
    assert len(await (await store.inspect("r")).history()) == 2
    assert await store.can_resume("r")
    assert (await store.verify()).problems == ()
    assert (await store.stats()).runs == 1
    assert (await store.settings()).engine
    await store.prune("r", keep_latest=1)
    await store.delete("r")


def _sqlite_in_this_thread(work: Callable[[], Any]) -> set[str]:
    """Do some work, and give the names of all calls to SQLite that this thread made for it."""
    called: set[str] = set()

    def note(_frame: object, event: str, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        if event == "c_call" and isinstance(owner, sqlite3.Connection | sqlite3.Cursor):
            called.add(function.__name__)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return called


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_no_call_to_the_database_is_made_on_an_event_loop(tmp_path: Path, kind: str) -> None:
    url = "memory:" if kind == "memory" else f"sqlite:///{tmp_path / 'runs.db'}"

    async def work() -> None:
        async with await ks.aopen(url) as store:
            await _every_call(store)

    assert _sqlite_in_this_thread(lambda: asyncio.run(work())) == set()


def test_a_store_without_a_loop_does_use_the_database_in_its_callers_thread(tmp_path: Path) -> None:
    """So that the test above sees what it looks for."""
    with ks.open(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        run = store.run(Chat, "r")
        assert "execute" in _sqlite_in_this_thread(lambda: run.save("one", {"count": 1}))


def test_an_event_loop_goes_on_while_a_save_waits_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async def work() -> None:
        async with await ks.aopen(f"sqlite:///{path}") as store:
            run = await store.run(Chat, "r")
            await run.save("one", {"count": 1})
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            saving = asyncio.ensure_future(run.save("two", {"count": 2}))
            for _ in range(200):
                await asyncio.sleep(0)
            assert not saving.done()
            assert len(await (await store.run(Chat, "r")).history()) == 1
            other.execute("ROLLBACK")
            other.close()
            await saving
            assert len(await run.history()) == 2

    asyncio.run(work())


def test_several_event_loops_use_one_store_at_once(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    async def steps(store: ks.AsyncStore, name: str) -> None:
        run = await store.run(Chat, name)
        for count in range(15):
            await run.save("step", {"count": count})
            assert (await run.history(1))[0].seq == count + 1

    def loop(store: ks.AsyncStore, number: int) -> None:
        async def together() -> None:
            await asyncio.gather(*(steps(store, f"{number} {task}") for task in range(4)))

        try:
            asyncio.run(together())
        except BaseException as error:  # noqa: BLE001 - told to the thread that asks
            errors.append(error)

    async def opened() -> ks.AsyncStore:
        return await ks.aopen(f"sqlite:///{tmp_path / 'runs.db'}", durability="normal")

    async def checked(store: ks.AsyncStore) -> Any:
        verified = await store.verify()
        await store.close()
        return verified

    store = asyncio.run(opened())
    threads = [threading.Thread(target=loop, args=(store, number)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    verified = asyncio.run(checked(store))
    assert (verified.runs, verified.checkpoints, verified.problems) == (16, 240, ())


def test_a_refused_save_takes_none_with_it_that_is_made_at_the_same_time(tmp_path: Path) -> None:
    """Half of the tasks write to runs that others have taken over meanwhile."""

    async def work() -> None:
        async with await ks.aopen(f"sqlite:///{tmp_path / 'runs.db'}") as store:
            stale = [await store.run(Chat, f"stale {n}") for n in range(10)]
            good = [await store.run(Chat, f"good {n}") for n in range(10)]
            for run in [*stale, *good]:
                await run.save("one", {"count": 1})
            for run in stale:
                await (await store.run(Chat, run.id)).save("two", {"count": 2})
            saves: list[Awaitable[Any]] = []
            for pair in zip(stale, good, strict=True):
                saves += [run.save("three", {"count": 3}) for run in pair]
            results = await asyncio.gather(*saves, return_exceptions=True)
            codes = [getattr(result, "code", "saved") for result in results]
            assert codes == ["conflict.token", "saved"] * 10
            states = [await (await store.run(Chat, run.id)).state for run in [*stale, *good]]
            assert states == [{"count": 2}] * 10 + [{"count": 3}] * 10

    asyncio.run(work())


def test_what_runs_remember_takes_no_more_memory_than_the_bound_says() -> None:
    """Measured, and not only counted; without the bound it would be four times as much."""
    with ks.open("memory:") as store:
        assert store.services.retention._limit == LIMIT == 64 << 20
        store.services.retention._limit = 2 << 20
        runs = [store.run(Chat, f"r{n}") for n in range(40)]
        states = [[{"draft": f"{n} {turn} " + "x" * 200_000} for n in range(40)] for turn in (1, 2)]
        gc.collect()
        tracemalloc.start()
        try:
            for run, first, second in zip(runs, *states, strict=True):
                run.save("one", first)
                run.save("two", second)
            gc.collect()
            held = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert held < 3 << 20
        store.services.retention._limit = 2 << 20
