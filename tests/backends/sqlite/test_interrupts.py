"""Ctrl-C, at any moment: the store stays usable, and what landed is known to have landed."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keepset.backends import drive
from keepset.backends.outcome import Outcome
from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.backends.sqlite.waiting import Patience
from keepset.errors import StoreError
from keepset.plan.reads import ReadEverything
from keepset.plan.requests import Flow
from keepset.testing.contract.base import Scribe

CHILDREN = Path(__file__).with_name("children.py")
ADD = "INSERT INTO tombstone (mark, deletions, at) VALUES (?, 1, 1)"


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(tmp_path / "runs.db", durability="normal", timeout=5)
    yield opened
    opened.close()


def _interrupt() -> None:
    """Send this process's main thread what Ctrl-C sends."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _interrupting(connection: sqlite3.Connection) -> str:
    """Write a row, with a Ctrl-C in the middle of the transaction."""
    connection.execute(ADD, (b"mark",))
    _interrupt()
    return "done"


def _marks(backend: SQLiteBackend) -> int:
    query = "SELECT count(*) FROM tombstone"
    count: int = backend._readers.read(lambda c: c.execute(query).fetchone())[0]
    return count


def test_a_write_that_has_begun_is_done_before_its_interrupt_goes_on(
    backend: SQLiteBackend,
) -> None:
    outcome = Outcome()
    with pytest.raises(KeyboardInterrupt):
        backend._writer.settle(_interrupting, outcome)
    assert (outcome.settled, outcome.value, _marks(backend)) == (True, "done", 1)
    assert backend._writer.execute(lambda c: c.in_transaction) is True


def test_a_write_that_is_refused_after_an_interrupt_says_so(backend: SQLiteBackend) -> None:
    def refusing(connection: sqlite3.Connection) -> None:
        _interrupting(connection)
        connection.execute(ADD, (b"mark",))

    outcome = Outcome()
    with pytest.raises(KeyboardInterrupt):
        backend._writer.settle(refusing, outcome)
    assert outcome.settled
    assert outcome.error is not None
    assert _marks(backend) == 0


def test_a_write_that_waits_for_another_process_can_be_interrupted(
    backend: SQLiteBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never lands, not even when the other process lets go."""
    other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    outcome, scribe = Outcome(), Scribe(backend)
    pause, interrupts = Patience.pause, [_interrupt]

    def interrupted(patience: Patience) -> bool:
        while interrupts:
            interrupts.pop()()
        return pause(patience)

    monkeypatch.setattr(Patience, "pause", interrupted)
    with pytest.raises(KeyboardInterrupt):
        backend.settle(scribe.plan(), outcome)
    assert not outcome.settled
    other.execute("ROLLBACK")
    other.close()
    Scribe(backend, "another").save()
    assert backend.execute(scribe.find()).run is None


def test_a_flow_is_told_of_a_write_that_landed_before_the_interrupt_goes_on(
    backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    scribe, events = Scribe(backend), list[str]()
    settle = backend._writer.settle

    def interrupted(work: Callable[..., Any], outcome: Outcome, *, erases: bool) -> None:
        def first(connection: sqlite3.Connection) -> Any:
            _interrupt()
            return work(connection)

        settle(first, outcome, erases=erases)

    def flow() -> Flow[None]:
        saved = yield scribe.plan()
        events.append(f"saved {saved.line.branch}")
        yield scribe.find()
        events.append("went on")

    monkeypatch.setattr(backend._writer, "settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        drive(flow(), backend)
    assert events == ["saved 0"]
    assert len(backend.execute(ReadEverything(scribe.key)).lines[0].steps) == 1


def test_a_flow_whose_write_is_refused_during_an_interrupt_ends_with_the_interrupt(
    backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object, outcome: Outcome) -> None:
        outcome.error, outcome.settled = StoreError("no", code="store.full"), True
        raise KeyboardInterrupt

    def flow() -> Flow[None]:
        yield Scribe(backend).plan()

    monkeypatch.setattr(backend, "settle", refused)
    with pytest.raises(KeyboardInterrupt) as caught:
        drive(flow(), backend)
    assert isinstance(caught.value.__cause__, StoreError)


def test_a_process_that_is_interrupted_at_any_moment_goes_on(tmp_path: Path) -> None:
    """Thirty Ctrl-C at random moments; every save that returned is there, and nothing is locked."""
    path = tmp_path / "runs.db"
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(CHILDREN),
        "save_through_interrupts",
        str(path),
        "run",
    ]
    pipe = subprocess.PIPE
    chance = random.Random()  # noqa: S311 - any moment will do
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None
        for _ in range(30):
            for _ in range(chance.randint(1, 8)):
                child.stdout.readline()
            child.send_signal(signal.SIGINT)
            assert any("interrupted" in line for line in child.stdout), "or two would be one"
        said, wrong = child.communicate("end\n", timeout=60)
    *_, told, interrupts = said.split()
    assert (child.returncode, wrong, int(interrupts) > 10) == (0, "", True)
    backend = open_sqlite(path, timeout=1)
    stored = backend.execute(ReadEverything(Scribe(backend).key)).lines[0].steps
    assert [row.seq for row in stored] == [*range(1, len(stored) + 1)]
    assert len(stored) == int(told)
    Scribe(backend, "another").save()
    backend.close()
    with sqlite3.connect(path) as other:
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    other.close()
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]
