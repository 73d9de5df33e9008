"""What was found out about a store, and what its runs tell without being read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from keepset.audit.intervals import narrowed, widened
from keepset.audit.tally import RunsTally, Tally
from keepset.readers.ports import Overview, RunFacts

DAY: Final = 86_400
OURS: Final = "keepset"
"""What a reader of our own stores calls their kind."""
AGES: Final = (
    ("under a day", 1),
    ("under a week", 7),
    ("under 30 days", 30),
    ("under 90 days", 90),
    ("under 180 days", 180),
    ("under a year", 365),
)
"""Upper ends of the ages of runs, in days."""
OLDER: Final = "a year and more"
UNKNOWN: Final = "not known"


@dataclass(frozen=True)
class Survey:
    """All that was found out about a store.

    Attributes:
        place: Where it is.
        overview: The store as a whole.
        tally: What was counted.
        orphans: Rows that belong to nothing, by table.
        now: When it was read, in seconds since 1970.
        is_done: Whether all was read that was planned; time was not up before.
        few: A few runs by chance, to measure what they would take in a store of ours.
        eyes: Names of those that have looked closer than the detectors.
        told: Gives the id of a run as it may be told.
    """

    place: str
    overview: Overview
    tally: Tally
    orphans: dict[str, int] = field(default_factory=dict)
    now: float = 0.0
    few: tuple[RunFacts, ...] = ()
    is_done: bool = True
    eyes: tuple[str, ...] = ()
    told: Callable[[str], str] = str

    @property
    def is_ours(self) -> bool:
        """Tell whether the store is one of ours."""
        return self.overview.kind == OURS

    @property
    def narrow(self) -> float:
        """The factor of intervals: no run is read twice, and few of them say less."""
        tally = self.tally
        once = 1.0 if tally.cut else narrowed(tally.read, tally.runs.runs)
        return once * widened(tally.read)


def count_run(tally: RunsTally, facts: RunFacts, now: float) -> None:
    """Count a run by what its store tells of it, without reading it."""
    tally.runs += 1
    tally.checkpoints += facts.checkpoints
    tally.bytes += facts.size
    if facts.size > tally.largest:
        tally.largest, tally.largest_run = facts.size, facts.run
    if facts.first is not None:
        tally.first = facts.first if tally.first is None else min(tally.first, facts.first)
    age = age_of(facts.last, now)
    runs, size = tally.ages.get(age, (0, 0))
    tally.ages[age] = runs + 1, size + facts.size
    if facts.is_unfinished is None:
        tally.unknown += 1
    elif facts.is_unfinished:
        tally.unfinished += 1
        tally.unfinished_bytes += facts.size
        if facts.last is not None and (tally.oldest is None or facts.last < tally.oldest):
            tally.oldest, tally.oldest_run = facts.last, facts.run


def age_of(last: float | None, now: float) -> str:
    """Name how long ago a run was last written to."""
    if last is None:
        return UNKNOWN
    days = (now - last) / DAY
    return next((name for name, end in AGES if days < end), OLDER)
