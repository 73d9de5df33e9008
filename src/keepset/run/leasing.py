"""The leases that a store's executions hold: who has them, and the one thread that renews them."""

from __future__ import annotations

import atexit
import gc
import itertools
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Final

from keepset.backends.port import Backend
from keepset.errors import KeepsetError
from keepset.plan.leases import Holder, Lease, holder_of
from keepset.plan.leasing import GiveBack, Renew
from keepset.plan.rows import RunKey
from keepset.providers import Process, elapsed, has_ended, this_process
from keepset.run.holding import Holding

SECONDS: Final = 30.0
"""How long a lease lasts without being renewed, where nobody says otherwise.

It is renewed at a third of the time, so that it has at least two thirds to go, as long as the
process runs: that is by how much the clocks of two machines may differ, less what a renewal may be
late.
"""

_RENEWALS: Final = 3

_alive: dict[tuple[str, int], weakref.ref[Holding]] = {}
"""What the executions of this process hold, whatever store they have open."""

_books: weakref.WeakSet[Leases] = weakref.WeakSet()


class Leases:
    """The leases of one store as it is open here; any thread and event loop may use it."""

    def __init__(self, backend: Backend, now: Callable[[], int], seconds: float = SECONDS) -> None:
        """Begin with none.

        Args:
            backend: Where they are stored.
            now: The clock, milliseconds; every process that uses the store has to go by the same
                time, nearly.
            seconds: How long one lasts without being renewed.
        """
        self._backend = backend
        self._now = now
        self._seconds = seconds
        self._numbers = itertools.count(1)
        self._begin_anew()
        _see_to_the_end()
        _books.add(self)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._by = ""
        self._held: dict[int, weakref.ref[Holding]] = {}
        self._told: SimpleQueue[int | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    def holding(self, key: RunKey, *, is_open: bool = True) -> Holding:
        """Begin an execution on a run; it has no lease yet. See `Holding.open`."""
        return Holding(self, key, is_open=is_open)

    # --- what an execution asks -------------------------------------------------------------------

    def lease(self) -> Lease:
        """Give a lease of a number that no other execution has."""
        self._me()
        return self.renewed(Lease(self._by, next(self._numbers), 0))

    def renewed(self, lease: Lease) -> Lease:
        """Give the same lease with its full time from now on."""
        return lease._replace(until=self._until())

    def is_gone(self, lease: Lease, *, searched: bool = False) -> bool:
        """Tell whether the execution that has a lease is known to have ended, or has lost it.

        Of this process that is known for certain; of another one it is where it ran on this machine
        and is there no more, or where the lease was not renewed in time.

        Args:
            lease: The lease.
            searched: Whether objects are looked for that nobody refers to any more: after an error
                they may be there for a while.
        """
        process, me = Process(*holder_of(lease.by)[:4]), self._me()
        if lease.by != self._by and not (process.machine and process == me):
            return has_run_out(lease, self._now())
        if not self._has_ended_here(lease) and searched:
            gc.collect()
        return self._has_ended_here(lease)

    def _has_ended_here(self, lease: Lease) -> bool:
        holding = self.here(lease)
        return holding is None or (holding.open and holding.is_here())

    def here(self, lease: Lease) -> Holding | None:
        """Give the execution of this process that has a lease; None where there is none."""
        ref = _alive.get((lease.by, lease.number))
        holding = ref() if ref is not None else None
        return holding if holding is not None and holding.held else None

    def hold(self, holding: Holding) -> None:
        """Have a lease renewed from now on."""
        own = holding.own
        if own is None:
            return
        key = (own.by, own.number)
        # Both are called with the reference as one more argument, which changes nothing, wherever
        # the collector runs. It is C alone: in a function of ours the handler of a signal may
        # raise, and Python drops what is raised there, as a Ctrl-C.
        _alive[key] = weakref.ref(holding, partial(_alive.pop, key))
        ref = weakref.ref(holding, partial(self._told.put, own.number))
        with self._lock:
            self._held[own.number] = ref
            if self._thread is None and not self._closed:
                self._thread = self._started()

    def let_go(self, holding: Holding) -> None:
        """Have it renewed no more."""
        if holding.own is not None:
            _alive.pop((holding.own.by, holding.own.number), None)
            with self._lock:
                self._held.pop(holding.own.number, None)

    def drop(self, holding: Holding) -> None:
        """Have it given back by the thread that renews, without waiting for it."""
        if holding.own is not None:
            _alive.pop((holding.own.by, holding.own.number), None)
            self._told.put(holding.own.number)

    def _me(self) -> Process:
        with self._lock:
            if self._process is None:
                self._process = this_process()
                self._by = Holder(*self._process, uuid.uuid4().hex).text()
            return self._process

    def _until(self) -> int:
        return self._now() + int(self._seconds * 1000)

    # --- the thread -------------------------------------------------------------------------------

    def _started(self) -> threading.Thread | None:
        """Start the thread that renews; where there is no room for one, leases end in time."""
        period = self._seconds / _RENEWALS
        arguments = (weakref.ref(self), self._told, period)
        thread = threading.Thread(target=_serve, args=arguments, name="keepset-lease", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return None
        return thread

    def tend(self, dropped: Iterable[int], *, renew: bool) -> bool:
        """Give back what was dropped, renew the rest; False where there is nothing left to do.

        What cannot be renewed, since the store refuses, is tried the next time.
        """
        with self._lock:
            gone = tuple(number for number in dropped if self._held.pop(number, None))
        with suppress(KeepsetError):
            if gone:
                self._backend.execute(GiveBack(self._by, gone))
            if renew:
                self._renew()
        with self._lock:
            if self._held or not renew:
                return True
            self._thread = None
            return False

    def _renew(self) -> None:
        with self._lock:
            before = dict(self._held)
        if not before:
            return
        there = self._backend.execute(Renew(self._by, self._until()))
        with self._lock:
            lost = [ref() for number, ref in before.items() if number not in there]
            still = [holding for holding in lost if holding is not None and holding.held]
        for holding in still:
            holding.lost = True

    def lose(self, key: RunKey) -> None:
        """Let the executions here know that the lease of a run was taken away."""
        with self._lock:
            mine = [ref() for ref in self._held.values()]
        for holding in mine:
            if holding is not None and holding.key == key:
                holding.lost = True
                holding.release()

    def close(self) -> None:
        """Give back all leases and end the thread; the backend has to be open still."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            held, self._held = self._held, {}
        self._told.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        for ref in held.values():
            holding = ref()
            if holding is not None:
                holding.release()
        if held:
            with suppress(KeepsetError):  # it ends by itself
                self._backend.execute(GiveBack(self._by, tuple(held)))

    def after_fork(self) -> None:
        """Go on in a child process, which holds nothing."""
        self._begin_anew()


def has_run_out(lease: Lease, now: int) -> bool:
    """Tell whether the process that has a lease did not renew it, or is known to have ended.

    Args:
        lease: The lease.
        now: The time, milliseconds.
    """
    return lease.until <= now or has_ended(Process(*holder_of(lease.by)[:4]))


def _serve(book: weakref.ref[Leases], told: SimpleQueue[int | None], period: float) -> None:
    """Renew a store's leases each period; give back at once what was dropped."""
    due = elapsed() + period
    while True:
        dropped: list[int] = []
        with suppress(Empty):
            first = told.get(timeout=max(0.0, due - elapsed()))
            while first is not None:
                dropped.append(first)
                first = told.get_nowait()
            return  # the store is closed, and gives back what is left
        renew = elapsed() >= due
        due += period if renew else 0.0
        leases = book()
        if leases is None or not leases.tend(dropped, renew=renew):
            return
        del leases


@cache
def _see_to_the_end() -> None:
    """Give back what is left at the end of the process.

    It is asked for when the first backend is open, and comes before backends are closed.
    """
    atexit.register(_give_back_all)


def _give_back_all() -> None:
    for book in list(_books):
        book.close()


def _in_child() -> None:
    for book in list(_books):
        book.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
