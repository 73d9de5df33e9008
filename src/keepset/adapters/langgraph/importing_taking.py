"""Write a thread of another saver to a run of another name, from which it takes its own at once.

Whoever looks meanwhile, or after a crash, sees the thread whole or not at all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.landing import aside_of
from keepset.adapters.langgraph.checkpoints import GRAPH, batch_of, status_of
from keepset.adapters.langgraph.elsewhere import Conversion, parent_of
from keepset.adapters.langgraph.importing_refused import REFUSALS, lacking, refused
from keepset.adapters.langgraph.importing_rows import Rows, Spot
from keepset.adapters.langgraph.importing_source import Read, ThreadSource, Wrong
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.adapters.langgraph.vetting import MOST, Allowed
from keepset.adapters.moved import LeftOut
from keepset.backends.driver import drive
from keepset.codec import format_path
from keepset.run.hosted import HostStep, Surface
from keepset.verdict.status import Status

_OLDER: Final = "a checkpoint is older than its parent, by their ids: clocks were out of step"
_NAMESPACES: Final = 32
"""Of how many namespaces of a thread it is remembered what was made of their values."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where threads come from, and what becomes of them.

    Attributes:
        rows: The tables.
        allowed: What may be made of data.
        conversion: What becomes of a checkpoint.
        skips: Whether a thread is taken over without what cannot be.
    """

    rows: Rows
    allowed: Allowed
    conversion: Conversion
    skips: bool

    def namespace(self, thread: str) -> ThreadSource:
        """Give what reads one namespace of a thread."""
        return ThreadSource(self.rows, self.allowed, thread, self.conversion.names)


@dataclass(slots=True)
class Attempt:
    """A thread that is being written to another name.

    Attributes:
        thread: The thread.
        aside: The run that holds it for a while.
        spots: Its checkpoints, the oldest first.
        size: Bytes that were read of it.
        left: Values that cannot be taken over, some at most.
        more: How many there are beside those.
        broken: Why it cannot be taken over even without single values; empty where it can.
        gone: Whether something of it was gone when it was its turn.
        unasked: Keys of its metadata that nobody asked for.
    """

    thread: str
    aside: Thread
    spots: Sequence[Spot]
    size: int = 0
    left: list[LeftOut] = field(default_factory=list)
    more: int = 0
    broken: str = ""
    gone: bool = False
    unasked: set[str] = field(default_factory=set)

    def note(self, spot: Spot, wrong: Sequence[Wrong], more: int, *, needed: bool) -> None:
        """List what cannot be taken over of a checkpoint; of what comes again the last is told."""
        for one in wrong:
            told = LeftOut(
                spot.checkpoint,
                spot.namespace,
                one.surface,
                format_path(one.path),
                one.why,
                is_needed=needed,
            )
            same = [at for at, other in enumerate(self.left) if _alike(other, told)]
            if same:
                self.left[same[0]] = told
            elif len(self.left) < MOST:
                self.left.append(told)
            else:
                self.more += 1
        self.more += more


def _alike(one: LeftOut, other: LeftOut) -> bool:
    place = (one.namespace, one.surface, one.path, one.why)
    return place == (other.namespace, other.surface, other.path, other.why)


class Taking:
    """Writes threads to runs of other names.

    Args:
        origin: Where they come from.
        threads: Where they go.
        told: Hears how many bytes of the present one were read.
    """

    def __init__(self, origin: Origin, threads: Threads, told: Callable[[int], None]) -> None:
        """Write nothing yet."""
        self._told = told
        self._origin = origin
        self._threads = threads
        self._services = threads.services

    def begin(self, thread: str, spots: Sequence[Spot]) -> Attempt:
        """Begin with a thread."""
        aside = self._threads.fresh(aside_of(self._services, thread))
        return Attempt(thread, aside, spots)

    def write(self, attempt: Attempt) -> None:
        """Write a thread; where it cannot be taken over, only what stands in the way is sought.

        Raises:
            StoreError: The store refuses.
        """
        sources: OrderedDict[str, ThreadSource] = OrderedDict()
        newest = {spot.namespace: spot.checkpoint for spot in attempt.spots}
        there: set[Spot] = set()
        for spot in attempt.spots:
            source = sources.get(spot.namespace)
            if source is None:
                source = sources[spot.namespace] = self._origin.namespace(attempt.thread)
                if len(sources) > _NAMESPACES:
                    sources.popitem(last=False)
            read = source.read(spot)
            if read is None:
                attempt.gone = True
                return
            attempt.size += read.size
            attempt.unasked |= source.unasked
            self._told(attempt.size)
            needed = newest[spot.namespace] == spot.checkpoint and _goes_on(read.found)
            attempt.note(spot, read.wrong, read.more, needed=needed)
            if read.is_broken:
                attempt.broken = attempt.broken or read.wrong[-1].why
            if attempt.broken or (attempt.left and not self._origin.skips):
                continue
            self._put(attempt, spot, read, there, needed=needed)

    def _put(
        self, attempt: Attempt, spot: Spot, read: Read, there: set[Spot], *, needed: bool
    ) -> None:
        """Write one checkpoint; of one that is refused, each value that is."""
        surface = self._threads.surface(attempt.aside, spot.namespace)
        try:
            self._append(attempt, spot, read, there, surface)
        except REFUSALS as error:
            without = refused(read, surface)
            attempt.note(spot, tuple(without.wrong(read)), 0, needed=needed)
            attempt.broken = "" if without else error.message
            if without and self._origin.skips:
                self._put(attempt, spot, lacking(read, without), there, needed=needed)

    def _append(
        self, attempt: Attempt, spot: Spot, read: Read, there: set[Spot], surface: Surface
    ) -> None:
        """Write one checkpoint; where it is there already, what tasks wrote after it."""
        backend = self._services.backend
        if spot not in there:
            parent = Spot(parent_of(read.found), spot.namespace)
            if parent > spot and parent in attempt.spots:
                attempt.broken = _OLDER
                return
            known = parent.checkpoint if parent in there else ""
            step, findings = step_of(self._origin, self._threads, read.found, known, surface)
            drive(attempt.aside.writer.append(step, surface), backend)
            there.add(spot)
            attempt.aside.report.add(step.header.name, findings)
        for batch in batches(self._origin, self._threads, read, surface):
            place = (spot.namespace, spot.checkpoint)
            drive(attempt.aside.writer.write(*place, batch, surface, early=False), backend)


def step_of(
    origin: Origin, threads: Threads, found: CheckpointTuple, parent: str, surface: Surface
) -> tuple[HostStep, list[Any]]:
    """Give a checkpoint as it is stored here, and what its metadata hold.

    Where the graph is known it is said to have written the thread, as a bound saver says it.
    """
    step, findings = origin.conversion.step(found, parent, surface)
    written = threads.binding and threads.binding.graphs.written(step.namespace)
    return (replace(step, values={**step.values, GRAPH: written}) if written else step), findings


def batches(origin: Origin, threads: Threads, read: Read, surface: Surface) -> Iterator[Any]:
    """Give what tasks wrote after a checkpoint, each with its path."""
    namespace = str(read.found.config["configurable"].get("checkpoint_ns") or "")
    for task, written in origin.conversion.writes(read.found, surface).items():
        given: Sequence[tuple[str, Any]] = written
        if threads.binding is not None:
            given = threads.binding.outgoing(namespace, written)
        yield batch_of(task, given, read.paths.get(task, ""))


def _goes_on(found: CheckpointTuple) -> bool:
    """Tell whether something is left to do after a checkpoint."""
    values = found.checkpoint["channel_values"]
    return bool(found.pending_writes) or status_of(values) != Status.DONE.value
