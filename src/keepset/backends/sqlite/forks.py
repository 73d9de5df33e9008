"""Stay whole when the process forks.

SQLite's connections, locks and threads do not survive `os.fork`. So a fork waits until no
statement runs, and in the child every store lets go of what it inherited and opens its file anew.
An inherited connection is never closed in the child: SQLite there believes to hold the parent's
locks, and would clean up files that the parent still uses.

Source: https://www.sqlite.org/howtocorrupt.html, section 2.6.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import weakref
from types import TracebackType
from typing import Protocol


class Forkable(Protocol):
    """What has to be told that it is in a child process."""

    def after_fork(self) -> None:
        """Let go of what was inherited."""
        ...


class Gate:
    """Lets any number of threads use SQLite at once, and a fork only while none does.

    A thread must not enter twice, or it would wait for itself while another one forks.

    Attributes:
        opening: Held while a store's file is looked at and opened, so that no file handle of ours
            is closed while SQLite has locks on the file: that would drop them.
    """

    def __init__(self) -> None:
        """Begin open, with nobody inside."""
        self.renew()

    def renew(self) -> None:
        """Begin anew, in a child process, where no other thread is left to open locks."""
        self.opening = threading.Lock()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._inside = 0
        self._shut = False

    def __enter__(self) -> None:
        with self._lock:
            while self._shut:
                self._changed.wait()
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._shut:
                self._changed.notify_all()

    def shut(self) -> None:
        """Wait until nobody is inside, and keep everybody out."""
        with self._lock:
            while self._shut:
                self._changed.wait()
            self._shut = True
            while self._inside:
                self._changed.wait()

    def open(self) -> None:
        """Let those in who wait."""
        with self._lock:
            self._shut = False
            self._changed.notify_all()


GATE = Gate()
"""The process's gate: every use of SQLite happens inside it."""

_stores: weakref.WeakSet[Forkable] = weakref.WeakSet()


def watch(store: Forkable) -> None:
    """Tell this store when it finds itself in a child process."""
    _stores.add(store)


def leak(connection: sqlite3.Connection) -> None:
    """Keep an inherited connection for as long as the process lives, even through its end."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _in_child() -> None:
    GATE.renew()
    for store in list(_stores):
        store.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.shut, after_in_parent=GATE.open, after_in_child=_in_child)
