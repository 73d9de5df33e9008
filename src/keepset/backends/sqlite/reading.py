"""Read plans on connections of their own, in the caller's thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

from keepset.backends.sqlite.connecting import Place, open_reader
from keepset.backends.sqlite.failures import DRIVER_ERRORS, closed, translate
from keepset.backends.sqlite.forks import GATE, leak
from keepset.backends.sqlite.waiting import Patience, patiently

T = TypeVar("T")

_IDLE = 4


class Readers:
    """A small pool of connections that only read."""

    def __init__(self, place: Place) -> None:
        """Open none yet."""
        self._place = place
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._lent: set[sqlite3.Connection] = set()
        self._closed = False

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some reading on one consistent state of the store.

        Raises:
            StoreError: The store is closed, or SQLite refuses.
            KeepsetError: What the work raises.
        """
        connection = self._borrow()
        try:
            return patiently(lambda: _snapshot(connection, work), Patience(self._place.timeout))
        except DRIVER_ERRORS as error:
            raise translate(error, str(self._place)) from error
        finally:
            self._give_back(connection)

    def _borrow(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise closed(str(self._place))
            if self._idle:
                connection = self._idle.pop()
                self._lent.add(connection)
                return connection
        connection = open_reader(self._place)
        with self._lock:
            self._lent.add(connection)
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            self._lent.discard(connection)
            if not self._closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        with GATE:
            connection.close()

    def close(self) -> None:
        """Close what is idle now, and the rest when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            with GATE:
                connection.close()

    def after_fork(self) -> None:
        """Let go of the parent's connections."""
        for connection in (*self._idle, *self._lent):
            leak(connection)
        self._lock = threading.Lock()
        self._idle, self._lent = [], set()


def _snapshot(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
