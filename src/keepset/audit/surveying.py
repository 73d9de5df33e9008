"""Read a store and count; what is kept in memory meanwhile does not grow with the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from keepset.audit.eyes import Eye
from keepset.audit.intervals import Replicates
from keepset.audit.looking import ID, Looker
from keepset.audit.reading import RunReading
from keepset.audit.sampling import Chosen, Plan
from keepset.audit.survey import Survey, count_run
from keepset.audit.tally import RunsTally, Tally, add
from keepset.errors import DecodeError, IntegrityError, NotFoundError, UsageError
from keepset.providers import elapsed, now_ms
from keepset.readers.ports import Overview, Reader, RunFacts
from keepset.scan import Scanner

_OFTEN: Final = 512
"""Values after which it is told how far the reading is, also within a run."""

FEW: Final = 20
"""Runs by which it is measured what the store would be."""

Told = Callable[[Tally, int], None]
"""Is called with what is counted and the number of runs that are to be read."""

Kept = Callable[[Tally], None]
"""Is called between two runs, with all that is counted until then."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Tells the time.

    Attributes:
        now: Seconds since 1970.
        elapsed: Seconds since some moment.
    """

    now: Callable[[], float] = lambda: now_ms() / 1000
    elapsed: Callable[[], float] = elapsed


@dataclass(frozen=True, slots=True)
class Around:
    """What a reading is embedded in.

    Attributes:
        clock: Tells ages, and when time is up.
        told: Is told of the progress.
        kept: Keeps what is counted, so that a reading can be gone on with.
        before: What an earlier reading of the same store has counted, or None.
        eyes: Those that look closer than the detectors.
    """

    clock: Clock = field(default_factory=Clock)
    told: Told = lambda _tally, _planned: None
    kept: Kept = lambda _tally: None
    before: Tally | None = None
    eyes: Sequence[Eye] = ()


def survey(
    reader: Reader,
    place: str,
    scanner: Scanner,
    plan: Plan | None = None,
    around: Around | None = None,
) -> Survey:
    """Read a store: all of a small one, a sample of the runs of a large one.

    Args:
        reader: Reads it.
        place: Where it is, as a person names it.
        scanner: The detectors.
        plan: How much of it to read.
        around: The clock, who is told of the progress, what was counted before.
    """
    plan, around = plan or Plan(), around or Around()
    overview, now = reader.overview(), around.clock.now()
    looker = Looker(scanner, around.eyes)
    reading = _Reading(reader, looker, plan, around, overview)
    reading.read()
    orphans, few = dict(reader.orphans()), tuple(reading.few.runs())
    return Survey(
        place,
        overview,
        reading.tally,
        orphans,
        now=now,
        few=few,
        is_done=reading.is_done,
        eyes=tuple(eye.name for eye in around.eyes),
        told=lambda run: looker.told(run, ID),
    )


class _Reading:
    """One reading of one store."""

    def __init__(
        self, reader: Reader, looker: Looker, plan: Plan, around: Around, overview: Overview
    ) -> None:
        """Begin, or go on with what was counted before."""
        self.tally = around.before or Tally()
        self._reader = reader
        self._looker = looker
        self._plan = plan
        self._around = around
        self._overview = overview
        self._most: int | None = None
        self._planned = overview.runs
        self._begun = around.clock.elapsed()
        self.few = Chosen(FEW, plan.seed)
        self.is_done = True

    def read(self) -> None:
        """Read what the plan says."""
        earlier = self.tally.seconds
        wanted = self._plan.wanted(self._overview)
        done, self.tally.runs = self.tally.last_run, RunsTally()
        runs = self._counted()
        if wanted is not None:
            runs = self._sample(runs, wanted)
        for facts in _after(runs, done):
            if self._is_late():
                self.is_done = False
                break
            before = self.tally.read_bytes
            self._read_run(facts)
            if self.tally.replicates is not None:
                gained = self.tally.read_bytes - before
                self.tally.replicates.after(facts.run, gained, self.tally.totals())
            self.tally.last_run = facts.run
            self.tally.seconds = earlier + self._around.clock.elapsed() - self._begun
            self._around.kept(self.tally)
        if self.tally.is_whole:
            self.tally.replicates = None

    def _counted(self) -> Iterator[RunFacts]:
        """Give all runs; each is counted by what its store tells of it."""
        now = self._around.clock.now()
        for facts in self._reader.runs():
            count_run(self.tally.runs, facts, now)
            self.few.take(facts)
            yield facts

    def _sample(self, runs: Iterable[RunFacts], wanted: int) -> Iterator[RunFacts]:
        chosen = Chosen(wanted, self._plan.seed)
        for facts in runs:
            chosen.take(facts)
        sample = chosen.runs()
        self._planned = len(sample)
        self._most = self._plan.most_of_a_run(self._overview)
        self.tally.replicates = self.tally.replicates or Replicates()
        return iter(sample)

    def _is_late(self) -> bool:
        seconds = self._plan.seconds
        return seconds is not None and self._around.clock.elapsed() - self._begun >= seconds

    def _read_run(self, facts: RunFacts) -> None:
        """Read the values of a run, and count them."""
        tally = self.tally
        reading = RunReading(tally, tally.read, self._looker)
        reading.take_id(facts.run)
        size, is_cut = 0, False
        try:
            for number, item in enumerate(self._reader.items(facts.run), 1):
                if self._has_enough(number, size):
                    is_cut = True
                    break
                reading.take(item)
                size += item.size
                if number % _OFTEN == 0:
                    self._around.told(tally, self._planned)
        except (DecodeError, IntegrityError, NotFoundError) as error:
            add(tally.failed, error.code)
        reading.end()
        tally.read += 1
        tally.cut += is_cut
        tally.read_bytes += min(size, facts.size) if is_cut else facts.size
        tally.read_checkpoints += facts.checkpoints
        self._around.told(tally, self._planned)

    def _has_enough(self, number: int, size: int) -> bool:
        if self._most is not None and size >= self._most:
            return True
        return number % _OFTEN == 0 and self._is_late()


def _after(runs: Iterator[RunFacts], done: str | None) -> Iterator[RunFacts]:
    """Give the runs after one that was the last to be read; all of them for None.

    Raises:
        UsageError: ``audit.resume-gone``: it is not there any more.
    """
    if done is not None and not any(facts.run == done for facts in runs):
        raise UsageError(
            "the run that was read last is gone: it cannot be said where to go on",
            code="audit.resume-gone",
            hint="Take the file of --resume away, and begin anew.",
        )
    yield from runs
