"""A run's operations, each written once as a flow that a driver runs with or without `await`."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from keepset.codec import format_path
from keepset.contracts import Contract, Keep
from keepset.contracts import Field as FieldSpec
from keepset.errors import ConflictError, PolicyError, UsageError
from keepset.plan.memory import LineMemory
from keepset.plan.project import project
from keepset.plan.reads import Loaded
from keepset.plan.rebuild import branch_off, header_at, remember
from keepset.plan.record import Header, Recorded, Recorder, record, record_nothing
from keepset.plan.requests import Flow, Hold, Request, Seen
from keepset.plan.restore import restore
from keepset.plan.rows import ContractRow, RunRow
from keepset.plan.shapes import require_contract
from keepset.plan.writes import Claim, Fork, Save, Saved
from keepset.run.checkpoint import Checkpoint, as_checkpoint
from keepset.run.entering import Entering
from keepset.run.reader import Reader
from keepset.run.services import Services
from keepset.run.tally import Tally
from keepset.scan import Finding
from keepset.verdict.examine import verdicts_on
from keepset.verdict.field import Verdicts
from keepset.verdict.status import Status

_log = logging.getLogger("keepset")
_METADATA = FieldSpec("metadata", dict, Keep(), declared=True, required=False)


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
        self.tally = Tally()
        self.changed_pins: tuple[str, ...] = ()
        self.branch: int | None = None
        self.last_step = ""
        self.entering = Entering(services, contract, self.codec)
        self._subject = subject
        self._person = subject
        self._told: str | None = None
        self._memory: LineMemory | None = None
        self._claim: Hold | Seen = Seen(None, 0)
        self._stored: dict[str, Any] | None = None
        self._state: Any = None
        self._busy = threading.Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Refuse a second user of the run while the first one is not done.

        Raises:
            UsageError: There is one.
        """
        if not self._busy.acquire(blocking=False):
            raise UsageError(
                f"run {self.reader.key.run_id} is in use by another thread or task",
                code="run.in-use",
                hint="A Run has one user at a time: await its calls one after the other.",
            )
        try:
            yield
        finally:
            self._busy.release()

    def load(self) -> Generator[Request, Any, LineMemory]:
        """Load the newest checkpoint once, and remember what a save needs."""
        if self._memory is None:
            loaded, chains, values = yield from self.reader.load(self.branch, self._fits)
            header = header_at(loaded)
            self._claim = seen_in(loaded)
            self._memory = remember(loaded, chains, values, self.codec)
            self._stored = values if header else None
            self.last_step = header.name if header else ""
            self.branch = loaded.line.branch if loaded.line else None
        return self._memory

    def _fits(self, run: RunRow) -> None:
        """Refuse a run of another contract before its values are decoded."""
        require_contract(run.contract, self.contract, self.services.mode)

    def state(self) -> Flow[Any]:
        """The state of the newest checkpoint, restored once; None where there is none."""
        with self.alone():
            yield from self.load()
            if self._stored is not None:
                restored = yield from restore(
                    self.contract, self._stored, self.codec, self.entering.resolve
                )
                self._state = self.contract.build(restored.values)
                self._stored = None
                self.changed_pins = restored.changed_pins
            return self._state

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
        with self.alone():
            memory = yield from self.load()
            self.guard.require_declared(self.contract)
            header = self._header(step, status, metadata or {})
            values = self.entering.values(self.contract.values(state), memory, admitted=admitted)
            self._person = self._subject or self.entering.subject(values)
            stored = project(self.contract, values, self.codec)

            def recording(recorder: Recorder) -> Recorded:
                return record(self.contract, stored, header, recorder)

            checkpoint = yield from self._land(recording, memory)
            self._stored, self._state = None, state
            return checkpoint

    def mark(self, status: Status) -> Flow[Checkpoint]:
        """Store where the run stands, without a change of its state.

        Raises:
            ConflictError: Another writer was first; nothing is changed.
            StoreError: The store refused; nothing is changed.
        """
        with self.alone():
            memory = yield from self.load()
            header = self._header(self.last_step, status, {})
            return (yield from self._land(partial(record_nothing, header), memory))

    def _land(
        self, recording: Callable[[Recorder], Recorded], memory: LineMemory
    ) -> Flow[Checkpoint]:
        """Save what is recorded, and remember it."""
        recorded, saved = yield from self._commit(recording, memory)
        self._claim = saved.hold
        self._memory = recorded.memory.on(saved.line.id)
        self._told = self._person
        self.last_step = recorded.step.name
        self.branch = saved.line.branch
        self.report(recorded.step.name, recorded.findings)
        return as_checkpoint(recorded.step, saved.line, self.codec)

    def report(self, step: str, findings: Iterable[Finding]) -> None:
        """Log the first finding of each kind and place."""
        for finding in self.tally.add(findings):
            _log.warning(
                "run %s, step %s: %s at %s (%s). %s",
                self.reader.key.run_id,
                step,
                finding.kind,
                format_path(finding.path),
                finding.detail,
                finding.advice,
            )

    def _commit(
        self, recording: Callable[[Recorder], Recorded], memory: LineMemory
    ) -> Generator[Request, Any, tuple[Recorded, Saved]]:
        """Record and save; a second time where the run was pruned meanwhile."""
        while True:
            recorded = self._recorded(recording, memory)
            try:
                saved: Saved = yield self._plan(memory, recorded)
            except ConflictError as error:
                if error.code != "conflict.layout":
                    raise
                memory = yield from self._load_again(memory, error)
            else:
                return recorded, saved

    def _recorded(self, recording: Callable[[Recorder], Recorded], memory: LineMemory) -> Recorded:
        try:
            return recording(Recorder(self.guard, memory, self.services.compressed))
        except PolicyError as error:
            raise error.within(f"run {self.reader.key.run_id}") from error

    def _load_again(
        self, memory: LineMemory, error: ConflictError
    ) -> Generator[Request, Any, LineMemory]:
        """Learn how the rows lie now; the checkpoint that this run knows must be the newest."""
        loaded, chains, values = yield from self.reader.load(self.branch)
        fresh = remember(loaded, chains, values, self.codec)
        seen = seen_in(loaded)
        known = self._claim.incarnation == seen.incarnation
        if not known or fresh.checkpoint != memory.checkpoint:
            raise error
        self._claim = replace(self._claim, layout=seen.layout)
        self._memory = fresh
        return fresh

    def _plan(self, memory: LineMemory, recorded: Recorded) -> Save:
        fresh = self._person if self._person != self._told else None
        return Save(
            key=self.reader.key,
            mark=self.reader.mark,
            claim=self._claim,
            incarnation=uuid.uuid4().bytes,
            contract=contract_row(self.contract),
            subject=None if fresh is None else self.services.subject(fresh),
            line=memory.line,
            namespace="",
            head=memory.head,
            step=recorded.step,
            segments=recorded.segments,
            packed=recorded.packed,
            blobs=recorded.blobs,
        )

    def _header(self, step: str, status: str, metadata: Mapping[str, Any]) -> Header:
        if not isinstance(step, str) or not step or status not in tuple(Status):
            raise UsageError(
                "a save needs the name of a step, and a status that is known",
                code="run.step",
                hint=f"For example run.save('ask', state); a status is one of {', '.join(Status)}.",
            )
        now = self.services.now()
        packed = b""
        if metadata:
            path = ("metadata",)
            findings = self.guard.look(_METADATA, dict(metadata), path)
            put = self.guard.decide(_METADATA, dict(metadata), path, findings)
            packed = self.codec.pack(dict(metadata), path, substitute=put or None)
            self.report("metadata", findings)
        return Header(
            checkpoint=self.services.new_id(now),
            name=self.services.scanner.text(step),
            status=Status(status).value,
            at=now,
            metadata=packed,
        )

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
        with self.alone():
            yield from self.load()
            line, row = yield from self.reader.find(checkpoint)
            hold = yield from self.claim()
            loaded, chains, values = yield from self.reader.load(line.branch, seq=row.seq)
            memory = remember(loaded, chains, values, self.codec)
            fresh = yield Fork(hold, line.id, row.seq)
            hold = replace(hold, layout=seen_in(loaded).layout)
        child = RunCore(self.services, self.contract, self.reader.key.run_id, self._subject)
        child.branch = fresh.branch
        child._memory = branch_off(memory, fresh)
        child._claim, child._stored = hold, values
        child.last_step = row.name
        return child

    def claim(self) -> Generator[Request, Any, Hold]:
        """Give the run's claim; one that was only looked at so far is claimed now."""
        if isinstance(self._claim, Seen):
            key, mark = self.reader.key, self.reader.mark
            hold: Hold = yield Claim(key, mark, self._claim, self.contract.epoch)
            self._claim = hold
        return self._claim


def seen_in(loaded: Loaded) -> Seen:
    """What a writer has seen of a run that it loaded."""
    run, deletions = loaded.found.run, loaded.found.deletions
    return Seen(run.incarnation, deletions, run.layout) if run else Seen(None, deletions)


def contract_row(contract: Contract) -> ContractRow:
    """A contract as it is stored."""
    return ContractRow(contract.name, contract.epoch, contract.shape, contract.structure)
