"""Runs that lie in several places of one database: two schemas, or the tables of two tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keepset.adapters.moved import Moved, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from keepset.cli.moving.sources import Importer

_TWICE: Final = "two schemas or tools there have a run of this id"
_ONE: Final = (
    "Import one at a time, each into a store or a tenant of its own: ?schema=NAME names one."
)


class Several:
    """Takes the runs of several places over as if they lay in one."""

    def __init__(self, importers: Sequence[Importer]) -> None:
        """Take those of each place, in order."""
        self._importers = importers

    def runs(self) -> Iterator[str]:
        """Give the ids of all runs, each once."""
        for number, importer in enumerate(self._importers):
            before = self._importers[:number]
            yield from (run for run in importer.runs() if not any(one.has(run) for one in before))

    def has(self, run: str, /) -> bool:
        """Tell whether any place has a run."""
        return any(one.has(run) for one in self._importers)

    def move(self, run: str, /) -> Moved:
        """Take one over; one that two places have is none that could be told from the other."""
        having = [one for one in self._importers if one.has(run)]
        if len(having) > 1:
            return Moved(run, Outcome.LEFT, why=_TWICE, hint=_ONE)
        return (having or self._importers)[0].move(run)
