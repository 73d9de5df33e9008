"""The count of what became of runs, which does not grow with how many there are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from keepset.adapters.moved import FINE, Outcome
from keepset.cli.app import FINDINGS
from keepset.verdict.status import Resume

if TYPE_CHECKING:
    from keepset.adapters.moved import Moved

TOLD: Final = 1_000
"""How many runs are told by themselves; more than that are counted."""
_PLACES: Final = 1_000


class Tally:
    """Counts runs as they are moved, and remembers those that somebody has to look at.

    Attributes:
        outcomes: How many runs, by what became of them.
        checkpoints: How many checkpoints were moved or compared.
        size: Bytes that were read.
        told: The runs to be told of.
        more: How many such runs there are beside those.
        withheld: Secrets that are not in what was written: how often, by kind and place.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.outcomes: Counter[Outcome] = Counter()
        self.checkpoints: Counter[Outcome] = Counter()
        self.size = 0
        self.told: list[Moved] = []
        self.more = 0
        self.withheld: Counter[tuple[str, str]] = Counter()

    @property
    def runs(self) -> int:
        """How many runs were looked at."""
        return self.outcomes.total()

    def add(self, moved: Moved) -> None:
        """Count one run."""
        self.outcomes[moved.outcome] += 1
        self.checkpoints[moved.outcome] += moved.checkpoints
        self.size += moved.size
        for place, times in moved.withheld.items():
            known = place in self.withheld or len(self.withheld) < _PLACES
            self.withheld[place if known else (place[0], "…")] += times
        if moved.outcome in FINE and not moved.left and not moved.why:
            return
        if len(self.told) < TOLD:
            self.told.append(moved)
        else:
            self.more += 1

    def code(self) -> int:
        """Give the exit code: the worst that became of a run."""
        if self.outcomes[Outcome.UNREAD]:
            return Resume.UNKNOWN
        left = any(times for outcome, times in self.outcomes.items() if outcome not in FINE)
        return FINDINGS if left or any(moved.left for moved in self.told) else 0
