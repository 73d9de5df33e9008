"""A store as a user holds it, with and without `await`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Self

from keepset.backends.driver import adrive, drive
from keepset.backends.port import Settings
from keepset.contracts import Contract, contract_of
from keepset.errors import UsageError
from keepset.plan.prune import Policy, Pruned
from keepset.plan.reads import ListRuns, ReadSizes, Sizes
from keepset.plan.requests import Flow
from keepset.plan.rows import RunSummary
from keepset.plan.verify import Verified
from keepset.run.core import RunCore
from keepset.run.inspection import AsyncInspection, Inspection
from keepset.run.reader import Reader
from keepset.run.run import AsyncRun, Run
from keepset.run.services import Services
from keepset.store import operations
from keepset.store.opening import check_name
from keepset.store.resuming import can_resume
from keepset.verdict.resume import ResumeReport
from keepset.verdict.status import Status


class _Either:
    """What a store is without asking the backend."""

    def __init__(self, services: Services) -> None:
        """Take the store's parts; `keepset.open` and `keepset.aopen` make them."""
        self.services = services
        self._contracts: dict[str, Contract] = {}

    @property
    def tenant(self) -> str:
        """Whose runs these are."""
        return self.services.tenant

    @property
    def mode(self) -> str:
        """What becomes of a value that does not belong: ``strict``, ``protect``, ``observe``."""
        return self.services.mode.value

    def for_tenant(self, tenant: str) -> Self:
        """Give the same store for another tenant; closing either closes both."""
        return type(self)(replace(self.services, tenant=check_name("tenant", tenant)))

    def _core(self, contract: Any, run_id: str, subject: str | None, branch: int | None) -> RunCore:
        found = self._known(contract)
        if subject is not None:
            check_name("subject", subject)
        if branch is not None and (type(branch) is not int or branch < 0):
            raise UsageError(
                "the branch is not a number from 0 on",
                code="usage.branch",
                hint="A line is named by `Checkpoint.branch`: 0 for the root line.",
            )
        core = RunCore(self.services, found, check_name("run id", run_id), subject)
        core.branch = branch
        return core

    def _known(self, contract: Any) -> Contract:
        found = contract_of(contract)
        self._contracts[found.name] = found
        return found

    def _can_resume(self, run_id: str, contract: Any) -> Flow[ResumeReport]:
        asked = None if contract is None else self._known(contract)
        return can_resume(self.services, check_name("run id", run_id), asked, self._contracts)

    def _reader(self, run_id: str) -> Reader:
        return Reader(self.services, check_name("run id", run_id), self.services.inspector)

    def _person(self, subject: str) -> bytes:
        return self.services.subject(check_name("subject", subject))

    def _moment(self, given: datetime | timedelta | None) -> int | None:
        if given is None:
            return None
        if isinstance(given, timedelta):
            return max(1, self.services.now() - int(given.total_seconds() * 1000))
        try:
            return max(1, int(given.timestamp() * 1000))
        except (AttributeError, ValueError, OverflowError, OSError) as error:
            raise UsageError(
                "older_than is neither a time nor a length of time that can be reckoned with",
                code="prune.policy",
                hint="Write older_than=timedelta(days=30), or a datetime.",
            ) from error

    def _listing(
        self,
        status: str | None,
        contract: str | None,
        subject: str | None,
        after: str,
        limit: int,
    ) -> ListRuns:
        if status is not None and status not in tuple(Status):
            raise UsageError(
                "a run never stands there",
                code="usage.status",
                hint=f"A status is one of {', '.join(Status)}.",
            )
        if type(limit) is not int or limit < 1:
            raise UsageError(
                "the limit is not a number from 1 on", code="usage.limit", hint="Write limit=100."
            )
        person = None if subject is None else self._person(subject)
        return ListRuns(self.tenant, status, contract, person, after, limit, aside=False)


