"""A run as a user holds it, with and without `await`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepset.backends.driver import adrive, drive
from keepset.contracts import Contract
from keepset.run.checkpoint import Checkpoint, View, id_of
from keepset.run.core import RunCore
from keepset.run.pending import Batch, PendingWrite, put_writes, read_writes
from keepset.scan import Finding
from keepset.verdict.field import Verdicts
from keepset.verdict.status import Status


class _Either:
    """What a run is without asking the store.

    Attributes:
        core: The run's operations as flows, for those who build on them.
    """

    def __init__(self, core: RunCore) -> None:
        """Take the run's operations; a user gets a run from a store."""
        self.core = core

    @property
    def id(self) -> str:
        """The run's id."""
        return self.core.reader.key.run_id

    @property
    def contract(self) -> Contract:
        """The contract that its state has."""
        return self.core.contract

    @property
    def findings(self) -> Sequence[Finding]:
        """What the detectors met in what this run has saved so far, in this process.

        Of findings that differ only in the positions of items, the first one is here.
        """
        return self.core.report.findings()

    @property
    def finding_counts(self) -> Sequence[int]:
        """How often each of `findings` was met."""
        return self.core.report.counts()

    @property
    def changed_pins(self) -> Sequence[str]:
        """Fields under ``pin="report"`` whose content was another one when the run resumed."""
        return self.core.changed_pins

    def verdicts(self, state: Any, *, steps: int = 1, runs: int = 1) -> Verdicts:
        """Judge every field of a state: does it belong, why, and what does it cost?

        Args:
            state: A state of the contract, live values included.
            steps: Checkpoints per run, by which bytes are multiplied.
            runs: Number of runs, by which bytes are multiplied.
        """
        return self.core.verdicts(state, steps=steps, runs=runs)


class Run(_Either):
    """One execution that can be resumed. It has one user at a time."""

    @property
    def state(self) -> Any:
        """The state of the newest checkpoint, complete; None where the run has none yet.

        What is not stored is restored by its rule, once.

        Raises:
            NotFoundError: A loader or factory failed, or a secret is not there.
            IntegrityError: A loader gave other content, or stored rows are damaged.
            DecodeError: The process does not know a class that the state holds.
        """
        return drive(self.core.state(), self.core.services.backend)

    def save(
        self,
        step: str,
        state: Any,
        *,
        status: str = Status.RUNNING,
        metadata: Mapping[str, Any] | None = None,
    ) -> Checkpoint:
        """Store a checkpoint of the whole state; it lands whole or not at all.

        Args:
            step: Name of the step that has ended.
            state: The state after it.
            status: Where the run stands: ``running``, ``paused``, ``failed`` or ``done``.
            metadata: Anything that is to be kept beside the state.

        Raises:
            PolicyError: A value cannot be stored or does not belong.
            ConflictError: Another writer was first.
            StoreError: The store refused.
        """
        flow = self.core.save(step, state, status=status, metadata=metadata)
        return drive(flow, self.core.services.backend)

    def take_lease(self) -> None:
        """Take the run's lease before its first step; a save that says ``running`` takes it anyway.

        As long as this run has it, nobody else can go on with the run. A save that says anything
        but ``running`` gives it back, as does the end of this object, of the store or the process.

        Raises:
            ConflictError: ``run.leased``: another execution works on the run; ``conflict.head``:
                it has got further since this one was loaded.
        """
        drive(self.core.take_lease(), self.core.services.backend)

    def history(self, limit: int | None = None) -> list[Checkpoint]:
        """The run's checkpoints, newest first, at most `limit`."""
        flow = self.core.reader.history(self.core.branch, limit)
        return drive(flow, self.core.services.backend)

    def at(self, checkpoint: str | Checkpoint) -> View:
        """What one checkpoint holds; nothing is loaded, opened or resolved.

        Raises:
            NotFoundError: The run has no such checkpoint.
        """
        return drive(self.core.reader.at(id_of(checkpoint)), self.core.services.backend)

    def fork(self, checkpoint: str | Checkpoint) -> Run:
        """Begin a new line at a checkpoint and give the run that writes to it.

        Raises:
            NotFoundError: The run has no such checkpoint.
            ConflictError: Another writer was first.
        """
        return Run(drive(self.core.fork(id_of(checkpoint)), self.core.services.backend))

    def put_writes(
        self,
        checkpoint: str | Checkpoint,
        task: str,
        writes: Sequence[tuple[str, Any]],
        *,
        path: str = "",
        replace: bool = False,
    ) -> None:
        """Store what a task wrote after a checkpoint: pairs of field (or channel) and value.

        A checkpoint that has successors already takes writes as well.

        Args:
            checkpoint: The checkpoint, or its id.
            task: Id of the task.
            writes: What it wrote, in order.
            path: The task's path, by which writes are ordered first.
            replace: Whether what is there of the same task and position is replaced; else it
                stays as it is.

        Raises:
            UsageError: The writes are not pairs of a name and a value.
            PolicyError: A value cannot be stored or does not belong.
            NotFoundError: The run has no such checkpoint.
            ConflictError: Another writer was first.
        """
        batch = Batch(task, writes, path, replace)
        drive(put_writes(self.core, id_of(checkpoint), batch), self.core.services.backend)

    def writes(self, checkpoint: str | Checkpoint) -> list[PendingWrite]:
        """Read the pending writes of a checkpoint, ordered by (path, task, index).

        Raises:
            NotFoundError: The run has no such checkpoint.
        """
        return drive(read_writes(self.core, id_of(checkpoint)), self.core.services.backend)


class AsyncRun(_Either):
    """`Run` for an event loop: the same names, awaited; loaders and factories may be coroutines."""

    @property
    async def state(self) -> Any:
        """See `Run.state`: ``await run.state``."""
        return await adrive(self.core.state(), self.core.services.backend)

    async def save(
        self,
        step: str,
        state: Any,
        *,
        status: str = Status.RUNNING,
        metadata: Mapping[str, Any] | None = None,
    ) -> Checkpoint:
        """See `Run.save`."""
        flow = self.core.save(step, state, status=status, metadata=metadata)
        return await adrive(flow, self.core.services.backend)

    async def take_lease(self) -> None:
        """See `Run.take_lease`."""
        await adrive(self.core.take_lease(), self.core.services.backend)

    async def history(self, limit: int | None = None) -> list[Checkpoint]:
        """See `Run.history`."""
        flow = self.core.reader.history(self.core.branch, limit)
        return await adrive(flow, self.core.services.backend)

    async def at(self, checkpoint: str | Checkpoint) -> View:
        """See `Run.at`."""
        return await adrive(self.core.reader.at(id_of(checkpoint)), self.core.services.backend)

    async def fork(self, checkpoint: str | Checkpoint) -> AsyncRun:
        """See `Run.fork`."""
        return AsyncRun(await adrive(self.core.fork(id_of(checkpoint)), self.core.services.backend))

    async def put_writes(
        self,
        checkpoint: str | Checkpoint,
        task: str,
        writes: Sequence[tuple[str, Any]],
        *,
        path: str = "",
        replace: bool = False,
    ) -> None:
        """See `Run.put_writes`."""
        flow = put_writes(self.core, id_of(checkpoint), Batch(task, writes, path, replace))
        await adrive(flow, self.core.services.backend)

    async def writes(self, checkpoint: str | Checkpoint) -> list[PendingWrite]:
        """See `Run.writes`."""
        return await adrive(read_writes(self.core, id_of(checkpoint)), self.core.services.backend)
