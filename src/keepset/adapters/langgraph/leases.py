"""The lease of a thread, for a call of a bound graph: taken before its first node, then given back.

A graph that is not bound has none: nothing tells when a call of it ends. Of its executions the
store tells the second one when it saves, by the parent of what it saves. One that begins a thread
and saves nothing before its end notes that it has begun, so that a thread that is deleted meanwhile
does not come.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keepset.adapters.langgraph.address import Address
from keepset.adapters.langgraph.executing import execution_of
from keepset.adapters.langgraph.taking import is_elsewhere
from keepset.adapters.langgraph.threads import DURABILITY, Thread, Threads
from keepset.errors import ConflictError
from keepset.plan.leases import Lease
from keepset.plan.leasing import ReadLease
from keepset.plan.requests import Flow, Wait
from keepset.plan.rows import RunKey
from keepset.run.holding import Holding
from keepset.run.leasing import Leases

_MOMENT: Final = 0.25
"""Seconds in which the end of a call begins whose task is to be cancelled, and may not heed it."""

_PATIENCE: Final = 30.0
"""Seconds in which a call ends whose end has begun."""


def holding_of(
    threads: Threads, thread: Thread, config: Mapping[str, Any] | None
) -> Holding | None:
    """Give the lease with which a call of a bound graph writes; None for any other writer."""
    execution = execution_of(config)
    if execution is None or threads.binding is None:
        return None
    return execution.holding(thread.id, threads.services)


def begin_unbound(
    threads: Threads, thread: Thread, to: Address, config: Mapping[str, Any]
) -> Flow[None]:
    """Note that a call of a graph that is not bound begins a thread and saves it at its end."""
    durability = (config.get("configurable") or {}).get(DURABILITY)
    if threads.binding is None and to.loop and not to.namespace and durability == "exit":
        key = RunKey(threads.services.tenant, thread.id)
        holding = threads.services.leases.holding(key, is_open=False)
        yield from thread.writer.take(holding)
        thread.beginnings.note(config, holding)


def begin(threads: Threads, thread: Thread, config: Mapping[str, Any]) -> Flow[None]:
    """Take a thread's lease for a call that begins, before anything of the thread is read.

    One that still lies in another saver has none until it is taken over.

    Raises:
        ConflictError: ``run.leased``: another execution works on the thread.
    """
    execution, holding = execution_of(config), holding_of(threads, thread, config)
    if (
        execution is None
        or holding is None
        or holding.held
        or (yield from is_elsewhere(threads, thread))
    ):
        return
    try:
        yield from thread.writer.take(holding)
    except ConflictError as error:
        if error.code != "run.leased" or not execution.is_async:
            raise
        if not (yield from _is_ending(threads.services.leases, holding)):
            raise
        yield from thread.writer.take(holding)


def _is_ending(leases: Leases, own: Holding) -> Flow[bool]:
    """Wait for the end of another call in this process, where something says that it is about to.

    An event loop closes later what an ``async for`` was left early with, and a task that was
    cancelled hears of it later.
    """
    there: Lease | None = yield ReadLease(own.key)
    if there is None or leases.is_gone(there):
        return True
    other = leases.here(there)
    if other is None:  # it is in another process
        return False
    ended = other.ended
    done: object = False
    if not other.closing and other.is_cancelled():
        done, _ = yield Wait(ended, _MOMENT)
    if not done and other.closing:
        done, _ = yield Wait(ended, _PATIENCE)
    return bool(done)
