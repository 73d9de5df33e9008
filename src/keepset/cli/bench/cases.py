"""What is measured at which level, in the order in which it is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Level = Literal["quick", "default", "full"]

PARTS = (
    *("lean", "naive", "drafts", "rare", "trim", "graph", "short", "threads", "processes"),
    *("opening", "audit"),
)
"""What can be measured alone."""


@dataclass(frozen=True)
class Case:
    """One system that lives through one history.

    Attributes:
        part: The part of the whole that it belongs to.
        system: Its name.
        workload: The history's name.
        steps: The history's length.
        durability: ``full`` or ``normal``.
        rounds: How often it is measured, each time in a new file; the median counts.
    """

    part: str
    system: str
    workload: str
    steps: int
    durability: str = "full"
    rounds: int = 1


@dataclass(frozen=True)
class Crowd:
    """Many threads or processes at one file.

    Attributes:
        part: ``threads`` or ``processes``.
        system: Its name.
        many: How many there are.
        seconds: How long a round lasts.
        rounds: How often it is measured, each time in a new file.
    """

    part: str
    system: str
    many: int
    seconds: float
    rounds: int = 1


@dataclass(frozen=True)
class Opening:
    """Many processes that open one new store at once.

    Attributes:
        part: ``opening``.
        system: Its name.
        many: How many there are.
        rounds: How many new stores they open.
    """

    part: str
    system: str
    many: int
    rounds: int


@dataclass(frozen=True)
class Run:
    """A LangGraph graph that adds one message a step, with one saver.

    Attributes:
        system: Name of the saver.
        steps: How many steps the graph has.
        rounds: How often it is measured, each time in a new file; the median counts.
    """

    system: str
    steps: int
    rounds: int = 1


@dataclass(frozen=True)
class Fleet:
    """Many LangGraph threads of a few steps each, in one file.

    Attributes:
        system: Name of the saver.
        threads: How many there are.
        steps: How many steps each has.
        rounds: How often it is measured, each time in a new file; the median counts.
    """

    system: str
    threads: int
    steps: int
    rounds: int = 1


@dataclass(frozen=True)
class Reading:
    """A file of another saver that `keepset audit` reads whole.

    Attributes:
        bytes: Bytes of checkpoints in it.
        rounds: How often it is read; the median counts.
    """

    bytes: int
    rounds: int = 1


@dataclass(frozen=True)
class Programme:
    """All that is measured.

    Attributes:
        lives: Groups of cases over one history, measured in turns.
        crowds: Threads, then processes.
        openings: Stores opened by many at once.
        graphs: Groups of graphs of one length, measured in turns.
        documents: How often a graph with documents that are fetched again is measured.
        readings: Files that are audited.
        fleets: Groups of short threads, measured in turns.
    """

    lives: tuple[tuple[Case, ...], ...]
    crowds: tuple[Crowd, ...]
    openings: tuple[Opening, ...]
    graphs: tuple[tuple[Run, ...], ...] = ()
    documents: int = 0
    readings: tuple[Reading, ...] = ()
    fleets: tuple[tuple[Fleet, ...], ...] = ()

    def only(self, parts: tuple[str, ...]) -> Programme:
        """Give the part of it that is asked for; everything where nothing is."""
        if not parts:
            return self
        return Programme(
            tuple(group for group in self.lives if group[0].part in parts),
            tuple(crowd for crowd in self.crowds if crowd.part in parts),
            tuple(opening for opening in self.openings if opening.part in parts),
            self.graphs if "graph" in parts else (),
            self.documents if "graph" in parts else 0,
            self.readings if "audit" in parts else (),
            self.fleets if "short" in parts else (),
        )

    def systems(self) -> list[str]:
        """Give the systems that it measures, each once."""
        names = [case.system for group in self.lives for case in group]
        names += [run.system for group in self.graphs for run in group]
        names += [fleet.system for group in self.fleets for fleet in group]
        names += ["graph"] if self.documents else []
        names += [crowd.system for crowd in self.crowds]
        names += [opening.system for opening in self.openings]
        names += ["audit"] if self.readings else []
        return list(dict.fromkeys(names))


MANY = 8
_PEERS = ("saver", "delta", "dbos")


def programme(level: Level) -> Programme:
    """Say what is measured at a level."""
    return Programme(
        lives=tuple(_lives(level)),
        crowds=tuple(_crowds(level)),
        openings=tuple(
            Opening("opening", system, MANY, {"quick": 3, "default": 10, "full": 30}[level])
            for system in (("keepset",) if level == "quick" else ("keepset", "saver"))
        ),
        graphs=tuple(_graphs(level)),
        documents=_seldom(level, 1, 3, 5),
        readings=(Reading(_seldom(level, 10**8, 10**9, 10**9), _seldom(level, 1, 1, 3)),),
        fleets=tuple(_fleets(level)),
    )


def _fleets(level: Level) -> Iterator[tuple[Fleet, ...]]:
    """A turn of a chat, and an agent with a few calls of its tools."""
    threads, rounds = {"quick": (30, 1), "default": (100, 1), "full": (200, 3)}[level]
    for steps in (3, 8):
        yield tuple(Fleet(name, threads, steps, rounds) for name in ("graph", "delta", "saver"))


def _graphs(level: Level) -> Iterator[tuple[Run, ...]]:
    """The savers in turns; SqliteSaver writes 600 MB over 1,000 steps."""
    rounds = _seldom(level, 1, 3, 5)
    yield tuple(Run(name, 200, rounds) for name in ("none", "graph", "delta", "saver", "memory"))
    if level != "quick":
        often = _seldom(level, 0, 2, 5)
        few = _seldom(level, 0, 1, 3)
        names = {"none": often, "graph": often, "delta": often, "saver": few, "memory": often}
        yield tuple(Run(name, 1_000, count) for name, count in names.items())


def _lives(level: Level) -> Iterator[tuple[Case, ...]]:
    ours = _seldom(level, 2, 5, 5)
    theirs = _seldom(level, 1, 3, 5)
    yield _both("lean", 200, ours, theirs)
    yield _both("lean", 1_000, _seldom(level, 1, 5, 5), _seldom(level, 0, 1, 5))
    if level != "quick":
        yield _group("naive", 200, _seldom(level, 0, 3, 5), _seldom(level, 0, 1, 3))
    if level == "full":
        yield _group("naive", 1_000, 3, 1)
    yield _group("drafts", 50 if level == "quick" else 200, ours, _seldom(level, 0, 1, 3))
    yield _rare(2_000 if level == "quick" else 20_000, _seldom(level, 1, 1, 3))
    yield _group("trim", 200, ours, _seldom(level, 0, 1, 3))


def _seldom(level: Level, quick: int, default: int, full: int) -> int:
    return {"quick": quick, "default": default, "full": full}[level]


def _group(workload: str, steps: int, ours: int, theirs: int) -> tuple[Case, ...]:
    """Ours and the raw INSERTs, which are quick, and the other savers."""
    own = [Case(workload, name, workload, steps, rounds=ours) for name in ("raw", "keepset")]
    peers = [Case(workload, name, workload, steps, rounds=theirs) for name in _PEERS if theirs]
    return (*own, *peers)


def _both(workload: str, steps: int, ours: int, theirs: int) -> tuple[Case, ...]:
    """The same at both durabilities, and with the messages declared as append-only."""
    raw, own, *peers = _group(workload, steps, ours, theirs)
    declared = replace(own, workload="append_only")
    quick = [replace(case, durability="normal") for case in (raw, own, declared)]
    return (raw, own, declared, *quick, *peers)


def _rare(steps: int, rounds: int) -> tuple[Case, ...]:
    """So many steps are done without waiting for the disk; what counts is the load."""
    return tuple(Case("rare", name, "rare", steps, "normal", rounds) for name in ("raw", "keepset"))


def _crowds(level: Level) -> Iterator[Crowd]:
    seconds, rounds = {"quick": (1.0, 1), "default": (2.0, 3), "full": (4.0, 5)}[level]
    names = ("keepset", "saver") if level == "quick" else ("raw", "keepset", "saver")
    for name in names:
        yield Crowd("threads", name, MANY, seconds, rounds)
    long = {"quick": 1.5, "default": 4.0, "full": 10.0}[level]
    for name in names if level != "quick" else ("keepset",):
        yield Crowd("processes", name, MANY, long)