class Store(_Either):
    """Checkpoints of many runs in one place. Safe for threads; close it or use `with`."""

    def run(
        self, contract: Any, run_id: str, subject: str | None = None, *, branch: int | None = None
    ) -> Run:
        """Give a run, which is there already or begins with its first save.

        Args:
            contract: A state type (or its `Contract`).
            run_id: What the host calls the run: 1 to 512 characters.
            subject: The person whose data it holds; stored as a keyed hash only.
            branch: The line to go on with (`Checkpoint.branch`); None for the newest line.

        Raises:
            UsageError: The contract is no state type, or an id is no text.
            SchemaError: The contract is unsound.
        """
        return Run(self._core(contract, run_id, subject, branch))

    def runs(
        self,
        *,
        status: str | None = None,
        contract: str | None = None,
        subject: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[RunSummary]:
        """List runs in order of run id, but none that is still being taken over from elsewhere.

        Args:
            status: Only runs that stand there.
            contract: Only runs of the contract of this name.
            subject: Only runs that hold this person's data.
            after: Only run ids after this one, for the next page.
            limit: How many at the most.
        """
        plan = self._listing(status, contract, subject, after, limit)
        return list(self.services.backend.execute(plan))

    def inspect(self, run_id: str) -> Inspection:
        """Look into a run without its contract: objects of unknown classes are shown as opaque.

        Raises:
            NotFoundError: There is no such run.
        """
        reader = self._reader(run_id)
        row = drive(reader.row(), self.services.backend)
        return Inspection(reader, row, self.services.backend)

    def can_resume(self, run_id: str, contract: Any = None) -> ResumeReport:
        """Say whether this code may resume a run, and why not.

        Args:
            run_id: The run.
            contract: The state type to resume with; without it the one that was used with this
                store under the name that the run has.

        Raises:
            NotFoundError: There is no such run.
        """
        return drive(self._can_resume(run_id, contract), self.services.backend)

    def delete(self, run_id: str) -> bool:
        """End a run and remove its bytes from every file; False where there was none.

        Raises:
            StoreError: A reader keeps the log from being emptied; delete again when it is gone.
        """
        return drive(operations.delete(self.services, run_id), self.services.backend)

    def break_lease(self, run_id: str) -> bool:
        """Take a run's lease away from the execution that works on it; False where none does.

        What that execution saves from then on is refused. Where its process has ended on this
        machine, or was lost with its machine for longer than the lease lasts, nothing has to be
        broken.
        """
        return drive(operations.break_lease(self.services, run_id), self.services.backend)

    def prune(
        self,
        run_id: str,
        *,
        keep_latest: int | None = None,
        every: int | None = None,
        older_than: datetime | timedelta | None = None,
    ) -> Pruned:
        """Remove checkpoints; the newest of every line always stays.

        A checkpoint goes when every condition that is given lets it go.

        Args:
            run_id: The run.
            keep_latest: Keep this many newest of every line.
            every: Keep those whose number this one divides.
            older_than: Keep what was saved at this time or later (an aware time, or a naive one
                of this machine), or within this much time before now.

        Raises:
            UsageError: No condition is given.
            NotFoundError: There is no such run.
            ConflictError: The run was written to meanwhile.
        """
        policy = Policy(keep_latest, every, self._moment(older_than))
        return drive(
            operations.prune_run(self.services, run_id, policy),
            self.services.backend,
        )

    def verify(self, run_id: str | None = None) -> Verified:
        """Read everything again, check every digest and rebuild every checkpoint."""
        return drive(operations.verify(self.services, run_id), self.services.backend)

    def stats(self) -> Sizes:
        """Measure what the tenant's runs take."""
        return self.services.backend.execute(ReadSizes(self.tenant))

    def settings(self) -> Settings:
        """Read which settings of the database are in force."""
        return self.services.backend.settings()

    def close(self) -> None:
        """Finish what waits to be written and let go of the files."""
        self.services.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncStore(_Either):
    """`Store` for event loops: the same names, awaited."""

    async def run(
        self, contract: Any, run_id: str, subject: str | None = None, *, branch: int | None = None
    ) -> AsyncRun:
        """See `Store.run`."""
        return AsyncRun(self._core(contract, run_id, subject, branch))

    async def runs(
        self,
        *,
        status: str | None = None,
        contract: str | None = None,
        subject: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[RunSummary]:
        """See `Store.runs`."""
        plan = self._listing(status, contract, subject, after, limit)
        return list(await self.services.backend.aexecute(plan))

    async def inspect(self, run_id: str) -> AsyncInspection:
        """See `Store.inspect`."""
        reader = self._reader(run_id)
        row = await adrive(reader.row(), self.services.backend)
        return AsyncInspection(reader, row, self.services.backend)

    async def can_resume(self, run_id: str, contract: Any = None) -> ResumeReport:
        """See `Store.can_resume`."""
        return await adrive(self._can_resume(run_id, contract), self.services.backend)

    async def delete(self, run_id: str) -> bool:
        """See `Store.delete`."""
        return await adrive(operations.delete(self.services, run_id), self.services.backend)

    async def break_lease(self, run_id: str) -> bool:
        """See `Store.break_lease`."""
        return await adrive(operations.break_lease(self.services, run_id), self.services.backend)

    async def prune(
        self,
        run_id: str,
        *,
        keep_latest: int | None = None,
        every: int | None = None,
        older_than: datetime | timedelta | None = None,
    ) -> Pruned:
        """See `Store.prune`."""
        policy = Policy(keep_latest, every, self._moment(older_than))
        flow = operations.prune_run(self.services, run_id, policy)
        return await adrive(flow, self.services.backend)

    async def verify(self, run_id: str | None = None) -> Verified:
        """See `Store.verify`."""
        return await adrive(operations.verify(self.services, run_id), self.services.backend)

    async def stats(self) -> Sizes:
        """See `Store.stats`."""
        return await self.services.backend.aexecute(ReadSizes(self.tenant))

    async def settings(self) -> Settings:
        """See `Store.settings`."""
        return await asyncio.to_thread(self.services.backend.settings)

    async def close(self) -> None:
        """See `Store.close`."""
        await asyncio.to_thread(self.services.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
