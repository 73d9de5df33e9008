"""A run's operations, each written once as a flow that a driver runs with or without `await`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from keepset.contracts import Contract
from keepset.errors import ConflictError, KeepsetError, NotFoundError, UsageError
from keepset.plan.chains import Chains
from keepset.plan.leases import Leasing
from keepset.plan.leasing import Take
from keepset.plan.memory import LineMemory
from keepset.plan.project import project
from keepset.plan.reads import FindRun, Found, Loaded
from keepset.plan.rebuild import branch_off, header_at, remember
from keepset.plan.record import Header, Recorded, record, record_nothing
from keepset.plan.recorder import Recorder
from keepset.plan.requests import Fence, Flow, Request, Seen
from keepset.plan.restore import as_ruled, restore
from keepset.plan.rows import LineRow, RunRow
from keepset.plan.shapes import require_contract
from keepset.plan.writes import Claim, Fork, Save, Saved
from keepset.run.checkpoint import Checkpoint, as_checkpoint
from keepset.run.conflicts import deleted, moved_on
from keepset.run.entering import Entering
from keepset.run.heading import header
from keepset.run.reader import Reader
from keepset.run.reporting import Report, placed
from keepset.run.services import Services
from keepset.run.stored import contract_row, seen_in
from keepset.verdict.examine import verdicts_on
from keepset.verdict.field import Verdicts
from keepset.verdict.status import Status

T = TypeVar("T")


class RunCore:
    """One run, as its only user in this process sees it."""

    def __init__(
        self, services: Services, contract: Contract, run_id: str, subject: str | None
    ) -> None:
        """Remember what the run is called; nothing is read yet."""
        self.services = services
        self.contract = contract
        self.guard = services.guard(contract)
        self.codec = self.guard.codec
        self.reader = Reader(services, run_id, self.codec)
        self.report = Report(run_id)
        self.entering = Entering(services, contract, self.codec)
        self.holding = services.leases.holding(self.reader.key)
        self.changed_pins: tuple[str, ...] = ()
        self.branch: int | None = None
        self.last_step = ""
        self.last_status = ""
        self._subject = subject
        self._person = subject
        self._told: str | None = None
        self._memory: LineMemory | None = None
        self._known: str | None = None
        self._landing = ""
        self._claim: Fence | Seen = Seen(None, 0)
        self._line: LineRow | None = None
        self._contract_row = contract_row(contract)
        self._stored: dict[str, Any] | None = None
        self._restored: dict[str, Any] = {}
        self._state: Any = None
        self._users: dict[object, None] = {}
        self.masked = placed(f"run {run_id}", services.scanner)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Refuse a second user of the run while the first one is not done.

        A user is noted and struck off in single steps, so that an interrupt leaves none behind.

        Raises:
            UsageError: There is one.
        """
        own = object()
        try:
            self._use(own)
            yield
        finally:
            self._users.pop(own, None)

    def _use(self, own: object) -> None:
        """Note a user, who is to be struck off whatever comes of this; see `alone`."""
        self._users[own] = None
        if next(iter(self._users)) is not own:
            raise UsageError(
                f"run {self.reader.key.run_id} is in use by another thread or task",
                code="run.in-use",
                hint="A Run has one user at a time: await its calls one after the other.",
            )

    # --- reading ----------------------------------------------------------------------------------

    def load(self) -> Generator[Request, Any, LineMemory]:
        """Load the newest checkpoint, where it is not remembered."""
        known = self._memory  # which another run may make this one forget at any time
        if known is None:
            loaded, chains, values = yield from self._read()
            memory = remember(loaded, chains, values, self.codec, self.services.retention.limit)
            if self._known is None:
                self._begin(loaded, values)
            else:
                self._go_on(loaded, memory)
            self._remember(memory)
            return memory
        return known

    def _read(self) -> Generator[Request, Any, tuple[Loaded, Chains, dict[str, Any]]]:
        """Read the run's line; where one that this run knows is gone, say why."""
        try:
            return (yield from self.reader.load(self.branch, self._fits))
        except NotFoundError as error:
            if self._known is None:
                raise
            found: Found = yield FindRun(self.reader.key, self.reader.mark)
            there = found.run and found.run.incarnation == self._claim.incarnation
            why = moved_on if there else deleted
            raise why(self.reader.key.run_id) from error

    def _begin(self, loaded: Loaded, values: dict[str, Any]) -> None:
        header = header_at(loaded)
        self._claim = seen_in(loaded)
        self.holding.saw(loaded.found.run.lease if loaded.found.run else None)
        self._stored = as_ruled(self.contract, values) if header else None
        self.last_step = header.name if header else ""
        self.last_status = header.status if header else ""
        self.branch = loaded.line.branch if loaded.line else None

    def _go_on(self, loaded: Loaded, memory: LineMemory) -> None:
        """Learn how the rows lie now; the checkpoint that this run knows must be the newest."""
        seen = seen_in(loaded)
        if self._landing and memory.checkpoint == self._landing:
            # The last save was interrupted after it had landed.
            self._known = self._landing
            self.holding.release()  # whatever it has done with the lease
            if isinstance(self._claim, Seen):
                self._claim = seen
        if self._claim.incarnation not in (None, seen.incarnation):
            raise deleted(self.reader.key.run_id)
        if seen.incarnation != self._claim.incarnation or memory.checkpoint != self._known:
            raise moved_on(self.reader.key.run_id)
        self._claim = replace(self._claim, layout=seen.layout)

    def _remember(self, memory: LineMemory) -> None:
        self._memory = memory = memory.within(self.services.retention.limit)
        self._known = memory.checkpoint
        self.services.retention.keep(self, memory.size)

    def forget(self) -> bool:
        """Forget what can be loaded again; False where the run is in use or was not read yet."""
        if self._users or self._stored is not None or not self._known:
            return False
        self._memory = None
        return True

    def _fits(self, run: RunRow) -> None:
        """Refuse a run of another contract before its values are decoded."""
        require_contract(run.contract, self.contract, self.services.mode)

    def state(self) -> Flow[Any]:
        """The state of the newest checkpoint, restored once; None where there is none."""
        with self.alone():
            yield from self.load()
            if self._stored is not None:
                # What is restored stays restored when a later loader fails.
                self._restored = {**self._stored, **self._restored}
                resolve = self.entering.resolve
                changed = yield from restore(self.contract, self._restored, self.codec, resolve)
                self._hand_out(self._restored)
                self._stored, self._restored, self.changed_pins = None, {}, changed
            return self._state

    def _hand_out(self, values: Mapping[str, Any]) -> None:
        self._state = self.contract.build(values)
        self.entering.handed(self.contract.values(self._state))

    # --- writing ----------------------------------------------------------------------------------

    def save(
        self,
        step: str,
        state: Any,
        *,
        status: str = Status.RUNNING,
        metadata: Mapping[str, Any] | None = None,
        admitted: bool = False,
    ) -> Flow[Checkpoint]:
        """Store a checkpoint of the whole state.

        Args:
            step: Name of the step that has ended.
            state: The state after it.
            status: Where the run stands after it.
            metadata: What a host says of it.
            admitted: Whether `Extract`, `Drop` and `without` were applied already.

        Raises:
            PolicyError: A value cannot be stored or does not belong; nothing is changed.
            ConflictError: Another writer was first; nothing is changed.
            StoreError: The store refused; nothing is changed.
        """
        self.services.may_write()
        own = object()
        try:  # as `alone` does it, in a third of the time
            self._use(own)
            memory = self._memory or (yield from self.load())
            with self.masked:
                self.guard.require_declared(self.contract)
                given = self.contract.values(state)
                values = self.entering.values(given, memory, admitted=admitted)
                header = self._header(step, status, metadata or {})
                stored = project(self.contract, values, self.codec)
            self._person = self._subject or self.entering.subject(values)
            checkpoint = yield from self._land(partial(record, self.contract, stored, header))
            self._stored, self._state = None, state
            if values is not given and any(values.get(n) is not v for n, v in given.items()):
                self._hand_out(values)
            return checkpoint
        finally:
            self._users.pop(own, None)

    def mark(self, status: Status) -> Flow[Checkpoint]:
        """Store where the run stands, without a change of its state.

        Raises:
            ConflictError: Another writer was first; nothing is changed.
            StoreError: The store refused; nothing is changed.
        """
        self.services.may_write()
        with self.alone():
            yield from self.load()
            header = self._header(self.last_step, status, {})
            return (yield from self._land(partial(record_nothing, header)))

    def _land(self, recording: Callable[[Recorder], Recorded]) -> Flow[Checkpoint]:
        """Record and save, and remember what was saved."""
        recorded, saved = yield from self.again(partial(self._attempt, recording))
        self._claim = saved.fence
        self._told = self._person
        self.last_step, self.last_status = recorded.step.name, recorded.step.status
        self._line = saved.line
        self.branch = saved.line.branch
        self._remember(recorded.memory.on(saved.line.id))
        self._landing = ""
        if recorded.findings:
            self.report.add(recorded.step.name, recorded.findings)
        return as_checkpoint(recorded.step, saved.line, self.codec)

    def _attempt(
        self, recording: Callable[[Recorder], Recorded]
    ) -> Generator[Request, Any, tuple[Recorded, Saved]]:
        memory = self._memory or (yield from self.load())
        with self.masked:
            recorded = recording(Recorder(self.guard, memory, self.services.compressed))
        plan = self._plan(memory, recorded)
        self._landing, self._memory = recorded.step.checkpoint, None
        try:
            saved: Saved = yield plan
        except KeepsetError:
            self._memory, self._landing = memory, ""
            raise
        self.holding.landed(plan.leasing)
        return recorded, saved

    def again(
        self, attempt: Callable[[], Generator[Request, Any, T]]
    ) -> Generator[Request, Any, T]:
        """Do something, and again where the run was pruned, or the one that worked on it ended."""
        while True:
            try:
                return (yield from attempt())
            except ConflictError as error:
                if error.code == "run.leased":
                    yield from self.holding.settle()
                    continue
                if error.code != "conflict.layout":
                    raise
                self._memory = None
                yield from self.load()

    def _plan(self, memory: LineMemory, recorded: Recorded) -> Save:
        fresh = self._person if self._person != self._told else None
        return Save(
            key=self.reader.key,
            mark=self.reader.mark,
            claim=self._claim,
            incarnation=uuid.uuid4().bytes if isinstance(self._claim, Seen) else b"",
            contract=self._contract_row,
            subject=None if fresh is None else self.services.subject(fresh),
            line=memory.line,
            namespace="",
            head=memory.head,
            step=recorded.step,
            segments=recorded.segments,
            packed=recorded.packed,
            blobs=recorded.blobs,
            known=self._line if self._line and self._line.id == memory.line else None,
            leasing=self._wants(works=recorded.step.status == Status.RUNNING),
        )

    def _wants(self, *, works: bool) -> Leasing | None:
        return self.holding.wants(works=works, claimed=isinstance(self._claim, Fence))

    def _header(self, step: str, status: str, metadata: Mapping[str, Any]) -> Header:
        place = (self.services, self.guard, self.report)
        return header(*place, step=step, status=status, metadata=metadata)

    def verdicts(self, state: Any, *, steps: int, runs: int) -> Verdicts:
        """Judge every field of a state on its real values."""
        values = self.contract.values(state)
        scanner = self.services.scanner
        return verdicts_on(self.contract, values, scanner, self.codec, steps=steps, runs=runs)

    def fork(self, checkpoint: str) -> Flow[RunCore]:
        """Begin a new line at a checkpoint; the run that is given back writes to it.

        Raises:
            NotFoundError: The run has no such checkpoint.
            ConflictError: Another writer was first.
        """
        self.services.may_write()
        child = RunCore(self.services, self.contract, self.reader.key.run_id, self._subject)
        child.holding = self.holding

        def attempt() -> Generator[Request, Any, RunCore]:
            line, row = yield from self.reader.find(checkpoint)
            fence = yield from self.claim()
            loaded, chains, values = yield from self.reader.load(line.branch, seq=row.seq)
            fresh = yield Fork(fence, line.id, row.seq)
            child.branch, child.last_step = fresh.branch, row.name
            child._claim, child._stored = fence, values
            child.entering.take_over(self.entering)
            memory = remember(loaded, chains, values, self.codec, self.services.retention.limit)
            child._remember(branch_off(memory, fresh.id, fresh.depth))
            return child

        with self.alone():
            yield from self.load()
            return (yield from self.again(attempt))

    def place(self, checkpoint: str) -> Generator[Request, Any, tuple[int, int]]:
        """Find a checkpoint: the number of its line, and its seq; the newest one is known.

        Raises:
            NotFoundError: The run has no such checkpoint.
        """
        memory = self._memory
        if memory and memory.line is not None and memory.head and checkpoint == memory.checkpoint:
            return memory.line, memory.head
        line, row = yield from self.reader.find(checkpoint)
        return line.id, row.seq

    def claim(self) -> Generator[Request, Any, Fence]:
        """Give the run's claim; one that was only looked at so far is claimed now."""
        if isinstance(self._claim, Seen):
            key, mark = self.reader.key, self.reader.mark
            leasing = self._wants(works=self.holding.held)
            fence: Fence = yield Claim(key, mark, self._claim, self.contract.epoch, leasing)
            self._claim = fence
        return self._claim

    def take_lease(self) -> Flow[None]:
        """Take the run's lease before anything is done.

        Raises:
            ConflictError: Another execution works on the run, or has got further with it.
        """
        self.services.may_write()

        def attempt() -> Flow[None]:
            memory = yield from self.load()
            leasing = self._wants(works=True)
            if leasing is not None:
                own = (self.reader.key, self.reader.mark, self._claim, uuid.uuid4().bytes)
                at = (self.services.now(), memory.line, memory.head)
                self._claim = yield Take(*own, self._contract_row, leasing, *at)
                self.holding.landed(leasing)

        with self.alone():
            yield from self.again(attempt)
