"""What was measured, in bytes and nanoseconds, as it stands in the JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from keepset.cli.bench.cases import Case, Crowd, Fleet, Opening, Run

Answer = Mapping[str, Any]
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Life:
    """One system over one history; times are medians over the rounds.

    Attributes:
        system: Name of the system.
        workload: Name of the history.
        steps: Its length.
        durability: ``full`` or ``normal``.
        rounds: How often it was measured.
        save: Median of all saves of a round, nanoseconds.
        save_p99: 99th percentile of them.
        save_first: Median of the first tenth of the saves.
        save_last: Median of the last tenth.
        empty_bytes: An empty store.
        disk_bytes: The file after its log is cut, without VACUUM, less an empty store.
        written_bytes: Bytes that went to the disk; None where nobody counts them.
        written_by: Who counted.
        open: Opening the store, nanoseconds.
        load: Reading the newest checkpoint with the store just opened, file cache warm.
        load_middle: Reading the one in the middle.
        load_earlier: Reading the slowest of five earlier ones.
        exact: Whether what was loaded is what was saved.
    """

    system: str
    workload: str
    steps: int
    durability: str
    rounds: int
    save: float
    save_p99: float
    save_first: float
    save_last: float
    empty_bytes: int
    disk_bytes: int
    written_bytes: int | None
    written_by: str | None
    open: float
    load: float
    load_middle: float
    load_earlier: float
    exact: bool


@dataclass(frozen=True)
class Floor:
    """What a history holds.

    Attributes:
        workload: Name of the history.
        steps: Its length.
        changed_bytes: All that changed, packed one by one.
        floor_bytes: All of it in one piece, as ``xz -9e`` packs it.
    """

    workload: str
    steps: int
    changed_bytes: int
    floor_bytes: int


@dataclass(frozen=True)
class Throng:
    """Many threads or processes that saved to one file.

    Attributes:
        part: ``threads`` or ``processes``.
        system: Name of the system.
        many: How many there were.
        seconds: How long a round lasted.
        rounds: How often it was measured.
        steps_per_second: Saves of all of them together.
        save: Median of a save, nanoseconds.
        save_p99: 99th percentile; of the slowest process, where there are several.
        save_most: The slowest save.
        evenness: Saves of the slowest to those of the fastest.
        refused: Reason -> how many saves were refused for it.
    """

    part: str
    system: str
    many: int
    seconds: float
    rounds: int
    steps_per_second: float
    save: float | None
    save_p99: float | None
    save_most: float | None
    evenness: float
    refused: Mapping[str, int]


@dataclass(frozen=True)
class Opened:
    """Many processes that opened new stores at once.

    Attributes:
        system: Name of the system.
        many: How many there were.
        rounds: How many stores.
        failures: How many of the stores were refused to at least one process.
        refused: Reason -> how often.
    """

    system: str
    many: int
    rounds: int
    failures: int
    refused: Mapping[str, int]


@dataclass(frozen=True)
class Walk:
    """A graph that adds one message a step, with one saver; times are medians over the rounds.

    Attributes:
        system: Name of the saver.
        steps: How many steps the graph has.
        rounds: How often it was measured.
        step: Median of the whole graph's steps, nanoseconds, saved with ``durability="sync"``.
        step_last: The same of the last tenth of the steps.
        replay: Median step of the saver alone, called as the graph called it, one call after the
            other; None where it was not measured, as for the others below.
        disk_bytes: The file after its log is cut, without VACUUM, less an empty store.
        resume: Reading the newest checkpoint with all messages.
        history: Reading the history of 200 checkpoints.
        exact: Whether the graph ended with the messages that it was given.
    """

    system: str
    steps: int
    rounds: int
    step: float
    step_last: float
    replay: float | None
    disk_bytes: int | None
    resume: float | None
    history: float | None
    exact: bool


@dataclass(frozen=True)
class Refetched:
    """A graph with 1 MB of documents under a Refetch rule.

    Attributes:
        rounds: How often it was measured.
        resume: From the call that resumes it to its next node, nanoseconds.
        loading: What of that its loader takes.
        found: Excerpts of the documents that were found in the file, of which nothing is packed.
        exact: Whether what has to be in the file was, and the node had the documents.
    """

    rounds: int
    resume: float
    loading: float
    found: int
    exact: bool


@dataclass(frozen=True)
class Fleets:
    """Many short LangGraph threads in one file; medians over the rounds.

    Attributes:
        system: Name of the saver.
        threads: How many there are.
        steps: How many steps each has.
        rounds: How often it was measured.
        disk_bytes: The file after its log is cut, without VACUUM, less an empty store.
        took: Median of a whole thread, nanoseconds.
        exact: Whether every thread ended with its messages.
    """

    system: str
    threads: int
    steps: int
    rounds: int
    disk_bytes: int
    took: float
    exact: bool


@dataclass(frozen=True)
class Audited:
    """A file of another saver that `keepset audit` read whole; times are medians over the rounds.

    Attributes:
        rounds: How often it was read.
        bytes: Bytes of the file.
        runs: Runs in it.
        values: Values that were read.
        took: Nanoseconds from the start of the command to its end.
        peak_bytes: The most memory that the command had.
        complete: Whether everything was read.
    """

    rounds: int
    bytes: int
    runs: int
    values: int
    took: float
    peak_bytes: int
    complete: bool


@dataclass
class Figures:
    """All that was measured so far."""

    lives: list[Life] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    throngs: list[Throng] = field(default_factory=list)
    openings: list[Opened] = field(default_factory=list)
    walks: list[Walk] = field(default_factory=list)
    documents: list[Refetched] = field(default_factory=list)
    audits: list[Audited] = field(default_factory=list)
    fleets: list[Fleets] = field(default_factory=list)

    def fleet(self, system: str, steps: int) -> Fleets | None:
        """Find one saver's figures over threads of so many steps."""
        return next((x for x in self.fleets if (x.system, x.steps) == (system, steps)), None)

    def walk(self, system: str, steps: int) -> Walk | None:
        """Find one saver's figures in the graph of so many steps."""
        found = (x for x in self.walks if (x.system, x.steps) == (system, steps))
        return next(found, None)

    def life(self, system: str, workload: str, steps: int, durability: str = "full") -> Life | None:
        """Find one system's figures over one history."""
        wanted = (system, workload, steps, durability)
        return next(
            (x for x in self.lives if (x.system, x.workload, x.steps, x.durability) == wanted),
            None,
        )

    def longest(self, system: str, workload: str) -> Life | None:
        """Find one system's figures over the longest history of a name."""
        found = [x for x in self.lives if (x.system, x.workload) == (system, workload)]
        return max(found, key=lambda life: life.steps, default=None)

    def floor(self, workload: str, steps: int) -> int | None:
        """Find the fewest bytes of a history."""
        found = (x for x in self.floors if (x.workload, x.steps) == (workload, steps))
        return next((x.floor_bytes for x in found), None)

    def crowd(self, part: str, system: str) -> Throng | None:
        """Find one system's figures among threads or processes."""
        return next((x for x in self.throngs if (x.part, x.system) == (part, system)), None)

    def opening(self, system: str) -> Opened | None:
        """Find how a system's stores were opened."""
        return next((x for x in self.openings if x.system == system), None)


