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
_KEYS: Final = 50


class Tally:
    """Counts runs as they are moved, and remembers those of which something is to be told.

    Attributes:
        outcomes: How many runs, by what became of them.
        checkpoints: How many checkpoints were moved or compared.
        size: Bytes that were read.
        withheld: Secrets that are not in what was written: how often, by kind and place.
        metadata: Keys of metadata that stayed behind, some at most.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.outcomes: Counter[Outcome] = Counter()
        self.checkpoints: Counter[Outcome] = Counter()
        self.size = 0
        self._amiss: list[Moved] = []
        self._said: list[Moved] = []
        self._telling = 0
        self._misses = False
        self.withheld: Counter[tuple[str, str]] = Counter()
        self.metadata: set[str] = set()

    @property
    def runs(self) -> int:
        """How many runs were looked at."""
        return self.outcomes.total()

    @property
    def told(self) -> list[Moved]:
        """The runs to be told of: first those that somebody has to look at."""
        return [*self._amiss, *self._said][:TOLD]

    @property
    def more(self) -> int:
        """How many such runs there are beside those."""
        return self._telling - len(self.told)

    def add(self, moved: Moved) -> None:
        """Count one run."""
        self.outcomes[moved.outcome] += 1
        self.checkpoints[moved.outcome] += moved.checkpoints
        self.size += moved.size
        for place, times in moved.withheld.items():
            known = place in self.withheld or len(self.withheld) < _PLACES
            self.withheld[place if known else (place[0], "…")] += times
        if len(self.metadata) < _KEYS:
            self.metadata |= {*moved.metadata}
        self._misses = self._misses or bool(moved.left)
        is_amiss = moved.outcome not in FINE or bool(moved.left)
        if not is_amiss and not moved.why:
            return
        self._telling += 1
        among = self._amiss if is_amiss else self._said
        if len(among) < TOLD:
            among.append(moved)

    def code(self) -> int:
        """Give the exit code: the worst that became of a run."""
        if self.outcomes[Outcome.UNREAD]:
            return Resume.UNKNOWN
        left = any(times for outcome, times in self.outcomes.items() if outcome not in FINE)
        return FINDINGS if left or self._misses else 0
