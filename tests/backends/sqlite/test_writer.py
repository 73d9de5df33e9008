"""Writes that wait together are committed together, and each stands for itself."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from keepset.backends.sqlite import open_sqlite
from keepset.backends.sqlite.committing import Work
from keepset.backends.sqlite.connecting import Place, open_store
from keepset.backends.sqlite.writing import Writer
from keepset.errors import ConflictError, IntegrityError, StoreError, UsageError
from keepset.plan.requests import Plan
from keepset.testing.contract.base import Scribe

ADD = "INSERT INTO tombstone (mark, deletions, at) VALUES (?, 1, 1)"


class Group:
    """Holds the writer back until a number of writes wait, and counts its commits."""

    def __init__(self, place: Place) -> None:
        connection = open_store(place)
        self.sent: list[str] = []
        connection.set_trace_callback(self.sent.append)
        self.writer = Writer(place, connection)
        self._go = threading.Event()
        begun = threading.Event()

        def hold(_: sqlite3.Connection) -> None:
            begun.set()
            self._go.wait(10)

        self.writer.submit(hold)
        assert begun.wait(10)

    def release(self) -> None:
        self._go.set()

    def marks(self) -> list[bytes]:
        query = "SELECT mark FROM tombstone ORDER BY mark"
        rows = self.writer.execute(lambda connection: connection.execute(query).fetchall())
        return [mark for (mark,) in rows]

    def commits(self) -> int:
        """How many there were, less that of what held the writer back."""
        return self.sent.count("COMMIT") - 1


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    made = Group(Place((tmp_path / "runs.db").resolve(), "full", 5.0))
    yield made
    made.release()
    made.writer.close()


def _add(group: Group, mark: bytes) -> Future[Any]:
    return group.writer.submit(lambda connection: connection.execute(ADD, (mark,)).rowcount)


def _noting(order: list[int], number: int) -> Work:
    return lambda _: order.append(number)


def _refusal(connection: sqlite3.Connection) -> None:
    connection.execute(ADD, (b"refused",))
    raise ConflictError("no", code="conflict.head")


def _orphan(connection: sqlite3.Connection) -> None:
    """Write a row that only the commit will refuse."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    connection.execute("INSERT INTO subject (run, subject) VALUES (99, x'00')")


def test_writes_that_wait_share_one_commit(group: Group) -> None:
    futures = [_add(group, b"%03d" % number) for number in range(50)]
    group.release()
    assert [future.result(10) for future in futures] == [1] * 50
    assert group.commits() == 1
    assert group.marks() == [b"%03d" % number for number in range(50)]


def test_writes_are_done_in_the_order_in_which_they_came(group: Group) -> None:
    order: list[int] = []
    futures = [group.writer.submit(_noting(order, number)) for number in range(600)]
    group.release()
    for future in futures:
        future.result(10)
    assert order == [*range(600)]


def test_a_refused_write_is_undone_alone(group: Group) -> None:
    before, refused, after = (
        _add(group, b"before"),
        group.writer.submit(_refusal),
        _add(group, b"after"),
    )
    group.release()
    assert (before.result(10), after.result(10)) == (1, 1)
    with pytest.raises(ConflictError):
        refused.result(10)
    assert group.marks() == [b"after", b"before"]


def test_an_error_of_sqlite_is_undone_alone(group: Group) -> None:
    futures = [_add(group, mark) for mark in (b"same", b"same", b"other")]
    group.release()
    assert (futures[0].result(10), futures[2].result(10)) == (1, 1)
    with pytest.raises(IntegrityError) as caught:
        futures[1].result(10)
    assert caught.value.code == "store.constraint"
    assert group.marks() == [b"other", b"same"]


