"""A save that finds nobody else at work is made by its own thread, and means the same."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import pytest

import keepset as ks
from keepset.backends.outcome import Outcome
from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.backends.sqlite.jobs import Job
from keepset.errors import ConflictError, KeepsetError, StoreError
from keepset.plan.reads import ReadEverything
from keepset.plan.requests import Seen
from keepset.plan.writes import Claim, Delete, Save
from keepset.testing.contract.base import Scribe, mark, step
from tests.backends.sqlite.resting import rest


class Counter(TypedDict):
    count: int


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(tmp_path / "runs.db", durability="normal", timeout=5)
    yield opened
    opened.close()


def _settled(backend: SQLiteBackend, plan: Save) -> Any:
    outcome = Outcome()
    try:
        backend.settle(plan, outcome)
    except KeepsetError as error:
        return error
    return outcome.error or outcome.value


def _seqs(backend: SQLiteBackend, scribe: Scribe) -> list[int]:
    stored = backend.execute(ReadEverything(scribe.key))
    return [row.seq for row in stored.lines[0].steps]


def _without_the_thread(backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: Job) -> None:
        raise AssertionError(job)

    monkeypatch.setattr(rest(backend)._writer, "_hand_over", refuse)


def test_a_lone_save_needs_no_other_thread(
    backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    scribe = Scribe(backend).save_many(1)
    with monkeypatch.context() as alone:
        _without_the_thread(backend, alone)
        saved = _settled(backend, scribe.plan())
    assert (saved.fence, saved.line) == (scribe.fence, scribe.line)
    assert _seqs(backend, scribe) == [1, 2]


def test_a_save_while_others_write_goes_through_their_thread(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(1)
    entered, leave = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        entered.set()
        leave.wait(10)

    held = backend._writer.submit(hold)
    assert entered.wait(10)
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(_settled, backend, scribe.plan())
        assert not later.done()
        leave.set()
        assert later.result(10).line == scribe.line
    held.result(10)
    assert _seqs(backend, scribe) == [1, 2]


def test_a_lone_save_is_refused_as_any_other_is(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(3)
    plan = scribe.plan()
    stale = {
        "conflict.token": replace(plan, claim=replace(scribe.fence, token=7)),
        "conflict.layout": replace(plan, claim=replace(scribe.fence, layout=7)),
        "conflict.deleted": replace(plan, claim=replace(scribe.fence, incarnation=b"other")),
        "conflict.head": replace(plan, head=2),
        "conflict.duplicate": replace(plan, step=step(4)._replace(checkpoint="checkpoint-2")),
        "conflict.epoch": replace(plan, contract=replace(scribe.contract, epoch=0)),
        "plan.seq": replace(plan, step=step(2)._replace(checkpoint="new")),
    }
    assert {code: _settled(backend, one).code for code, one in stale.items()} == {
        code: code for code in stale
    }
    assert _seqs(backend, scribe) == [1, 2, 3]


def test_a_lone_save_never_brings_back_what_was_deleted(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(2)
    backend.execute(Delete(scribe.key, mark(scribe.key), at=1))
    assert isinstance(_settled(backend, scribe.plan()), ConflictError)


def test_a_lone_save_after_another_writer_has_claimed_the_run_is_refused(
    backend: SQLiteBackend,
) -> None:
    scribe = Scribe(backend).save_many(2)
    seen = Seen(scribe.fence.incarnation, 0)
    backend.execute(Claim(scribe.key, mark(scribe.key), seen, epoch=1))
    assert _settled(backend, scribe.plan()).code == "conflict.token"


def test_a_lone_save_notices_that_its_file_is_gone(backend: SQLiteBackend, tmp_path: Path) -> None:
    scribe = Scribe(backend).save_many(1)
    (tmp_path / "runs.db").rename(tmp_path / "elsewhere.db")
    refusal = _settled(backend, scribe.plan())
    assert isinstance(refusal, StoreError)
    assert refusal.code == "store.replaced"


def test_a_lone_save_on_a_closed_store_is_refused(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(1)
    backend.close()
    assert _settled(backend, scribe.plan()).code == "store.closed"


def test_an_interrupt_right_after_a_lone_save_loses_nothing_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is there, its run does not know: it looks, and goes on behind it.

    Under ``full`` the writer may be making room in its log, and the save would not be a lone one.
    """
    with ks.open(f"sqlite:///{tmp_path / 'runs.db'}", durability="normal") as store:
        run = store.run(Counter, "run")
        run.save("one", {"count": 1})
        backend = store.services.backend
        assert isinstance(backend, SQLiteBackend)
        add = rest(backend)._writer.add_at_once

        def interrupted(statement: Any, rows: int) -> bool:
            assert add(statement, rows)
            signal.raise_signal(signal.SIGINT)
            return True

        with monkeypatch.context() as patched:
            patched.setattr(backend._writer, "add_at_once", interrupted)
            with pytest.raises(KeyboardInterrupt):
                run.save("two", {"count": 2})
        run.save("three", {"count": 3})
        assert [(c.step, c.seq) for c in run.history()] == [("three", 3), ("two", 2), ("one", 1)]
        assert run.state == {"count": 3}
