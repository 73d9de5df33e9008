"""What a process knows of a host's run: its claim, its open lines, where checkpoints lie."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from keepset.contracts import Contract
from keepset.errors import KeepsetError
from keepset.plan.bundled import Written
from keepset.plan.guard import Guard
from keepset.plan.memory import LineMemory
from keepset.plan.record import Header
from keepset.plan.requests import Fence, Seen
from keepset.plan.rows import ContractRow, LineRow, RunKey, RunRow, StepRow, WriteRow
from keepset.plan.steps import TailStep
from keepset.run.entering import Entering
from keepset.run.holding import Holding
from keepset.run.hosted.underway import Underway
from keepset.run.pending import PendingWrite
from keepset.run.reporting import Report
from keepset.run.services import Services
from keepset.verdict.status import Status

_PLACES = 512
"""Of how many checkpoints of a run it is remembered where they lie."""

_REFUSED = 64
"""Of how many checkpoints of a run it is remembered why they were refused."""

_TIMES = 3
"""How often what a step has changed is remembered."""


@dataclass(frozen=True, slots=True)
class Surface:
    """What the values of one namespace go through on their way to the store.

    Attributes:
        services: The store's parts.
        contract: The rules of the namespace's fields, a host's own ones among them.
        guard: The detectors, with the codec that knows the classes.
        report: Counts what is found.
        entering: Learns the secrets that the contract names.
    """

    services: Services
    contract: Contract
    guard: Guard
    report: Report
    entering: Entering


@dataclass(frozen=True, slots=True)
class HostStep:
    """A checkpoint as a host gives it.

    Attributes:
        namespace: Where it lies.
        parent: Id of the checkpoint that it follows; empty for one that begins a line.
        header: Its own id, name, status, time and metadata.
        values: All fields that it has.
        follows: Whether it has to follow the newest checkpoint of a line, or the first one of a
            namespace that has none; else it begins a line where it does not.
        holding: The lease of the execution that gives it; None where it works without one.
        ends: Whether the lease is given back with it.
    """

    namespace: str
    parent: str
    header: Header
    values: Mapping[str, Any]
    follows: bool
    holding: Holding | None = None
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A checkpoint as it is stored.

    Attributes:
        line: The line that holds it.
        header: Its header.
        values: Its fields.
        writes: The pending writes that belong to it.
    """

    line: LineRow
    header: StepRow
    values: Mapping[str, Any]
    writes: Sequence[PendingWrite]


class OpenLine:
    """A line as its last writer remembers it, until memory is short."""

    __slots__ = ("__weakref__", "_key", "_lines", "layout", "memory", "row", "size", "written")

    def __init__(
        self,
        lines: OrderedDict[Any, OpenLine],
        key: object,
        memory: LineMemory,
        row: LineRow,
        layout: int,
    ) -> None:
        """Remember a line under a key of a mapping that it can leave by itself.

        Args:
            lines: The mapping.
            key: Its key there.
            memory: What its last writer remembers.
            row: The line.
            layout: The run's layout in which the line's rows are what is remembered.
        """
        self._lines = lines
        self._key = key
        self.memory = memory
        self.row = row
        self.layout = layout
        self.written: dict[str, Written] = {}
        self.size = 0

    def measure(self, before: OpenLine | None) -> int:
        """Say how many bytes the line takes, nearly, and remember it.

        Since all of it is measured where steps were packed, what one step has added is enough until
        then: that is kept as such, and again in the state and in what its task wrote.

        Args:
            before: The line one step before, where that is known.
        """
        tail = self.memory.tail
        if before is not None and len(tail) > len(before.memory.tail):
            self.size = before.size + _TIMES * tail[-1].memory
        else:
            written = [len(row.value) for one in self.written.values() for row in one.rows]
            self.size = self.memory.size + sum(written)
        return self.size

    def waits_for(self, checkpoint: str) -> bool:
        """Tell whether what is written after a checkpoint is to be bundled with later steps.

        What comes after a stop is not: what was written before it may lie in a bundle already, and
        a checkpoint's writes are looked for in one bundle.
        """
        memory = self.memory
        if checkpoint == memory.checkpoint:
            return True
        return any(
            step.row.parent == checkpoint and step.row.status == Status.RUNNING
            for step in memory.tail
        )

    def forget(self) -> bool:
        """Leave the mapping; the line can be loaded again."""
        self._lines.pop(self._key, None)
        return True