def test_a_mistake_of_ours_in_one_write_is_that_ones_alone(group: Group) -> None:
    broken = group.writer.submit(lambda _: 1 // 0)
    good = _add(group, b"good")
    group.release()
    assert good.result(10) == 1
    with pytest.raises(ZeroDivisionError):
        broken.result(10)
    assert group.marks() == [b"good"]


def test_where_sqlite_gives_up_the_transaction_the_others_are_done_again(group: Group) -> None:
    """A full disk, for example, ends the whole transaction in the middle of one write."""

    def give_up(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        connection.execute("SELECT nothing")

    futures = [_add(group, b"before"), group.writer.submit(give_up), _add(group, b"after")]
    group.release()
    assert (futures[0].result(10), futures[2].result(10)) == (1, 1)
    with pytest.raises(StoreError) as caught:
        futures[1].result(10)
    assert caught.value.code == "store.failed"
    assert group.marks() == [b"after", b"before"]


def test_a_commit_that_fails_is_an_error_for_everybody_in_it(group: Group) -> None:
    futures = [_add(group, b"one"), group.writer.submit(_orphan), _add(group, b"two")]
    group.release()
    errors = [future.exception(10) for future in futures]
    assert [type(error) for error in errors] == [IntegrityError] * 3
    assert len({id(error) for error in errors}) == 3
    assert group.marks() == []
    assert _add(group, b"next").result(10) == 1


def test_a_future_is_done_only_when_the_commit_is(group: Group, tmp_path: Path) -> None:
    seen = []

    def look(_: Future[Any]) -> None:
        with sqlite3.connect(tmp_path / "runs.db") as other:
            seen.append(other.execute("SELECT count(*) FROM tombstone").fetchone()[0])
        other.close()

    future = _add(group, b"mark")
    future.add_done_callback(look)
    group.release()
    future.result(10)
    group.writer.close()
    assert seen == [1]


def test_a_future_cannot_be_cancelled_once_it_is_handed_over(group: Group) -> None:
    future = _add(group, b"mark")
    assert not future.cancel()
    group.release()
    assert future.result(10) == 1


def test_a_caller_does_not_overtake_what_waits(group: Group) -> None:
    order: list[int] = []
    queued = [group.writer.submit(_noting(order, number)) for number in range(3)]
    caller = threading.Thread(target=group.writer.execute, args=(_noting(order, 3),))
    caller.start()
    while group.writer._jobs.qsize() < 4:
        time.sleep(0)
    last = group.writer.submit(_noting(order, 4))
    group.release()
    caller.join(10)
    assert [future.result(10) for future in (*queued, last)] == [None] * 4
    assert order == [0, 1, 2, 3, 4]


def test_closing_finishes_what_waits(group: Group) -> None:
    futures = [_add(group, b"%d" % number) for number in range(10)]
    closer = threading.Thread(target=group.writer.close)
    closer.start()
    group.release()
    closer.join(10)
    assert [future.result(0) for future in futures] == [1] * 10
    with pytest.raises(StoreError) as caught:
        group.writer.execute(lambda _: None)
    assert caught.value.code == "store.closed"


def test_a_process_that_can_start_no_thread_says_so_and_saves_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = open_sqlite(tmp_path / "runs.db")
    scribe = Scribe(backend)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(StoreError) as caught:
            scribe.save()
    assert (caught.value.code, caught.value.retryable) == ("store.no-memory", True)
    scribe.save()
    backend.close()


def test_a_name_that_is_no_plan_is_refused(tmp_path: Path) -> None:
    backend = open_sqlite(tmp_path / "runs.db")
    with pytest.raises(UsageError) as caught:
        backend.execute(Plan[None]())
    assert caught.value.code == "plan.unknown"
    backend.close()


def test_what_was_stored_is_not_kept_by_the_writer(group: Group) -> None:
    class Held:
        """Stands for a large value on its way to the store."""

    held = Held()
    gone = weakref.ref(held)
    done = group.writer.submit(partial(_with, held))
    del held
    group.release()
    done.result(10)
    group.marks()  # by the same thread, so that it has come round again
    assert gone() is None


def _with(held: object, connection: sqlite3.Connection) -> int:
    del held
    return connection.total_changes
