"""The bars that keepset is held to, each a figure of this run beside its limit.

A bar is about ratios within one run wherever that can be, since machines differ; a figure that
this run did not measure leaves its bar open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from keepset.cli.bench.results import Figures, Life

FLAT = 1.25
"""How much more a step may cost in a history five times as long, to count as flat."""
LINEAR = 1.1
"""How many more bytes a later step may take than one of the first 200, to count as linear."""
_MICRO = 1_000
_MILLI = 1_000_000
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Bar:
    """One limit.

    Attributes:
        name: What is limited.
        unit: Of both figures.
        measured: What this run measured; None where it did not.
        limit: The most, or the least, that is allowed.
        is_most: Whether it is the most.
        is_judged: False for a figure of time that a busy machine gave: where a raw INSERT waits for
            the processor, everything looks quick beside it.
    """

    name: str
    unit: str
    measured: float | None
    limit: float
    is_most: bool = True
    is_judged: bool = True

    @property
    def met(self) -> bool | None:
        """Whether it is kept; None where that cannot be said."""
        if self.measured is None or not self.is_judged:
            return None
        return self.measured <= self.limit if self.is_most else self.measured >= self.limit


def bars(figures: Figures, *, busy: bool = False) -> list[Bar]:
    """Fence the figures of a run to every bar.

    Args:
        figures: What was measured.
        busy: Whether others used the machine, so that figures of time mean little.
    """
    timed = [*_saves(figures), *_loads(figures), *_speeds(figures), *_graph_times(figures)]
    timed += _audit_times(figures)
    timed = [replace(bar, is_judged=not busy) for bar in timed]
    return [
        *_bytes(figures),
        *_graph_bytes(figures),
        *timed,
        *_refusals(figures),
        *_audits(figures),
    ]


def _bytes(figures: Figures) -> Iterator[Bar]:
    for steps, limit in ((200, 2.5), (1_000, 2.1)):
        ours = figures.life("keepset", "lean", steps)
        floor = figures.floor("lean", steps)
        share = _over(ours and ours.disk_bytes, floor)
        yield Bar(f"file, lean {steps}", "x of xz -9e", share, limit)
    yield Bar("file, lean: a later step's bytes", "x of an early one's", _growth(figures), LINEAR)
    empty = _of(figures.lives, "empty_bytes")
    yield Bar("empty store", "KB", _over(empty, 1024), 128)
    for steps in (200, 1_000):
        raw = figures.life("raw", "lean", steps)
        ours = figures.life("keepset", "lean", steps)
        share = _over(ours and ours.written_bytes, raw and raw.written_bytes)
        yield Bar(f"written to the disk, lean {steps}", "x of raw INSERTs", share, 2.5)


def _growth(figures: Figures) -> float | None:
    short, long = (figures.life("keepset", "lean", steps) for steps in (200, 1_000))
    if short is None or long is None:
        return None
    later = (long.disk_bytes - short.disk_bytes) / (long.steps - short.steps)
    return _over(later, short.disk_bytes / short.steps)


def _of(lives: Sequence[Life], name: str) -> float | None:
    return next((getattr(life, name) for life in lives if life.system == "keepset"), None)


def _saves(figures: Figures) -> Iterator[Bar]:
    for workload, limits in (
        ("lean", ((200, 1.8), (1_000, 3.0))),
        ("append_only", ((200, 1.4), (1_000, 1.4))),
    ):
        for steps, limit in limits:
            ours, raw = figures.life("keepset", workload, steps), figures.life("raw", "lean", steps)
            share = _over(ours and ours.save, raw and raw.save)
            yield Bar(f"save at full, {workload} {steps}", "x of a raw INSERT", share, limit)
    yield Bar(
        "save at full, append_only: 1000 to 200 steps",
        "x",
        _slope(figures, "append_only", "full"),
        FLAT,
    )
    for steps in (200, 1_000):
        ours = figures.life("keepset", "lean", steps, "normal")
        yield Bar(f"save at normal, lean {steps}", "us", _over(ours and ours.save, _MICRO), 250)
    yield Bar(
        "save at normal, lean: 1000 to 200 steps", "x", _slope(figures, "lean", "normal"), FLAT
    )


def _slope(figures: Figures, workload: str, durability: str) -> float | None:
    short, long = (figures.life("keepset", workload, steps, durability) for steps in (200, 1_000))
    return _over(long and long.save, short and short.save)


def _loads(figures: Figures) -> Iterator[Bar]:
    wanted: list[tuple[str, int | None, float]] = [
        ("lean", 200, 4),
        ("lean", 1_000, 12),
        ("drafts", None, 5),
        ("rare", None, 5),
    ]
    for workload, steps, limit in wanted:
        ours = (
            figures.longest("keepset", workload)
            if steps is None
            else figures.life("keepset", workload, steps)
        )
        what = workload if steps is None else f"{workload} {steps}"
        newest = _over(ours and ours.load, _MILLI)
        earlier = _over(ours and ours.load_earlier, _MILLI)
        yield Bar(f"load the newest, {what}", "ms", newest, limit)
        yield Bar(f"load an earlier one, {what}", "ms", earlier, 2 * limit)


def _speeds(figures: Figures) -> Iterator[Bar]:
    ours, saver = (figures.crowd("threads", name) for name in ("keepset", "saver"))
    share = _over(ours and ours.steps_per_second, saver and saver.steps_per_second)
    slowest = _over(ours and ours.save_p99, _MILLI)
    many = "8 threads of a process"
    yield Bar(f"{many}, steps per second", "x of SqliteSaver", share, 4, is_most=False)
    yield Bar(f"{many}, p99 of a save", "ms", slowest, 5)
    crowd = figures.crowd("processes", "keepset")
    evenness = crowd.evenness if crowd else None
    yield Bar("8 processes, slowest to fastest", "x", evenness, 0.5, is_most=False)


def _refusals(figures: Figures) -> Iterator[Bar]:
    crowd = figures.crowd("processes", "keepset")
    refused = sum(crowd.refused.values()) if crowd else None
    yield Bar("8 processes, saves refused", "", refused, 0)
    opened = figures.opening("keepset")
    failures = opened.failures if opened else None
    yield Bar("8 processes open a new store, refused", "", failures, 0)


def _graph_bytes(figures: Figures) -> Iterator[Bar]:
    peers = (("saver", "SqliteSaver", (100, 600)), ("delta", "DeltaChannel(100)", (8, 12)))
    for system, title, limits in peers:
        for steps, limit in zip((200, 1_000), limits, strict=True):
            ours, theirs = figures.walk("graph", steps), figures.walk(system, steps)
            share = _over(theirs and theirs.disk_bytes, ours and ours.disk_bytes)
            name = f"file, graph {steps}: {title}'s"
            yield Bar(name, "x of ours", share, limit, is_most=False)
    least = {("saver", 3): 3.0, ("delta", 3): 1.5, ("saver", 8): 5.0, ("delta", 8): 2.0}
    for (system, title, _), steps in product(peers, (3, 8)):
        own, other = figures.fleet("graph", steps), figures.fleet(system, steps)
        share = _over(other and other.disk_bytes, own and own.disk_bytes)
        name = f"file, short graphs of {steps} steps: {title}'s"
        yield Bar(name, "x of ours", share, least[system, steps], is_most=False)
    found = figures.documents[0].found if figures.documents else None
    yield Bar("graph, documents under Refetch: excerpts stored", "", found, 0)


def _graph_times(figures: Figures) -> Iterator[Bar]:
    for steps, limit in ((200, 1 / 2), (1_000, 1 / 5)):
        ours, saver, delta = (figures.walk(name, steps) for name in ("graph", "saver", "delta"))
        whole = _over(ours and ours.step, delta and delta.step)
        yield Bar(
            f"graph {steps}: a step of the whole graph", "x of DeltaChannel(100)", whole, 1.25
        )
        alone = _over(ours and ours.replay, saver and saver.replay)
        yield Bar(f"graph {steps}: a step of the saver alone", "x of SqliteSaver", alone, limit)
    ours, memory = (figures.walk(name, 1_000) for name in ("graph", "memory"))
    resume = _over(ours and ours.resume, memory and memory.resume)
    yield Bar("graph 1000: resume", "x of InMemorySaver", resume, 1)
    ours, saver = (figures.walk(name, 200) for name in ("graph", "saver"))
    history = _over(ours and ours.history, saver and saver.history)
    yield Bar("graph 200: the history of 200 checkpoints", "x of SqliteSaver", history, 1)
    fetched = figures.documents[0] if figures.documents else None
    beside = None if fetched is None else (fetched.resume - fetched.loading) / _MILLI
    yield Bar("graph, documents under Refetch: resume beside the loader", "ms", beside, 10)


def _audit_times(figures: Figures) -> Iterator[Bar]:
    found = figures.audits[0] if figures.audits else None
    seconds = None if found is None else found.took / found.bytes  # nanoseconds a byte are s a GB
    yield Bar("audit of a LangGraph file, read whole", "s a GB", seconds, 60)


def _audits(figures: Figures) -> Iterator[Bar]:
    found = figures.audits[0] if figures.audits else None
    peak = None if found is None else found.peak_bytes / _MEGABYTE
    yield Bar("audit of a LangGraph file, memory", "MB", peak, 400)
    left = None if found is None else int(not found.complete)
    yield Bar("audit of a LangGraph file, left unread", "", left, 0)


def _over(above: Any, below: Any) -> float | None:
    """Divide two figures; None where one is missing."""
    return None if above is None or not below else above / below
