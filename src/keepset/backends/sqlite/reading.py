"""Read plans on connections of their own, in the caller's thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

from keepset.backends.sqlite.connecting import Place, open_reader
from keepset.backends.sqlite.failures import DRIVER_ERRORS, closed, translate
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.waiting import Patience, patiently

T = TypeVar("T")

_IDLE = 4


class Readers:
    """A small pool of connections that only read."""

    def __init__(self, place: Place, first: sqlite3.Connection | None = None) -> None:
        """Begin with a connection that is open already, or with none."""
        self._place = place
        self._lock = threading.Lock()
        self._idle = [first] if first else []
        self._closed = False

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some reading on one consistent state of the store.

        Raises:
            StoreError: The store is closed, or SQLite refuses.
            KeepsetError: What the work raises.
        """
        try:
            return patiently(lambda: self._look(work), Patience(self._place.timeout))
        except DRIVER_ERRORS as error:
            raise translate(error, str(self._place)) from error

    def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._borrow()
        try:
            connection.execute("BEGIN")
            return work(connection)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._give_back(connection)

    def _borrow(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise closed(str(self._place))
            if self._idle:
                return self._idle.pop()
        return open_reader(self._place)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close what is idle now, and the rest when it comes back."""
        with GATE.mine(), self._lock:
            self._closed = True
            self.before_fork()

    def before_fork(self) -> None:
        """Close every connection; all are idle while no statement runs."""
        while self._idle:
            self._idle.pop().close()

    def after_fork(self) -> None:
        """Take a lock that no thread of the parent holds."""
        self._lock = threading.Lock()
