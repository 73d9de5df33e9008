"""The one writer of a store: commits together what many threads and tasks hand it."""

from __future__ import annotations

import copy
import sqlite3
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite.committing import UNDONE, Work, commit_together
from keepset.backends.sqlite.connecting import Place, open_store
from keepset.backends.sqlite.erasing import Erasure
from keepset.backends.sqlite.failures import DRIVER_ERRORS, closed, is_busy, translate
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.waiting import Patience

MOST = 256
"""How many writes are committed together at most, so that the first does not wait for long."""


@dataclass(slots=True)
class _Job:
    work: Work
    erases: bool
    future: Future[Any] = field(default_factory=Future)


class Writer:
    """Owns the connection that writes, and whose turn it is to use it.

    Writes wait in a queue, in order, for a thread of the writer's. Those that wait at one moment
    share a transaction, each in a savepoint: one that is refused is undone alone. A write's future
    is done once the transaction is on the disk. Where nobody waits and nobody writes, a caller
    that would only wait for the thread does its own write instead, which spares two changes of
    threads: as long as the write of 1 KB itself.
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
        self._news = threading.Condition(self._lock)
        self._jobs: deque[_Job] = deque()
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    def execute(self, work: Work, *, erases: bool = False) -> Any:
        """Do a write and wait for it.

        Args:
            work: What to do on the connection, inside a transaction.
            erases: Whether it is done only when the log holds nothing of what it removed.

        Raises:
            StoreError: The store is closed, or SQLite refuses.
            KeepsetError: What the work raises.
        """
        if erases or not self._take_turn():
            return self.submit(work, erases=erases).result()
        try:
            (outcome,) = self._transact([work])
        finally:
            self._turn.release()
        if outcome.error:
            raise self._translated(outcome.error)
        return outcome.value

    def _take_turn(self) -> bool:
        """Give the caller the turn where nobody waits and nobody writes."""
        with self._lock:
            if self._closed:
                raise closed(str(self._place))
            return self._may_write_at_once() and self._turn.acquire(blocking=False)

    def _may_write_at_once(self) -> bool:
        """Whether a caller overtakes nobody; asked under the lock."""
        return not self._jobs

    def submit(self, work: Work, *, erases: bool = False) -> Future[Any]:
        """Hand over a write to the writer's thread; see `execute`.

        Raises:
            StoreError: The store is closed.
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
            self._jobs.append(job)
            self._news.notify()
        return job.future

    def close(self) -> None:
        """Finish what waits, then close the connection; may be called again."""
        with self._lock:
            thread = self._thread
            self._closed = True
            self._news.notify()
        if thread is None:
            with self._turn:
                self._disconnect()
        elif thread is not threading.current_thread():
            thread.join()

    def before_fork(self) -> None:
        """Close the connection to a file; what is in memory stays, for parent and child."""
        if self._place.path is not None:
            self._disconnect()

    def after_fork(self) -> None:
        """Go on in a child process, without what waits in the parent."""
        self._erasure = Erasure(self._place)
        self._begin_anew()

    def _serve(self) -> None:
        ending = False
        while not ending:
            with self._lock:
                if not self._jobs and (not self._closed or self._erasure.waited_for):
                    self._news.wait(self._erasure.pause)
            with self._turn:
                jobs = self._take()
                if jobs:
                    self._perform(jobs)
                self._erase()
                with self._lock:
                    ending = self._closed and not self._jobs and not self._erasure.waited_for
                    if ending:
                        self._disconnect()

    def _take(self) -> list[_Job]:
        with self._lock:
            return [self._jobs.popleft() for _ in range(min(len(self._jobs), MOST))]

    def _perform(self, jobs: Sequence[_Job]) -> None:
        done = Outcome()
        with done:
            done.value = self._transact([job.work for job in jobs])
        if done.error:
            self._refuse(jobs, done.error)
            return
        again = []
        for job, outcome in zip(jobs, done.value, strict=True):
            if outcome is UNDONE:
                again.append(job)
            else:
                self._settle(job, outcome)
        for job in again:
            self._perform([job])

    def _transact(self, works: Sequence[Work]) -> list[Outcome]:
        """Do the work in one transaction; see `commit_together`."""
        patience = Patience(self._place.timeout)
        try:
            while True:
                with GATE:
                    connection = self._connected()
                    if _begin(connection, patience):
                        return commit_together(connection, works)
                patience.pause()
        except DRIVER_ERRORS as error:
            raise translate(error, str(self._place)) from error

    def _connected(self) -> sqlite3.Connection:
        """Give the connection; after a fork, one that is opened again on the same file."""
        self._place.require(self._identity)
        if self._connection is None:
            self._connection = open_store(self._place)
        return self._connection

    def _settle(self, job: _Job, outcome: Outcome) -> None:
        if outcome.error:
            job.future.set_exception(self._translated(outcome.error))
        elif job.erases:
            self._erasure.owe(job.future, outcome.value)
        else:
            job.future.set_result(outcome.value)

    def _refuse(self, jobs: Sequence[_Job], error: Exception) -> None:
        """Give everybody an error of their own, since raising one changes it."""
        for job in jobs:
            own = copy.copy(error)
            own.__cause__ = error.__cause__
            job.future.set_exception(own)

    def _translated(self, error: Exception) -> Exception:
        if not isinstance(error, DRIVER_ERRORS):
            return error
        ours = translate(error, str(self._place))
        ours.__cause__ = error
        return ours

    def _erase(self) -> None:
        with GATE:
            if self._connection is not None:
                self._erasure.attempt(self._connection)

    def _disconnect(self) -> None:
        with GATE:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


def _begin(connection: sqlite3.Connection, patience: Patience) -> bool:
    """Begin a transaction; False where another process writes and there is time to wait."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if is_busy(error) and patience.left:
            return False
        raise
    return True
