"""The measurements, each done in the process that it is asked of; see `keepset.cli.bench.worker`.

A job is a mapping that says ``job`` and its arguments; its answer is plain data, in nanoseconds
and bytes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any, cast

from keepset.cli.bench import sizes
from keepset.cli.bench.system import Concurrent, Loaded, System, Written, system
from keepset.cli.bench.workload import History, history
from keepset.errors import KeepsetError

Job = Mapping[str, Any]
Answer = dict[str, Any]

LOADS = 3
"""How often a checkpoint is read in a round; the median counts."""
RUN_LENGTH = 50
"""Steps of each run that many threads and processes save side by side."""
TENTH = 10
_SECOND = 1_000_000_000


def perform(job: Job) -> Answer:
    """Do one job."""
    return JOBS[job["job"]](job)


def ready(job: Job) -> Answer:
    """Import the system and make a history, so that no later job waits for it."""
    system(job["system"])
    history("lean", RUN_LENGTH)
    return {"ready": True}


def live(job: Job) -> Answer:
    """Save one history from its beginning to its end, look at the file, and load from it."""
    measured = system(job["system"])
    path = Path(job["path"])
    told = history(job["workload"], job["steps"])
    measured.create(path)
    empty = sizes.settle(path)
    before = sizes.written()
    saved = measured.write(path, told, job["durability"])
    full = sizes.settle(path)
    after = sizes.written()
    return {
        **_times(saved.nanoseconds),
        "empty_bytes": empty,
        "disk_bytes": full - empty,
        "written_bytes": after[0] - before[0] if before and after else None,
        "written_by": after[1] if after else None,
        **_loads(measured, path, told, saved),
    }


def _times(nanoseconds: list[int]) -> Answer:
    tenth = max(1, len(nanoseconds) // TENTH)
    return {
        "save": median(nanoseconds),
        "save_p99": percentile(nanoseconds, 0.99),
        "save_first": median(nanoseconds[:tenth]),
        "save_last": median(nanoseconds[-tenth:]),
    }


def _loads(measured: System, path: Path, told: History, saved: Written) -> Answer:
    steps = len(told.changes)
    middle = max(1, steps // 2)
    earlier = {1, max(1, steps // 4), middle, max(1, 3 * steps // 4), max(1, steps - 1)}
    newest = [measured.load(path, told, None) for _ in range(LOADS)]
    at = {
        step: [measured.load(path, told, saved.marks[step - 1]) for _ in range(LOADS)]
        for step in sorted(earlier)
    }
    return {
        "open": median(loaded.opening for loaded in newest),
        "load": _median(newest),
        "load_middle": _median(at[middle]),
        "load_earlier": max(_median(loaded) for loaded in at.values()),
        "exact": newest[0].state == told.after(steps) and at[middle][0].state == told.after(middle),
    }


def _median(loaded: list[Loaded]) -> float:
    return median(one.loading for one in loaded)


def hammer(job: Job) -> Answer:
    """Save from several threads for some seconds, each thread one run after the other."""
    measured = cast("Concurrent", system(job["system"]))
    told = history("lean", RUN_LENGTH)
    hands = [_Hand(f"{job['prefix']}-{n}", told, measured.refusals) for n in range(job["threads"])]
    with measured.open(Path(job["path"])) as begin:
        threads = [
            threading.Thread(target=hand.work, args=(begin, job["seconds"])) for hand in hands
        ]
        begun = perf_counter_ns()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = perf_counter_ns() - begun
    nanoseconds = [one for hand in hands for one in hand.nanoseconds]
    refused: Counter[str] = sum((hand.refused for hand in hands), Counter())
    return {
        "took": took,
        "by_thread": [len(hand.nanoseconds) for hand in hands],
        "save": median(nanoseconds) if nanoseconds else None,
        "save_p99": percentile(nanoseconds, 0.99) if nanoseconds else None,
        "save_most": max(nanoseconds, default=None),
        "refused": dict(refused),
    }


class _Hand:
    """One thread's work."""

    def __init__(self, name: str, told: History, refusals: tuple[type[Exception], ...]) -> None:
        self.nanoseconds: list[int] = []
        self.refused: Counter[str] = Counter()
        self._name = name
        self._told = told
        self._refusals = refusals

    def work(self, begin: Callable[[str], Any], seconds: float) -> None:
        until = perf_counter_ns() + int(seconds * _SECOND)
        number = 0
        while perf_counter_ns() < until:
            number += 1
            try:
                self._run(begin(f"{self._name}-{number}"), until)
            except self._refusals as error:
                self.refused[reason(error)] += 1

    def _run(self, save: Callable[..., None], until: int) -> None:
        state = self._told.begin()
        for change in self._told.changes:
            self._told.apply(state, change)
            begun = perf_counter_ns()
            if begun >= until:
                return
            save(state, change)
            self.nanoseconds.append(perf_counter_ns() - begun)


def open_new(job: Job) -> Answer:
    """Open a store that may be new, while others do the same."""
    measured = system(job["system"])
    try:
        measured.create(Path(job["path"]))
    except measured.refusals as error:
        return {"refused": reason(error)}
    return {"refused": None}


def reason(error: Exception) -> str:
    """Say what an error is without its text, which may hold a path or a value."""
    if isinstance(error, KeepsetError):
        return error.code
    if isinstance(error, sqlite3.Error):
        return str(getattr(error, "sqlite_errorname", type(error).__name__))
    return type(error).__name__


def percentile(numbers: list[int], share: float) -> int:
    """Give the smallest number that so large a share of them does not exceed."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def remove(path: Path) -> None:
    """Remove a store's files."""
    for file in path.parent.glob(f"{path.name}*"):
        with suppress(FileNotFoundError):
            file.unlink()


def of_a_graph(job: Job) -> Answer:
    """Measure a graph and its saver, or one with documents; see `keepset.cli.bench.systems`."""
    module = import_module("keepset.cli.bench.systems.graph_run")
    measured: Answer = getattr(module, job["job"])(job)
    return measured


def of_an_audit(job: Job) -> Answer:
    """Fill a file for an audit, or audit it; see `keepset.cli.bench.systems.audit_store`."""
    module = import_module("keepset.cli.bench.systems.audit_store")
    measured: Answer = getattr(module, job["job"])(job)
    return measured


def of_a_fleet(job: Job) -> Answer:
    """Measure many short threads; see `keepset.cli.bench.systems.graph_fleet`."""
    module = import_module("keepset.cli.bench.systems.graph_fleet")
    measured: Answer = module.fleet(job)
    return measured


JOBS: dict[str, Callable[[Job], Answer]] = {
    "graph": of_a_graph,
    "documents": of_a_graph,
    "fleet": of_a_fleet,
    "fill": of_an_audit,
    "audit": of_an_audit,
    "ready": ready,
    "live": live,
    "hammer": hammer,
    "open": open_new,
}
