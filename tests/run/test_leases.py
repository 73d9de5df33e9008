"""One execution at a time works on a run; one thread sees to all leases of a store."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import PolicyError, UsageError
from tests.run.leased import (
    elsewhere,
    lease,
    refusal,
    save_elsewhere,
    until,
)
from tests.run.states import Chat


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'runs.db'}"


@pytest.mark.parametrize("status", ["paused", "failed", "done"])
def test_a_run_is_leased_while_it_runs(url: str, status: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        assert save_elsewhere(store) == "run.leased"
        run.save("two", {"count": 2}, status=status)
        assert lease(store) is None
        run.save("three", {"count": 3}, status=status)
        assert lease(store) is None
        run.save("four", {"count": 4})
        assert save_elsewhere(store) == "run.leased"
        run.save("five", {"count": 5}, status=status)
        assert save_elsewhere(store) == "other"


def test_a_lease_can_be_taken_before_the_first_step(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.take_lease()
        run.take_lease()
        assert (store.runs(), run.state) == ([], None)
        assert save_elsewhere(store) == "run.leased"
        run.save("one", {"count": 1}, status="paused")
        assert save_elsewhere(store) == "other"
        assert refusal(run.take_lease).code == "conflict.token"
        later = store.run(Chat, "r")
        assert later.state == {"count": 0}
        store.run(Chat, "r").save("newer", {"count": 5}, status="paused")
        assert refusal(later.take_lease).code == "conflict.head"


def test_forks_and_pending_writes_of_a_run_on_which_another_works_are_refused(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1})
        assert elsewhere(lambda: store.run(Chat, "r").fork(saved)) == "run.leased"
        write = [("count", 2)]
        refused = elsewhere(lambda: store.run(Chat, "r").put_writes(saved, "task", write))
        assert refused == "run.leased"
        fork = run.fork(saved)
        fork.save("two", {"count": 2})
        run.put_writes(saved, "task", write)
        assert save_elsewhere(store) == "run.leased"
        fork.save("end", {"count": 3}, status="done")
        assert save_elsewhere(store) == "other"


def test_a_run_that_nobody_refers_to_gives_its_lease_back(url: str) -> None:
    """Also where an error, whose traceback refers to it in a circle, has come between."""
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        with pytest.raises(PolicyError):
            run.save("two", {"anything": object()})
        del run
        assert save_elsewhere(store) == "other"
        until(lambda: lease(store) is None)


def test_in_one_thread_the_newest_of_several_objects_has_the_lease(url: str) -> None:
    with ks.open(url) as store:
        first, second = store.run(Chat, "r"), store.run(Chat, "r")
        first.save("one", {"count": 1})
        assert second.state == {"count": 1}
        second.save("two", {"count": 2})
        assert refusal(lambda: first.save("three", {"count": 3})).code == "conflict.token"
        assert save_elsewhere(store) == "run.leased"


def test_a_lease_can_be_broken(url: str) -> None:
    with ks.open(url) as store:
        assert not store.break_lease("r")
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        assert store.break_lease("r")
        assert not store.break_lease("r")
        assert save_elsewhere(store) == "other"
        assert refusal(lambda: run.save("two", {"count": 2})).code == "conflict.token"

        async def broken() -> list[bool]:
            async with await ks.aopen("memory:") as other:
                run = await other.run(Chat, "r")
                await run.take_lease()
                return [await other.break_lease("r"), await other.break_lease("r")]

        assert asyncio.run(broken()) == [True, False]


# --- the thread -----------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [False, True])
def test_one_thread_renews_all_leases_of_a_store(url: str, *, later: bool) -> None:
    """Of a store for event loops as well."""

    def renewing() -> set[threading.Thread]:
        return {one for one in threading.enumerate() if one.name == "keepset-lease"}

    before = renewing()

    async def work() -> None:
        async with await ks.aopen(url, lease=1) as store:
            runs = [await store.run(Chat, f"r{number}") for number in range(20)]
            for run in runs:
                await run.save("one", {"count": 1})
            await asyncio.to_thread(renewed, ks.Store(store.services))

    def renewed(store: ks.Store) -> None:
        def ends() -> list[int]:
            return [row.run.lease.until for row in store.runs() if row.run.lease]

        first = ends()
        assert len(first) == 20
        until(lambda: min(ends()) > max(first))
        assert len(renewing() - before) == 1

    if later:
        asyncio.run(work())
    else:
        with ks.open(url, lease=1) as store:
            runs = [store.run(Chat, f"r{number}") for number in range(20)]
            for run in runs:
                run.save("one", {"count": 1})
            renewed(store)
    assert renewing() <= before


@pytest.mark.parametrize("lease", [0, -1, 0.5, float("nan"), float("inf"), "30", 100_000])
def test_a_lease_that_lasts_no_time_or_for_ever_is_refused(lease: Any) -> None:
    with pytest.raises(UsageError) as caught:
        ks.open("memory:", lease=lease)
    assert caught.value.code == "usage.lease"