def as_life(case: Case, rounds: Sequence[Answer]) -> Life:
    """Put the rounds of one case together."""
    times = ("save", "save_p99", "save_first", "save_last")
    loads = ("open", "load", "load_middle", "load_earlier")
    written = [one["written_bytes"] for one in rounds]
    return Life(
        system=case.system,
        workload=case.workload,
        steps=case.steps,
        durability=case.durability,
        rounds=len(rounds),
        **{name: _median(rounds, name) for name in (*times, *loads)},
        empty_bytes=int(_median(rounds, "empty_bytes")),
        disk_bytes=int(_median(rounds, "disk_bytes")),
        written_bytes=None if None in written else int(median(written)),
        written_by=rounds[0]["written_by"],
        exact=all(one["exact"] for one in rounds),
    )


def _median(rounds: Sequence[Answer], name: str) -> float:
    return float(median(one[name] for one in rounds))


def as_walk(run: Run, rounds: Sequence[Answer]) -> Walk:
    """Put the rounds of one graph together."""
    names = ("replay", "disk_bytes", "resume", "history")
    known = {name: [one[name] for one in rounds if one[name] is not None] for name in names}
    told = {name: median(values) if values else None for name, values in known.items()}
    size = told.pop("disk_bytes")
    return Walk(
        system=run.system,
        steps=run.steps,
        rounds=len(rounds),
        step=_median(rounds, "step"),
        step_last=_median(rounds, "step_last"),
        disk_bytes=None if size is None else int(size),
        exact=all(one["exact"] for one in rounds),
        **told,
    )


