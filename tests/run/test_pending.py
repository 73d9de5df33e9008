"""Pending writes stay as long as their checkpoint, and go through rules and detectors."""

from __future__ import annotations

import asyncio

import pytest

import keepset as ks
from keepset.codec import Codec
from keepset.contracts import contract_of
from keepset.errors import NotFoundError, PolicyError
from keepset.plan.guard import Guard
from keepset.plan.pictured import take
from keepset.run.entering import Entering
from keepset.run.hosted import Surface
from keepset.run.pending import Batch, look_early, write_rows
from keepset.run.reporting import Report
from tests.run.states import Chat, Item
from tests.run.test_rules import Ticket

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def surface_of(store: ks.Store) -> Surface:
    """What the writes of a host go through."""
    services, own, codec = store.services, contract_of(Chat), Codec()
    guard = Guard(services.scanner, codec, services.mode)
    return Surface(services, own, guard, Report("r"), Entering(services, own, codec))


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


def test_a_picture_is_stored_as_what_it_shows_whatever_has_become_of_the_value() -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1})
        value = {"text": ["as it was"]}
        picture = take(value, ("other",), Codec())
        value["text"].append("later")
        run.put_writes(saved.id, "t", [("other", picture)])
        assert [w.value for w in run.writes(saved.id)] == [{"text": ["as it was"]}]


@pytest.mark.parametrize("early", [False, True])
def test_a_secret_in_a_picture_is_withheld_whoever_has_looked_at_it_before(
    early: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1})
        value = {"text": f"use {TOKEN} now", "more": "marked-by-a-control"}
        picture = take(value, ("other",), Codec())
        if early:
            look_early(surface_of(store), "other", value, picture)
        run.put_writes(saved.id, "t", [("other", picture)])
        found = repr(run.writes(saved.id))
    assert TOKEN not in found
    assert "marked-by-a-control" in found


def test_what_has_become_a_secret_since_a_picture_was_looked_at_is_withheld() -> None:
    with ks.open("memory:") as store:
        surface = surface_of(store)
        value = {"text": "that-is-secret-from-now-on"}
        picture = take(value, ("other",), surface.guard.codec)
        look_early(surface, "other", value, picture)
        store.services.known.add("that-is-secret-from-now-on", "later")
        rows, _ = write_rows(surface, Batch("t", [("other", picture)], admitted=True))
    assert b"that-is-secret" not in rows[0].value


@pytest.mark.parametrize("early", [False, True])
def test_a_strict_store_refuses_a_secret_in_a_picture(
    early: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    with ks.open("memory:", mode="strict") as store:
        surface = surface_of(store)
        picture = take({"text": TOKEN}, ("other",), surface.guard.codec)
        if early:
            look_early(surface, "other", {"text": TOKEN}, picture)
        with pytest.raises(PolicyError, match=r"other\.text"):
            write_rows(surface, Batch("t", [("other", picture)], admitted=True))
