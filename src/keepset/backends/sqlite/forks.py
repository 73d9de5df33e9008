"""Stay whole when the process forks.

SQLite keeps for each process which locks it holds. A child inherits that knowledge but not the
locks, whatever connection it then opens: it would write without a lock, to a log that the parent
may delete. So a fork waits until no statement runs and closes every connection; parent and child
open the file again when they next need it.

Source: https://www.sqlite.org/howtocorrupt.html, section 2.6.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Protocol


class Forkable(Protocol):
    """What has to be told of a fork."""

    def before_fork(self) -> None:
        """Close every connection to a file; no statement runs, and none begins meanwhile."""
        ...

    def after_fork(self) -> None:
        """Go on in the child, where no other thread is left."""
        ...


class Gate:
    """Lets any number of threads use SQLite at once, and a fork only while none does.

    A thread may enter again while it is inside.

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
        self._own = threading.local()
        self._inside = 0
        self._shut = False

    def __enter__(self) -> None:
        depth = getattr(self._own, "depth", 0)
        if not depth:
            with self._lock:
                while self._shut:
                    self._changed.wait()
                self._inside += 1
        self._own.depth = depth + 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._own.depth -= 1
        if not self._own.depth:
            with self._lock:
                self._inside -= 1
                if self._shut:
                    self._changed.notify_all()

    def shut(self) -> None:
        """Wait until nobody is inside, and keep everybody else out."""
        with self._lock:
            while self._shut:
                self._changed.wait()
            self._shut = True
            while self._inside:
                self._changed.wait()
        self._own.depth = 1

    def open(self) -> None:
        """Let those in who wait."""
        self._own.depth = 0
        with self._lock:
            self._shut = False
            self._changed.notify_all()


GATE = Gate()
"""The process's gate: every use of SQLite happens inside it."""

_stores: weakref.WeakSet[Forkable] = weakref.WeakSet()


def watch(store: Forkable) -> None:
    """Tell this store of every fork."""
    _stores.add(store)


def _before() -> None:
    GATE.shut()
    for store in list(_stores):
        store.before_fork()


def _in_child() -> None:
    GATE.renew()
    for store in list(_stores):
        store.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=GATE.open, after_in_child=_in_child)
