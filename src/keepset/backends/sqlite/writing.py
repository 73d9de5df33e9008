"""The one writer of a store: commits together what many threads and tasks hand it."""

from __future__ import annotations

import copy
import queue
import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite.committing import Work, commit_together
from keepset.backends.sqlite.connecting import Place, open_store
from keepset.backends.sqlite.erasing import Erasure
from keepset.backends.sqlite.failures import DRIVER_ERRORS, closed, translate
from keepset.backends.sqlite.forks import GATE, leak
from keepset.backends.sqlite.waiting import Patience, patiently

MOST = 256
"""How many writes are committed together at most, so that the first does not wait for long."""


@dataclass(slots=True)
class _Job:
    work: Work
    erases: bool
    future: Future[Any] = field(default_factory=Future)


class Writer:
    """Owns the connection that writes, and the thread that uses it.

    Writes wait in a queue, in order. Those that wait at one moment share a transaction, each in a
    savepoint: one that is refused is undone alone. A write's future is done once the transaction
    is on the disk.
    """

    def __init__(self, place: Place, connection: sqlite3.Connection) -> None:
        """Take over a connection; the thread begins with the first write."""
        self._place = place
        self._connection: sqlite3.Connection | None = connection
        self._identity = place.identity()
        self._erasure = Erasure(place)
        self._closed = False
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, work: Work, *, erases: bool = False) -> Future[Any]:
        """Hand over a write.

        Args:
            work: What to do on the connection, inside a transaction.
            erases: Whether it is done only when the log holds nothing of what it removed.

        Raises:
            StoreError: ``store.closed``.
        """
        job = _Job(work, erases and self._place.path is not None)
        job.future.set_running_or_notify_cancel()  # what was handed over is done, come what may
        with self._lock:
            if self._closed:
                raise closed(str(self._place))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="keepset-writer", daemon=True
                )
                self._thread.start()
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finish what waits, then close the connection; may be called again."""
        with self._lock:
            thread, was_closed = self._thread, self._closed
            self._closed = True
            if thread and not was_closed:
                self._queue.put(None)
        if thread is None:
            self._disconnect()
        elif thread is not threading.current_thread():
            thread.join()

    def after_fork(self) -> None:
        """Go on in a child process: with a copy of what is in memory, or with the file anew."""
        connection = self._connection
        if connection and self._place.path is not None:
            leak(connection)
            self._connection = None
        elif connection and connection.in_transaction:
            connection.execute("ROLLBACK")
        self._erasure = Erasure(self._place)
        self._begin_anew()

    def _serve(self) -> None:
        going = True
        while going:
            jobs, going = self._gather()
            if jobs:
                self._perform(jobs)
            self._erase()
        while self._erasure.waited_for:
            time.sleep(self._erasure.pause or 0)
            self._erase()
        self._disconnect()

    def _gather(self) -> tuple[list[_Job], bool]:
        """Wait for writes and take those that are there; and tell whether more may come."""
        jobs: list[_Job] = []
        try:
            item = self._queue.get(timeout=self._erasure.pause)
            while item is not None:
                jobs.append(item)
                if len(jobs) == MOST:
                    return jobs, True
                item = self._queue.get_nowait()
        except queue.Empty:
            return jobs, True
        return jobs, False

    def _perform(self, jobs: Sequence[_Job]) -> None:
        begun = Outcome()
        with begun:
            begun.value = self._begin()
        if begun.error:
            self._refuse(jobs, begun.error)
            return
        done = Outcome()
        with done, GATE:
            done.value = commit_together(begun.value, [job.work for job in jobs])
        if done.error:
            self._refuse(jobs, done.error)
            return
        again = []
        for job, outcome in zip(jobs, done.value, strict=True):
            if outcome is None:
                again.append(job)
            else:
                self._settle(job, outcome)
        for job in again:
            self._perform([job])

    def _begin(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_store(self._place)
            self._identity = self._place.identity()
        connection = self._connection
        if connection.in_transaction:
            with GATE:
                connection.execute("ROLLBACK")
        self._place.require(self._identity)
        patience = Patience(self._place.timeout)
        patiently(lambda: connection.execute("BEGIN IMMEDIATE"), patience)
        return connection

    def _settle(self, job: _Job, outcome: Outcome) -> None:
        if outcome.error:
            self._refuse([job], outcome.error)
        elif job.erases:
            self._erasure.owe(job.future, outcome.value)
        else:
            job.future.set_result(outcome.value)

    def _refuse(self, jobs: Sequence[_Job], error: Exception) -> None:
        """Give everybody an error of their own, since raising one changes it."""
        for job in jobs:
            if isinstance(error, DRIVER_ERRORS):
                ours: Exception = translate(error, str(self._place))
                ours.__cause__ = error
            else:
                ours = copy.copy(error)
            job.future.set_exception(ours)

    def _erase(self) -> None:
        if self._connection is not None:
            self._erasure.attempt(self._connection)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with GATE:
                connection.close()
