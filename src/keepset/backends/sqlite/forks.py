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
from contextlib import suppress
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

    Every thread has a lock of its own, which it holds while it uses SQLite and may take again
    while it holds it; a fork takes all of them. They are plain locks of the interpreter's, since an
    interrupt in the middle of an ``__enter__`` of ours would leave the gate in disorder.

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
        self._forking = threading.Lock()
        self._own = threading.local()
        self._all: weakref.WeakSet[threading.RLock] = weakref.WeakSet()
        self._taken: list[threading.RLock] = []

    def mine(self) -> threading.RLock:
        """Give the calling thread's lock: ``with GATE.mine(): ...``."""
        own: threading.RLock | None = getattr(self._own, "lock", None)
        if own is None:
            own = threading.RLock()
            with self._forking:
                self._all.add(own)
            self._own.lock = own
        return own

    def wait(self) -> None:
        """Let a fork go first that waits; not for a thread that is inside."""
        with self._forking:
            pass

    def shut(self) -> None:
        """Wait until nobody is inside, and keep everybody else out."""
        self.mine()
        self._forking.acquire()
        for lock in list(self._all):
            self._taken.append(lock)
            lock.acquire()

    def open(self) -> None:
        """Let those in who wait."""
        for lock in self._taken:
            with suppress(RuntimeError):  # an interrupt came before it was taken
                lock.release()
        self._taken.clear()
        with suppress(RuntimeError):
            self._forking.release()


GATE = Gate()
"""The process's gate: every use of SQLite happens inside it, under ``with GATE.mine():``."""

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
