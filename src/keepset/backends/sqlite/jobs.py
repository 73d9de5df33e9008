"""One write on its way to the writer's thread, and where its caller waits for it."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite.committing import Work


class Ticket:
    """Where a thread waits for its write; it has the methods of a `Future` that a writer uses.

    An interrupt can come between any two instructions of the main thread. All that it can meet
    here are locks of the interpreter's own, each taken and let go in one instruction: whether the
    write is done or not, nothing is left half done. (A `Future` has a condition, whose lock an
    interrupt can leave locked for ever.)
    """

    __slots__ = ("_begun", "_done", "outcome")

    def __init__(self, outcome: Outcome) -> None:
        """Take what is to be filled in."""
        self.outcome = outcome
        self._begun = threading.Lock()
        self._done = threading.Lock()
        self._done.acquire()

    def set_running_or_notify_cancel(self) -> bool:
        """Begin the work; False where it was taken back, or has begun."""
        return self._begun.acquire(blocking=False)

    def take_back(self) -> bool:
        """See to it that the work never begins; False where it has begun."""
        return self._begun.acquire(blocking=False)

    @property
    def taken(self) -> bool:
        """Whether the work has begun or was taken back."""
        return self._begun.locked()

    def set_result(self, value: object) -> None:
        """Say what the work gave."""
        self.outcome.value = value
        self._settle()

    def set_exception(self, error: Exception) -> None:
        """Say what the work raised."""
        self.outcome.error = error
        self._settle()

    def _settle(self) -> None:
        self.outcome.settled = True
        self._done.release()

    def wait(self) -> None:
        """Wait until one of both was said; an interrupt ends it at any time."""
        self._done.acquire()


@dataclass(slots=True)
class Job:
    """One write.

    Attributes:
        work: What to do on the connection.
        erases: Whether it is done only when the log holds nothing of what it removed.
        answer: Who is told what came of it.
        begun: Whether the work has begun, and cannot be taken back.
    """

    work: Work
    erases: bool
    answer: Future[Any] | Ticket
    begun: bool = False

    def begin(self) -> bool:
        """Begin the work, or begin it again; False where its caller took it back."""
        self.begun = self.begun or self.answer.set_running_or_notify_cancel()
        return self.begun

    @property
    def unwanted(self) -> bool:
        """Whether its caller took it back."""
        return not self.begun and isinstance(self.answer, Ticket) and self.answer.taken