def as_refetched(rounds: Sequence[Answer]) -> Refetched:
    """Put the rounds of a graph with documents together."""
    return Refetched(
        rounds=len(rounds),
        resume=_median(rounds, "resume"),
        loading=_median(rounds, "loading"),
        found=max(one["found"] for one in rounds),
        exact=all(one["exact"] for one in rounds),
    )


def as_fleets(fleet: Fleet, rounds: Sequence[Answer]) -> Fleets:
    """Put the rounds of one fleet together."""
    return Fleets(
        system=fleet.system,
        threads=fleet.threads,
        steps=fleet.steps,
        rounds=len(rounds),
        disk_bytes=int(_median(rounds, "disk_bytes")),
        took=_median(rounds, "took"),
        exact=all(one["exact"] for one in rounds),
    )


def as_audited(rounds: Sequence[Answer]) -> Audited:
    """Put the rounds of one file together."""
    return Audited(
        rounds=len(rounds),
        **{name: rounds[0][name] for name in ("bytes", "runs", "values")},
        took=_median(rounds, "took"),
        peak_bytes=max(one["peak_bytes"] for one in rounds),
        complete=all(one["complete"] for one in rounds),
    )


def as_throng(crowd: Crowd, rounds: Sequence[Sequence[Answer]]) -> Throng:
    """Put the rounds of many together; each round has an answer of each process."""
    return Throng(
        part=crowd.part,
        system=crowd.system,
        many=crowd.many,
        seconds=crowd.seconds,
        rounds=len(rounds),
        steps_per_second=median(_speed(answers) for answers in rounds),
        save=_of_each(rounds, "save", median),
        save_p99=_of_each(rounds, "save_p99", max),
        save_most=_of_each(rounds, "save_most", max),
        evenness=median(_evenness(answers) for answers in rounds),
        refused=_sum([one["refused"] for answers in rounds for one in answers]),
    )


def _speed(answers: Sequence[Answer]) -> float:
    return float(sum(sum(one["by_thread"]) * _SECOND / one["took"] for one in answers))


def _evenness(answers: Sequence[Answer]) -> float:
    counts: list[int] = [count for one in answers for count in one["by_thread"]]
    return min(counts) / max(1, *counts)


def _of_each(
    rounds: Sequence[Sequence[Answer]], name: str, choose: Callable[[list[float]], float]
) -> float | None:
    told = [[one[name] for one in answers if one[name] is not None] for answers in rounds]
    chosen = [choose(each) for each in told if each]
    return median(chosen) if chosen else None


def as_opened(opening: Opening, rounds: Sequence[Sequence[Answer]]) -> Opened:
    """Put the rounds of opening together."""
    refused = [[x["refused"] for x in answers if x["refused"]] for answers in rounds]
    return Opened(
        system=opening.system,
        many=opening.many,
        rounds=len(rounds),
        failures=sum(bool(each) for each in refused),
        refused=_sum([{reason: 1} for each in refused for reason in each]),
    )


def _sum(counted: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counted:
        for reason, count in one.items():
            total[reason] = total.get(reason, 0) + count
    return total
