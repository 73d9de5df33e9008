"""The lease of one execution on one run, as the execution has it."""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent.futures import Future
from typing import Any, Protocol, TypeAlias

from keepset.plan.leases import Lease, Leasing, lease_lost, leased
from keepset.plan.leasing import GiveBack, ReadLease
from keepset.plan.requests import Flow
from keepset.plan.rows import RunKey

Place: TypeAlias = "tuple[int, weakref.ref[asyncio.Task[Any]] | None]"
"""The thread and the task that an execution is in."""


class Giver(Protocol):
    """What gives an execution its lease and has it renewed."""

    def lease(self) -> Lease:
        """Give a lease of a number that no other execution has."""
        ...

    def renewed(self, lease: Lease) -> Lease:
        """Give the same lease with its full time from now on."""
        ...

    def is_gone(self, lease: Lease, *, searched: bool = False) -> bool:
        """Tell whether the execution that has a lease is known to have ended.

        Args:
            lease: The lease.
            searched: Whether objects are looked for that nobody refers to any more.
        """
        ...

    def hold(self, holding: Holding) -> None:
        """Have a lease renewed from now on."""
        ...

    def let_go(self, holding: Holding) -> None:
        """Have it renewed no more."""
        ...

    def drop(self, holding: Holding) -> None:
        """Have it given back without waiting for it."""
        ...


class Holding:
    """What an execution has of a run's lease.

    Attributes:
        key: The run.
        open: Whether its end is not told but is that of an object, which a user may keep for
            longer: in one thread or task a newer one takes its place.
        own: Its lease, once it has asked for one.
        held: Whether it has it.
        lost: Whether it had it and it was taken away, so that nothing more of it is stored.
        closing: Whether the execution is on its way to its end.
        over: Whether it is at its end: what it still saves takes no lease, and minds others.
        ended: Is done once it has none any more.
    """

    __slots__ = (
        "__weakref__",
        "_giver",
        "_gone",
        "_place",
        "closing",
        "ended",
        "held",
        "key",
        "lost",
        "open",
        "over",
        "own",
    )

    def __init__(self, giver: Giver, key: RunKey, *, is_open: bool = True) -> None:
        """Begin without a lease."""
        self._giver = giver
        self._gone: Lease | None = None
        self._place: Place | None = None
        self.key = key
        self.open = is_open
        self.own: Lease | None = None
        self.held = False
        self.lost = False
        self.closing = False
        self.over = False
        self.ended: Future[None] = Future()

    def wants(self, *, works: bool, claimed: bool) -> Leasing | None:
        """Say what a write is to do with the run's lease; None for nothing.

        Args:
            works: Whether the execution goes on with its work after the write.
            claimed: Whether the writer has the run's claim, so that nobody else has the lease.
        """
        if self.over:
            works, claimed = False, False
        if claimed and works is self.held:
            return None
        own = self._giver.lease() if self.own is None else self._giver.renewed(self.own)
        self.own = own
        return Leasing(own, takes=works, held=self.held, gone=self._gone)

    def landed(self, leasing: Leasing | None) -> None:
        """Take note that a write has done what it was to do with the lease."""
        if leasing is None:
            return
        if leasing.takes and self.lost:  # it was taken away while it was on its way
            return
        if leasing.takes and not self.held:
            self.held = True
            self._place = _here()
            self._giver.hold(self)
        elif not leasing.takes:
            self.release()

    def is_here(self) -> bool:
        """Tell whether it is in the thread, or the task, that asks."""
        return self._place == _here()

    def is_cancelled(self) -> bool:
        """Tell whether the task that it is in is to be cancelled, and has not ended yet."""
        where = None if self._place is None else self._place[1]
        task = None if where is None else where()
        return task is not None and not task.done() and task.cancelling() > 0

    def saw(self, lease: Lease | None) -> None:
        """Take note of the lease that the run has, where its execution is known to have ended."""
        if lease is not None and not self.held and self._giver.is_gone(lease):
            self._gone = lease

    def release(self) -> None:
        """Hold the lease no more, here; in the store it ends, or is given back, by itself."""
        held, self.held = self.held, False
        if held:
            self._giver.let_go(self)
            self.ended.set_result(None)
            self.ended = Future()

    def drop(self) -> None:
        """Give the lease back without waiting for it, where nothing can be waited for."""
        if self.held:
            self.held = False
            self._giver.drop(self)

    def require(self) -> None:
        """Refuse to go on where the lease was taken away.

        Raises:
            ConflictError: ``run.lease-lost``.
        """
        if self.lost:
            raise lease_lost(self.key.run_id)

    def give_back(self) -> Flow[None]:
        """Give the lease back, where it is held."""
        own, held = self.own, self.held
        if own is not None and held:
            try:
                yield GiveBack(own.by, (own.number,))
            finally:
                self.release()

    def settle(self) -> Flow[None]:
        """After a refusal: find out whether the other execution has ended, and go on if it has.

        Raises:
            ConflictError: ``run.leased``: it has not, as far as is known.
        """
        other: Lease | None = yield ReadLease(self.key)
        if other is not None and not self._giver.is_gone(other, searched=True):
            raise leased(self.key.run_id, other)
        self._gone = other


def _here() -> Place:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        task = None
    return threading.get_ident(), None if task is None else weakref.ref(task)
