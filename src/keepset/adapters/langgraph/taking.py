"""Take a thread over from the saver that it lies in, at its first write.

All of its checkpoints are written to a run of another name first, which then takes the thread's own
name in one transaction: whoever looks meanwhile, or after a crash, sees the thread whole, there or
here. Of two that take a thread over at once one is first, and the other one goes on with what that
has taken. What a crash has left under the other name is removed when the thread is written to or
deleted the next time.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.landing import aside_of, clear
from keepset.adapters.langgraph.address import Address, config_of
from keepset.adapters.langgraph.checkpoints import batch_of
from keepset.adapters.langgraph.elsewhere import Fallback, parent_of
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.errors import ConflictError, KeepsetError, NotFoundError
from keepset.plan.requests import Flow, Wait
from keepset.plan.rows import RunKey
from keepset.plan.writes import Delete, Rename
from keepset.run.holding import Holding
from keepset.run.hosted import Stored, Surface
from keepset.run.pending import Batch

_PATIENCE: Final = 60.0
_ATTEMPTS: Final = 8


class _Spot(NamedTuple):
    """Where a checkpoint lies in the other saver, in the order in which they were made."""

    checkpoint: str
    namespace: str


def is_elsewhere(threads: Threads, thread: Thread) -> Flow[bool]:
    """Tell whether a thread is to be looked for in the other saver.

    A thread that keepset has, or has had, is not.
    """
    if threads.fallback is None or thread.settled:
        return False
    found = yield from thread.reader.look()
    thread.settled = found.run is not None or found.deletions > 0
    return not thread.settled


def stored_at(
    threads: Threads,
    thread: Thread,
    to: Address,
    surface: Surface,
    holding: Holding | None = None,
) -> Flow[Stored | None]:
    """Give the checkpoint that an address names, wherever it lies; None where there is none.

    Args:
        threads: All threads.
        thread: The thread.
        to: What the address says.
        surface: What the values of the namespace go through.
        holding: The lease of the call that asks, where it has one.
    """
    if (yield from is_elsewhere(threads, thread)):
        return (yield from _stored_elsewhere(threads, thread, to, surface))
    if to.checkpoint:
        return (yield from thread.reader.at(to.namespace, to.checkpoint, surface))
    return (yield from thread.reader.newest(to.namespace, surface, keep=to.loop, holding=holding))


def _stored_elsewhere(
    threads: Threads, thread: Thread, to: Address, surface: Surface
) -> Flow[Stored | None]:
    if threads.fallback is None:
        return None
    found = yield from threads.fallback.get(config_of(thread.id, to.namespace, to.checkpoint))
    return None if found is None else threads.fallback.stored(found, surface)


def take_over(threads: Threads, thread: Thread) -> Flow[None]:
    """Take a thread over where the other saver has it and keepset does not.

    Raises:
        PolicyError: Something in it cannot be stored; nothing is changed.
        StoreError: The store refused.
    """
    fallback = threads.fallback
    if fallback is None or thread.settled:
        return
    others = threads.begin(thread.id)
    while others is not None:
        done, _ = yield Wait(others, _PATIENCE)
        if not done:
            break  # whoever is at it is stuck, maybe since we hold what it waits for
        others = threads.begin(thread.id)
    try:
        if (yield from is_elsewhere(threads, thread)):
            yield from _take_over(threads, fallback, thread)
        if thread.settled:
            yield from clear(threads.services, thread.id)
    finally:
        if others is None:
            threads.end(thread.id)


def _take_over(threads: Threads, fallback: Fallback, thread: Thread) -> Flow[None]:
    """Take a thread over, and begin again where it was deleted or shortened meanwhile."""
    services, left = threads.services, _ATTEMPTS
    services.may_write()
    while left and (spots := (yield from _spots(fallback, thread.id))):
        left -= 1
        aside = threads.fresh(aside_of(services, thread.id))
        own, target = (RunKey(services.tenant, name) for name in (aside.id, thread.id))
        away = Delete(own, services.mark(own), services.now())
        try:
            if (yield from _write(threads, fallback, thread, aside, spots)):
                mark = services.mark(target)
                yield Rename(own, target, uuid.uuid4().bytes, mark)
        except (ConflictError, NotFoundError):  # another was first, or has deleted it
            if not left:
                yield away
                raise
        except KeepsetError:
            yield away
            raise
        if not (yield from is_elsewhere(threads, thread)):
            return
        yield away


def _spots(fallback: Fallback, thread: str) -> Flow[list[_Spot]]:
    """Give all checkpoints of a thread, the oldest first: their ids can be sorted by time."""
    spots: list[_Spot] = []

    def take(found: CheckpointTuple) -> bool:
        namespace = str(found.config["configurable"].get("checkpoint_ns") or "")
        spots.append(_Spot(found.checkpoint["id"], namespace))
        return True

    yield from fallback.collect(take, {"configurable": {"thread_id": thread}})
    return sorted(spots)


def _write(
    threads: Threads, fallback: Fallback, thread: Thread, aside: Thread, spots: list[_Spot]
) -> Flow[bool]:
    """Write a thread's checkpoints to another run, each after its parent.

    Returns:
        Whether all of them are there, and still in the other saver: a thread that was deleted there
        meanwhile does not come back. Who deletes it afterwards removes the other run as well.
    """
    there: set[_Spot] = set()
    for spot in spots:
        found = yield from fallback.get(config_of(thread.id, spot.namespace, spot.checkpoint))
        if found is None:
            return False
        with thread.named(spot.namespace):
            surface = threads.surface(thread, spot.namespace)
            parent = _Spot(parent_of(found), spot.namespace)
            known = parent.checkpoint if parent in there else ""
            step, findings = fallback.step(found, known, surface)
            yield from aside.writer.append(step, surface)
            thread.report.add(step.header.name, findings)
            for batch in _batches(threads, fallback, found, surface):
                yield from aside.writer.write(
                    spot.namespace, spot.checkpoint, batch, surface, early=False
                )
        there.add(spot)
    at = config_of(thread.id, spots[-1].namespace, spots[-1].checkpoint)
    return (yield from fallback.get(at)) is not None


def _batches(
    threads: Threads, fallback: Fallback, found: CheckpointTuple, surface: Surface
) -> Iterator[Batch]:
    """Give what tasks wrote after a checkpoint; their paths, which a saver does not tell, in order.

    Writes are read in the order of the paths of their tasks.
    """
    namespace = str(found.config["configurable"].get("checkpoint_ns") or "")
    for number, (task, written) in enumerate(fallback.writes(found, surface).items()):
        given: Sequence[tuple[str, Any]] = written
        if threads.binding is not None:
            given = threads.binding.outgoing(namespace, written)
        yield batch_of(task, given, f"{number:06}")
