"""The one writer of a store: commits together what many threads and tasks hand it."""

from __future__ import annotations

import copy
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite.committing import UNDONE, Work, commit_together
from keepset.backends.sqlite.connecting import Place, open_store
from keepset.backends.sqlite.erasing import Erasure
from keepset.backends.sqlite.failures import (
    DRIVER_ERRORS,
    NO_MEMORY,
    closed,
    failure,
    is_busy,
    translate,
)
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.gaps import RawFile
from keepset.backends.sqlite.jobs import Job, Ticket
from keepset.backends.sqlite.room import Room
from keepset.backends.sqlite.statements import Statement
from keepset.backends.sqlite.waiting import Patience
from keepset.backends.sqlite.watching import Watch
from keepset.errors import KeepsetError

MOST = 256
"""How many writes are committed together at most, so that the first does not wait for long."""

PARTS_AT_THE_END = 8
"""How many parts of free pages are given back at most where a store is closed: 32 MB."""


class Writer:
    """Owns the connection that writes, and the thread that uses it.

    Writes wait in a queue, in order. Those that wait at one moment share a transaction, each in a
    savepoint: one that is refused is undone alone. A write is done once the transaction is on the
    disk. That a thread of its own does it costs two changes of threads (some 10 us), and is what
    keeps an interrupt, which can end the main thread's work between any two instructions, from
    ever ending a transaction or a commit in the middle.

    One statement that is a transaction by itself cannot be ended in the middle, so that a thread
    that finds nobody else at work executes it on the spot; see `add_at_once`.
    """

    def __init__(self, place: Place, connection: sqlite3.Connection | None) -> None:
        """Take over a connection; the thread begins with the first write.

        Without a connection nothing may be handed over: the store is only looked at.
        """
        self._place = place
        self._connection = connection
        self._raw = RawFile(place.path) if place.path else None
        self._watch = Watch(place, self._raw)
        self._erasure = Erasure(place, self._raw)
        self._room = Room(place)
        self._closed = False
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._busy = False
        self._serving = threading.Lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def execute(self, work: Work, *, erases: bool = False) -> Any:
        """Do a write and wait for it; see `settle`.

        Raises:
            StoreError: The store is closed, or SQLite refuses.
            KeepsetError: What the work raises.
        """
        outcome = Outcome()
        self.settle(work, outcome, erases=erases)
        return outcome.get()

    def settle(self, work: Work, outcome: Outcome, *, erases: bool = False) -> None:
        """Do a write, wait for it, and say what came of it.

        After an interrupt, a write that has not begun is taken back. For one that has begun, what
        comes of it is waited for before the interrupt goes on; a second interrupt ends the wait.

        Args:
            work: What to do on the connection, inside a transaction.
            outcome: Where to put what it gives or raises.
            erases: Whether it is done only when the log holds nothing of what it removed.

        Raises:
            StoreError: The store is closed.
        """
        ticket = Ticket(outcome)
        try:
            self._hand_over(Job(work, self._lasting(erases=erases), ticket))
            ticket.wait()
        except BaseException:
            if not outcome.settled and not ticket.take_back():
                ticket.wait()
            raise

    def add_at_once(self, statement: Statement, rows: int = 1) -> bool:
        """Execute a statement that adds rows, where nobody else writes or waits to.

        An interrupt comes before or after it. Who is interrupted does not learn whether the rows
        are there, as after a crash, and has to look.

        Args:
            statement: The statement.
            rows: How many rows it is to add.

        Returns:
            Whether all rows were added; else the statement's work is to be done, or refused, the
            long way.

        Raises:
            StoreError: Another file, or none, lies at the path.
            IntegrityError: The file is damaged.
        """
        if self._busy or self._connection is None or not self._jobs.empty():
            return False
        with self._turn, GATE.mine():
            if self._closed or self._connection is None:
                return False
            self._watch.require_file()
            try:
                self._watch.require_whole(self._connection)
                cursor = self._connection.execute(statement.sql, statement.parameters)
            except DRIVER_ERRORS:
                return False
            if self._room.is_used_up():
                self._wake()
            return cursor.rowcount == rows

    def _wake(self) -> None:
        """Let the thread see to the log; where it cannot be had, the next write's turn will do."""
        with suppress(KeepsetError):
            self._hand_over(Job(_nothing, erases=False, answer=Ticket(Outcome())))

    def submit(self, work: Work, *, erases: bool = False) -> Future[Any]:
        """Hand over a write, which is then done, come what may; see `settle`.

        Raises:
            StoreError: The store is closed.
        """
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self._hand_over(Job(work, self._lasting(erases=erases), future, begun=True))
        return future

    def _lasting(self, *, erases: bool) -> bool:
        return erases and self._place.path is not None

    def _hand_over(self, job: Job) -> None:
        with self._lock:
            if self._closed:
                raise closed(str(self._place))
            if self._thread is None or not self._thread.is_alive():
                self._start()
            self._jobs.put(job)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._serve, name="keepset-writer", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise failure(NO_MEMORY, str(self._place), str(error)) from error

    def close(self) -> None:
        """Finish what waits, then close the connection; may be called again."""
        with self._lock:
            thread = self._thread
            self._closed = True
            self._jobs.put(None)
        if thread is None or not thread.is_alive():
            with self._turn:
                self._finish()
        elif thread is not threading.current_thread():
            thread.join()
        with self._lock:
            raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()

    def before_fork(self) -> None:
        """Close the connection to a file; what is in memory stays, for parent and child."""
        if self._place.path is not None:
            self._disconnect()

    def after_fork(self) -> None:
        """Go on in a child process, without what waits in the parent."""
        self._erasure = Erasure(self._place, self._raw)
        self._begin_anew()

    def _serve(self) -> None:
        if not self._serving.acquire(blocking=False):
            return  # an interrupt made it look as if the first thread had not started
        ending = False
        while not ending or self._erasure.waited_for:
            ending = self._work_through(self._take()) or ending
        with self._turn:
            self._finish()

    def _work_through(self, taken: Sequence[Job | None]) -> bool:
        """Do what was taken, and forget it; tell whether it is the end."""
        GATE.wait()
        jobs = [job for job in taken if job]
        self._busy = True
        with self._turn:
            if jobs:
                self._perform(jobs)
            self._see_to_the_log()
        self._busy = False
        return None in taken

    def _take(self) -> list[Job | None]:
        """Wait for work, or until it is time to clean the log; nothing follows a None."""
        try:
            first = self._jobs.get(timeout=self._erasure.pause)
        except Empty:
            return []
        more = min(self._jobs.qsize(), MOST - 1)
        return [first, *(self._jobs.get() for _ in range(more))]

    def _perform(self, jobs: Sequence[Job]) -> None:
        done = Outcome()
        with done:
            done.value = self._transact(jobs)
        if done.error:
            self._refuse(jobs, done.error)
            return
        again = []
        for job, outcome in done.value:
            if outcome is UNDONE:
                again.append(job)
            else:
                self._settle(job, outcome)
        for job in again:
            self._perform([job])

    def _transact(self, jobs: Sequence[Job]) -> list[tuple[Job, Outcome]]:
        """Do in one transaction what is still wanted when it begins; see `commit_together`."""
        patience = Patience(self._place.timeout)
        try:
            while not all(job.unwanted for job in jobs):
                with GATE.mine():
                    connection = self._connected()
                    if _begin(connection, patience):
                        begun = [job for job in jobs if job.begin()]
                        outcomes = commit_together(connection, [job.work for job in begun])
                        return list(zip(begun, outcomes, strict=True))
                patience.pause()
        except DRIVER_ERRORS as error:
            raise translate(error, str(self._place)) from error
        return []

    def _connected(self) -> sqlite3.Connection:
        """Give the connection; after a fork, one that is opened again on the same file."""
        self._watch.require_file()
        if self._connection is None:
            self._connection = open_store(self._place)
            self._watch.opened()
        self._watch.require_whole(self._connection)
        return self._connection

    def _settle(self, job: Job, outcome: Outcome) -> None:
        if outcome.error:
            job.answer.set_exception(self._translated(outcome.error))
        elif job.erases:
            self._erasure.owe(job.answer, outcome.value)
        else:
            job.answer.set_result(outcome.value)

    def _refuse(self, jobs: Sequence[Job], error: Exception) -> None:
        """Give everybody an error of their own, since raising one changes it."""
        for job in jobs:
            own = copy.copy(error)
            own.__cause__ = error.__cause__
            job.answer.set_exception(own)

    def _translated(self, error: Exception) -> Exception:
        if not isinstance(error, DRIVER_ERRORS):
            return error
        ours = translate(error, str(self._place))
        ours.__cause__ = error
        return ours

    def _see_to_the_log(self) -> None:
        with GATE.mine():
            if self._connection is not None:
                self._erasure.attempt(self._connection)
                self._make_room(self._connection)

    def _make_room(self, connection: sqlite3.Connection) -> None:
        if self._room.is_used_up():
            # Who writes next meets what is in the way.
            with suppress(KeepsetError, MemoryError, *DRIVER_ERRORS):
                self._watch.require_file()  # else it is another store's log that has grown
                self._room.make(connection)

    def _finish(self) -> None:
        """Leave no more free pages than are worth it, and close the connection."""
        for _ in range(PARTS_AT_THE_END):
            with GATE.mine():  # a fork in between closes the connection
                if self._connection is None or not self._erasure.give_back(self._connection):
                    break
        self._disconnect()

    def _disconnect(self) -> None:
        with GATE.mine():
            connection, self._connection = self._connection, None
            self._watch.closed()
            if connection is not None:
                connection.close()


def _nothing(_: sqlite3.Connection) -> None:
    """Work that is done as soon as the thread has it."""


def _begin(connection: sqlite3.Connection, patience: Patience) -> bool:
    """Begin a transaction; False where another process writes and there is time to wait."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if is_busy(error) and patience.left:
            return False
        raise
    return True
