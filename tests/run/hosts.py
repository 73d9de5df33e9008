"""A host that names its checkpoints itself, as tests of hosted runs use it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeVar

import keepset as ks
from keepset.backends.driver import drive
from keepset.backends.port import Backend
from keepset.contracts import contract_of
from keepset.plan.record import Header
from keepset.run.entering import Entering
from keepset.run.hosted import HostReader, HostStep, HostWriter, Known, Stored, Surface
from keepset.run.pending import Batch
from keepset.run.reporting import Report
from keepset.run.stored import contract_row
from tests.run.states import Chat

R = TypeVar("R")


class Host:
    """One run as a host of a store uses it."""

    def __init__(self, store: ks.Store, run_id: str = "r") -> None:
        self.services = store.services
        self.backend: Backend = self.services.backend
        contract = contract_of(Chat)
        guard = self.services.guard(contract)
        entering = Entering(self.services, contract, guard.codec)
        self.surface = Surface(self.services, contract, guard, Report(run_id), entering)
        self.known = Known(self.services, run_id, contract_row(contract), bound=True)
        self.reader = HostReader(self.known)
        self.writer = HostWriter(self.known, self.reader)
        self.holding = self.services.leases.holding(self.known.key, is_open=False)

    def _drive(self, flow: Generator[Any, Any, R]) -> R:
        return drive(flow, self.backend)

    def take(self) -> None:
        """Take the run's lease before anything is read."""
        self._drive(self.writer.take(self.holding))

    def give_back(self) -> None:
        """Give the lease back."""
        self._drive(self.holding.give_back())

    def append(
        self,
        checkpoint: str,
        parent: str,
        values: Mapping[str, Any],
        *,
        follows: bool = False,
        leased: bool = False,
    ) -> None:
        header = Header(checkpoint, "step", "running", 1)
        holding = self.holding if leased else None
        step = HostStep("", parent, header, values, follows, holding)
        self._drive(self.writer.append(step, self.surface))

    def write(
        self,
        checkpoint: str,
        task: str,
        writes: Sequence[tuple[str, Any]],
        *,
        replace: bool = False,
    ) -> None:
        batch = Batch(task, writes, replace=replace)
        self._drive(self.writer.write("", checkpoint, batch, self.surface, early=False))

    def look(self) -> None:
        """See how the run is now."""
        self._drive(self.reader.look())

    def newest(self) -> Stored | None:
        """The newest checkpoint, as an execution asks for it that has the lease or has not."""
        reader, holding = self.reader, self.holding
        return self._drive(reader.newest("", self.surface, keep=True, holding=holding))

    def at(self, checkpoint: str) -> Stored | None:
        return self._drive(self.reader.at("", checkpoint, self.surface))
