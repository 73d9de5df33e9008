"""Make the files let go of what was removed.

`secure_delete` overwrites what leaves the pages of the database. Older copies of those pages lie in
the write-ahead log until a checkpoint has moved all of it and cut it to nothing, and that has to
wait for every reader that still looks at an older state. What is then left are the gaps in pages.
"""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite.connecting import Place
from keepset.backends.sqlite.failures import (
    BUSY_READERS,
    DRIVER_ERRORS,
    NOT_ERASED,
    failure,
    is_busy,
    translate,
)
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.gaps import RawFile, overwrite_gaps
from keepset.backends.sqlite.jobs import Ticket
from keepset.backends.sqlite.shrinking import is_worth_it, shrink

_EAGER = 0.005
_PATIENT = 0.25


class _Owed(NamedTuple):
    answer: Future[Any] | Ticket
    value: Any
    deadline: float


class Erasure:
    """What is still to be cleaned, and who waits for it.

    Saves go on meanwhile. Where the time is up, whoever waits gets an error, and the log is still
    cleaned as soon as the readers let go of it.
    """

    def __init__(self, place: Place, raw: RawFile | None) -> None:
        """Begin with clean files.

        Args:
            place: The store.
            raw: Its file; None in memory.
        """
        self._place = place
        self._raw = raw
        self._owed: list[_Owed] = []
        self._served: list[_Owed] = []
        self._page = 0
        self._dirty = False
        self._surplus = False
        self._next = 0.0

    @property
    def waited_for(self) -> bool:
        """Whether somebody waits."""
        return bool(self._owed or self._served)

    @property
    def pause(self) -> float | None:
        """Seconds until the next attempt; None where there is nothing to do."""
        todo = self._dirty or self._surplus
        return max(0.0, self._next - time.monotonic()) if todo else None

    def owe(self, answer: Future[Any] | Ticket, value: Any) -> None:
        """Give the value as the answer once the files are clean."""
        self._owed.append(_Owed(answer, value, self._deadline()))
        self._dirty = True
        self._next = 0.0

    def attempt(self, connection: sqlite3.Connection) -> None:
        """Go on with the cleaning where there is something to clean and it is time to try.

        Who comes while the pages are gone through waits for the next time: what it removed may lie
        in pages that were seen to already. Once all is clean, pages that hold nothing are given
        back.
        """
        if not self._dirty and self._surplus:
            self._surplus = self.give_back(connection)
        if not self._dirty or time.monotonic() < self._next:
            return
        if not self._page:
            self._page, self._served, self._owed = 1, self._served + self._owed, []
        cleaned = Outcome()
        with cleaned, GATE.mine():
            cleaned.value = self._overwritten(connection) if _truncate(connection) else None
        if cleaned.error:
            self._fail(cleaned.error)
        elif cleaned.value is None:
            self._expire()
        else:
            self._go_on(cleaned.value)

    def give_back(self, connection: sqlite3.Connection) -> bool:
        """Give some pages that hold nothing back to the file system.

        Nobody waits for it, so that it is left for another time where anything stands in the way.

        Returns:
            Whether there may be more.
        """
        path, raw = self._place.path, self._raw
        if path is None or raw is None:
            return False
        log = path.with_name(f"{path.name}-wal")
        with suppress(OSError, *DRIVER_ERRORS), GATE.mine():
            if is_worth_it(connection) and _truncate(connection) and shrink(connection, raw, log):
                return _truncate(connection)
        return False

    def _overwritten(self, connection: sqlite3.Connection) -> int | None:
        """Overwrite gaps in some pages: the page to go on with, 0 for none; None: not now."""
        path, raw = self._place.path, self._raw
        if path is None or raw is None:
            return 0
        return overwrite_gaps(connection, raw, path.with_name(f"{path.name}-wal"), self._page)

    def _go_on(self, page: int) -> None:
        self._page = page
        self._next = 0.0
        if page:
            due = self._deadline()
            self._served = [owed._replace(deadline=due) for owed in self._served]
            self._owed = [owed._replace(deadline=due) for owed in self._owed]
            return
        for owed in self._served:
            owed.answer.set_result(owed.value)
        self._served = []
        self._dirty = bool(self._owed)
        self._surplus = True

    def _deadline(self) -> float:
        return time.monotonic() + self._place.timeout

    def _fail(self, error: Exception) -> None:
        for owed in self._served + self._owed:
            owed.answer.set_exception(self._told(error))
        self._served, self._owed, self._page = [], [], 0
        self._next = time.monotonic() + _PATIENT

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, OSError):
            return failure(NOT_ERASED, str(self._place), type(error).__name__)
        known = isinstance(error, DRIVER_ERRORS)
        return translate(error, str(self._place)) if known else error

    def _expire(self) -> None:
        now = time.monotonic()
        for owed in self._served + self._owed:
            if owed.deadline <= now:
                late = failure(BUSY_READERS, str(self._place), f"{self._place.timeout:g} s")
                owed.answer.set_exception(late)
        self._served = [owed for owed in self._served if owed.deadline > now]
        self._owed = [owed for owed in self._owed if owed.deadline > now]
        self._next = now + (_EAGER if self.waited_for else _PATIENT)


def _truncate(connection: sqlite3.Connection) -> bool:
    """Move the whole log into the database and cut it to nothing; False where that has to wait."""
    try:
        ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        if is_busy(error):
            return False
        raise
    return not busy