class Known:
    """One run as this process knows it; any thread may use it at any time.

    Attributes:
        services: The store's parts.
        key: The run's key.
        mark: Keyed hash of its tombstone.
        contract: The contract that it is stored under.
        claim: The claim that is held, or what was seen of the run.
        open: The lines that are remembered, by namespace and newest checkpoint.
        underway: What is on its way to the store.
        places: Where checkpoints lie: line and seq, by namespace and id.
    """

    def __init__(self, services: Services, run_id: str, root: ContractRow, *, bound: bool) -> None:
        """Know nothing but the name.

        Args:
            services: The store's parts.
            run_id: The run.
            root: The contract that the run is stored under.
            bound: Whether that is the contract of the host's code; else a run that has one keeps
                it.
        """
        self.services = services
        self.key = RunKey(services.tenant, run_id)
        self.mark = services.mark(self.key)
        self.contract = root
        self.claim: Fence | Seen = Seen(None, 0)
        self.open: OrderedDict[tuple[str, str], OpenLine] = OrderedDict()
        self.underway = Underway()
        self.places: OrderedDict[tuple[str, str], tuple[LineRow, int]] = OrderedDict()
        self._refused: OrderedDict[tuple[str, str], KeepsetError] = OrderedDict()
        self._by_line: weakref.WeakValueDictionary[int, OpenLine] = weakref.WeakValueDictionary()
        self._bound = bound
        self._claiming: Future[None] | None = None
        self._begun: tuple[Fence, weakref.ref[Holding]] | None = None
        self._lock = threading.Lock()

    def see(self, run: RunRow | None, deletions: int = 0) -> None:
        """Take note of how the run is now; what is remembered of it as it was is forgotten."""
        with self._lock:
            claim, self._begun = self.claim, None
            if run is None:
                self.claim = Seen(None, deletions)
                self._drop()
                return
            if not self._bound:
                self.contract = run.contract
            same = claim.incarnation == run.incarnation
            if not same or claim.layout != run.layout:
                self._drop()
            if isinstance(claim, Fence) and same and claim.token == run.token:
                self.claim = replace(claim, layout=run.layout)
            else:
                self.claim = Seen(run.incarnation, deletions, run.layout)

    def forget(self) -> None:
        """Forget every line and place: the rows lie elsewhere, or others have written."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        self._begun = None
        self.open.clear()
        self.places.clear()

    def begin_claim(self) -> Future[None] | None:
        """Begin to claim the run, which one flow at a time does; give what to wait for else."""
        with self._lock:
            claiming = self._claiming
            if claiming is None:
                self._claiming = Future()
            return claiming

    def end_claim(self) -> None:
        """End what `begin_claim` began, whatever came of it."""
        with self._lock:
            claiming, self._claiming = self._claiming, None
        if claiming is not None:
            claiming.set_result(None)

    def hold(self, fence: Fence) -> None:
        """Keep a claim, where no newer one is held."""
        with self._lock:
            claim = self.claim
            newer = isinstance(claim, Fence) and claim.incarnation == fence.incarnation
            if not newer or (isinstance(claim, Fence) and claim.token <= fence.token):
                self.claim = fence

    def begin(self, fence: Fence, holding: Holding) -> None:
        """Keep the claim on a run that was not there, and has nothing until something lands."""
        self.hold(fence)
        with self._lock:
            self._begun = fence, weakref.ref(holding)  # which ends its lease when it is dropped

    def is_begun_by(self, holding: Holding | None) -> bool:
        """Tell whether an execution has taken the lease of a run that has no checkpoint yet.

        Nobody else can have given it one as long as that execution has the lease.
        """
        if self._begun is None or holding is None or not holding.held or holding.lost:
            return False
        fence, owner = self._begun
        return fence is self.claim and owner() is holding

    def keep(
        self,
        memory: LineMemory,
        row: LineRow,
        layout: int,
        written: Mapping[str, Written] = MappingProxyType({}),
        before: OpenLine | None = None,
    ) -> None:
        """Remember a line, as far as the store's bound allows.

        Args:
            memory: What its last writer remembers.
            row: The line.
            layout: The run's layout in which the line's rows are what is remembered.
            written: Pending writes whose checkpoints' successors are not packed yet.
            before: The line one step before.
        """
        key = (row.namespace, memory.checkpoint)
        line = OpenLine(self.open, key, memory, row, layout)
        line.written.update(written)
        size = line.measure(before)
        with self._lock:
            self.open[key] = self._by_line[row.id] = line
        self.services.retention.keep(line, size)

    def note(self, line: int, seq: int, checkpoint: str, rows: Sequence[WriteRow]) -> None:
        """Remember writes that have landed, until the step that comes of them is packed.

        Those that come after it was packed stay where they are, and need not be remembered.
        """
        with self._lock:
            known = self._by_line.get(line)
            if known is not None and rows and known.waits_for(checkpoint):
                before = known.written.get(checkpoint, Written(seq, ())).rows
                merged = {(row.task, row.index): row for row in before}
                for row in rows:
                    if row.replace or (row.task, row.index) not in merged:
                        merged[row.task, row.index] = row
                known.written[checkpoint] = Written(seq, tuple(merged.values()))

    def at_its_end(self, line: int, checkpoint: str, layout: int) -> TailStep | None:
        """Give the step after a checkpoint, where the run stopped with it and it is remembered.

        Args:
            line: The line that holds both.
            checkpoint: The checkpoint.
            layout: The run's layout. In another one the step may be gone.
        """
        with self._lock:
            known = self._by_line.get(line)
        if known is None or known.layout != layout or not known.memory.tail:
            return None
        last = known.memory.tail[-1]
        stopped = last.row.parent == checkpoint and last.row.status != Status.RUNNING
        return last if stopped else None

    def place(self, checkpoint: str, row: LineRow, seq: int) -> None:
        """Remember where a checkpoint lies."""
        with self._lock:
            key = (row.namespace, checkpoint)
            self.places[key] = (row, seq)
            self._begun = None
            while len(self.places) > _PLACES:
                self.places.popitem(last=False)
        self.underway.land(key)

    def refuse(self, namespace: str, checkpoint: str, error: KeepsetError) -> None:
        """Remember why a checkpoint was refused, and nothing of the state that was refused."""
        with self._lock:
            self._refused[namespace, checkpoint] = copy(error)  # without the frames of its way
            while len(self._refused) > _REFUSED:
                self._refused.popitem(last=False)

    def refusal(self, namespace: str, checkpoint: str) -> KeepsetError | None:
        """Make the error for what stands on a checkpoint that was refused; None for any other.

        A host that saves in the background may go on for a while after a refusal.
        """
        error = self._refused.get((namespace, checkpoint))
        return error and error.within(f"checkpoint {checkpoint} was refused")
