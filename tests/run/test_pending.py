"""Pending writes stay as long as their checkpoint, and go through rules and detectors."""

from __future__ import annotations

import asyncio

import pytest

import keepset as ks
from keepset.errors import NotFoundError, PolicyError
from tests.run.states import Chat, Item
from tests.run.test_rules import Ticket

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_writes_come_back_in_order_of_path_task_and_index() -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1})
        run.put_writes(saved.id, "task-b", [("count", 2), ("items", [Item("a")])], path="1")
        run.put_writes(saved.id, "task-a", [("host:channel", (1, 2))], path="2")
        run.put_writes(saved.id, "task-b", [("count", 99)], path="1")
        found = [(w.task, w.index, w.channel, w.value) for w in run.writes(saved.id)]
    assert found == [
        ("task-b", 0, "count", 2),
        ("task-b", 1, "items", [Item("a")]),
        ("task-a", 0, "host:channel", (1, 2)),
    ]


def test_a_checkpoint_with_successors_takes_late_writes_and_prune_removes_them_with_it() -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        ids = [run.save("step", {"count": n}).id for n in range(70)]
        run.put_writes(ids[3], "late", [("count", 1)])
        run.put_writes(ids[69], "new", [("count", 2)])
        assert [w.task for w in run.writes(ids[3])] == ["late"]
        store.prune("r", keep_latest=1)
        reader = store.run(Chat, "r")
        assert [w.task for w in reader.writes(ids[69])] == ["new"]
        assert store.verify().problems == ()
        with pytest.raises(NotFoundError):
            reader.writes(ids[3])


def test_a_write_for_a_checkpoint_that_is_not_there_is_refused() -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        with pytest.raises(NotFoundError, match="nowhere"):
            run.put_writes("nowhere", "t", [("count", 1)])


def test_a_secret_in_a_write_is_withheld_and_a_handle_refused() -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1})
        run.put_writes(saved.id, "t", [("other", {"text": TOKEN}), ("draft", f"use {TOKEN} now")])
        assert TOKEN not in repr(run.writes(saved.id))
        with pytest.raises(PolicyError, match="anything"):
            run.put_writes(saved.id, "u", [("anything", object())])
        assert {w.task for w in run.writes(saved.id)} == {"t"}


def test_a_write_to_a_field_that_is_not_stored_is_left_out() -> None:
    with ks.open("memory:") as store:
        run = store.run(Ticket, "r")
        saved = run.save("one", {"question": "q"})
        run.put_writes(saved.id, "t", [("docs", [{"id": "a"}]), ("question", "other")])
        assert [(w.index, w.channel) for w in run.writes(saved.id)] == [(1, "question")]


def test_an_asynchronous_run_has_the_same_writes() -> None:
    async def work() -> None:
        async with await ks.aopen("memory:") as store:
            run = await store.run(Chat, "r")
            saved = await run.save("one", {"count": 1})
            await run.put_writes(saved.id, "t", [("count", 2)])
            assert [w.value for w in await run.writes(saved.id)] == [2]

    asyncio.run(work())
