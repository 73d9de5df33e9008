"""Look into a run without its contract."""

from __future__ import annotations

from keepset.backends.driver import adrive, drive
from keepset.backends.port import Backend
from keepset.plan.rows import RunRow
from keepset.run.checkpoint import Checkpoint, View, id_of
from keepset.run.reader import Reader


class _Either:
    def __init__(self, reader: Reader, row: RunRow, backend: Backend) -> None:
        """Take a reader whose codec shows objects as opaque."""
        self.row = row
        self._reader = reader
        self._backend = backend


class Inspection(_Either):
    """A run as an operator sees it: nothing is restored, and no class is needed.

    Attributes:
        row: The run's own row: its contract as it was stored, its incarnation, its token.
    """

    def branches(self) -> list[int]:
        """The run's lines by their branches: 0 for the root line, the highest is the newest."""
        return drive(self._reader.branches(), self._backend)

    def history(self, limit: int | None = None, *, branch: int | None = None) -> list[Checkpoint]:
        """The checkpoints of a line (the newest, if none is named) and of its past, newest first.

        Raises:
            NotFoundError: The run has no such line.
        """
        return drive(self._reader.history(branch, limit), self._backend)

    def at(self, checkpoint: str | Checkpoint) -> View:
        """What one checkpoint holds.

        Raises:
            NotFoundError: The run has no such checkpoint.
        """
        return drive(self._reader.at(id_of(checkpoint)), self._backend)


class AsyncInspection(_Either):
    """`Inspection` for an event loop: the same names, awaited."""

    async def branches(self) -> list[int]:
        """See `Inspection.branches`."""
        return await adrive(self._reader.branches(), self._backend)

    async def history(
        self, limit: int | None = None, *, branch: int | None = None
    ) -> list[Checkpoint]:
        """See `Inspection.history`."""
        return await adrive(self._reader.history(branch, limit), self._backend)

    async def at(self, checkpoint: str | Checkpoint) -> View:
        """See `Inspection.at`."""
        return await adrive(self._reader.at(id_of(checkpoint)), self._backend)
