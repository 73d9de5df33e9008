"""Runs a programme: one process for each system, the systems in turns, a new file each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from keepset.cli.bench import sizes
from keepset.cli.bench.cases import Case, Crowd, Fleet, Opening, Programme, Reading, Run
from keepset.cli.bench.jobs import Answer, Job, remove
from keepset.cli.bench.pool import Worker, all_at_once
from keepset.cli.bench.results import (
    Figures,
    Floor,
    as_audited,
    as_fleets,
    as_life,
    as_opened,
    as_refetched,
    as_throng,
    as_walk,
)
from keepset.cli.bench.system import OURS, SYSTEMS
from keepset.cli.bench.workload import history
from keepset.errors import StoreError

Say = Callable[[str], None]


@dataclass
class Measurement:
    """A programme while it runs, and what came of it.

    Args:
        folder: Where files are made; on the disk that is meant to be measured.
        say: Tells a person what is being done.
    """

    folder: Path
    say: Say
    figures: Figures = field(default_factory=Figures)
    skipped: dict[str, str] = field(default_factory=dict)
    _workers: dict[str, Worker] = field(default_factory=dict)
    _teams: dict[str, list[Worker]] = field(default_factory=dict)
    _ended: ExitStack = field(default_factory=ExitStack)
    _files: int = 0

    def run(self, plan: Programme) -> Figures:
        """Measure everything that can be measured here.

        Raises:
            StoreError: ``bench.process`` where a process that measures keepset itself ended.
        """
        for name in plan.systems():
            if SYSTEMS[name].version() is None:
                packages = " ".join(SYSTEMS[name].packages)
                self._skip(name, f"not installed: pip install {packages}")
        self._one_by_one(plan)
        with ExitStack() as self._ended:
            for crowd in plan.crowds:
                if crowd.system not in self.skipped:
                    self._crowd(crowd)
            for opening in plan.openings:
                if opening.system not in self.skipped:
                    self._open(opening)
        for reading in plan.readings:
            if "audit" not in self.skipped:
                self._audit(reading)
        return self.figures

    def _one_by_one(self, plan: Programme) -> None:
        """Measure what one process does at a time; each system has one."""
        with ExitStack() as ended:
            for name in plan.systems():
                if name not in self.skipped:
                    self._workers[name] = ended.enter_context(Worker(str(self.folder)))
            for group in plan.lives:
                self._live(group)
            for runs in plan.graphs:
                self._graph(runs)
            for fleets in plan.fleets:
                self._fleet(fleets)
            if plan.documents and "graph" not in self.skipped:
                self._documents(plan.documents)

    def _skip(self, name: str, why: str) -> None:
        self.skipped[name] = why
        self.say(f"{SYSTEMS[name].title} is left out: {why}")

    def _live(self, group: Sequence[Case]) -> None:
        workload, steps = group[0].workload, group[0].steps
        self.say(f"{workload}, {steps} steps: what the history holds")
        self.figures.floors.append(Floor(workload, steps, *sizes.floor(history(workload, steps))))
        answers: dict[Case, list[Answer]] = {case: [] for case in group}
        for turn in range(max(case.rounds for case in group)):
            for case in group:
                if turn < case.rounds and case.system not in self.skipped:
                    what = f"{case.workload}, {steps} steps, {case.durability}"
                    self.say(f"{what}: {SYSTEMS[case.system].title}, {turn + 1}/{case.rounds}")
                    answers[case] += self._ask(case)
        self.figures.lives += [as_life(case, told) for case, told in answers.items() if told]

    def _ask(self, case: Case) -> list[Answer]:
        """Measure one round."""
        path = self._new_file()
        job = {
            "job": "live",
            "system": case.system,
            "workload": case.workload,
            "steps": case.steps,
            "durability": case.durability,
            "path": str(path),
        }
        answers = []
        with self._unless_it_ends(case.system):
            answers.append(self._workers[case.system].do(job))
        remove(path)
        return answers

    def _graph(self, group: Sequence[Run]) -> None:
        answers: dict[Run, list[Answer]] = {run: [] for run in group}
        for turn in range(max(run.rounds for run in group)):
            for run in group:
                if turn < run.rounds and run.system not in self.skipped:
                    title = SYSTEMS[run.system].title
                    self.say(f"graph, {run.steps} steps: {title}, {turn + 1}/{run.rounds}")
                    answers[run] += self._walk(run)
        self.figures.walks += [as_walk(run, told) for run, told in answers.items() if told]

    def _walk(self, run: Run) -> list[Answer]:
        """Measure one round of a graph."""
        path, again = self._new_file(), self._new_file()
        job = {"job": "graph", "system": run.system, "steps": run.steps}
        answers = []
        with self._unless_it_ends(run.system):
            worker = self._workers[run.system]
            answers.append(worker.do({**job, "path": str(path), "again": str(again)}))
        remove(path)
        remove(again)
        return answers

    def _fleet(self, group: Sequence[Fleet]) -> None:
        answers: dict[Fleet, list[Answer]] = {fleet: [] for fleet in group}
        for turn in range(max(fleet.rounds for fleet in group)):
            for fleet in group:
                if turn >= fleet.rounds or fleet.system in self.skipped:
                    continue
                what = f"{fleet.threads} threads of {fleet.steps} steps"
                self.say(f"{what}: {SYSTEMS[fleet.system].title}, {turn + 1}/{fleet.rounds}")
                path = self._new_file()
                job = {"job": "fleet", "system": fleet.system, "path": str(path)}
                with self._unless_it_ends(fleet.system):
                    worker = self._workers[fleet.system]
                    told = worker.do({**job, "steps": fleet.steps, "threads": fleet.threads})
                    answers[fleet].append(told)
                remove(path)
        self.figures.fleets += [as_fleets(fleet, told) for fleet, told in answers.items() if told]

    def _documents(self, rounds: int) -> None:
        answers = []
        for turn in range(rounds):
            self.say(f"graph, documents that are fetched again, {turn + 1}/{rounds}")
            path = self._new_file()
            answers.append(self._workers["graph"].do({"job": "documents", "path": str(path)}))
            remove(path)
        self.figures.documents.append(as_refetched(answers))

    @contextmanager
    def _unless_it_ends(self, system: str) -> Iterator[None]:
        """Leave a peer out from then on whose process ends; one of ours ends all."""
        try:
            yield
        except StoreError as error:
            if system in OURS:
                raise
            self._skip(system, error.message)

    def _crowd(self, crowd: Crowd) -> None:
        processes = crowd.many if crowd.part == "processes" else 1
        rounds: list[list[Answer]] = []
        with self._unless_it_ends(crowd.system):
            workers = self._team(crowd.system, processes)
            for turn in range(crowd.rounds):
                title = SYSTEMS[crowd.system].title
                self.say(f"{crowd.many} {crowd.part}: {title}, {turn + 1}/{crowd.rounds}")
                path = self._new_file()
                workers[0].do({"job": "open", "system": crowd.system, "path": str(path)})
                jobs = [_hammer(crowd, path, number) for number in range(processes)]
                rounds.append(all_at_once(workers, jobs))
                remove(path)
        if rounds:
            self.figures.throngs.append(as_throng(crowd, rounds))

    def _open(self, opening: Opening) -> None:
        title = SYSTEMS[opening.system].title
        self.say(f"{opening.many} processes open {opening.rounds} new stores: {title}")
        rounds: list[list[Answer]] = []
        with self._unless_it_ends(opening.system):
            workers = self._team(opening.system, opening.many)
            for _ in range(opening.rounds):
                path = self._new_file()
                job = {"job": "open", "system": opening.system, "path": str(path)}
                rounds.append(all_at_once(workers, [job] * opening.many))
                remove(path)
        if rounds:
            self.figures.openings.append(as_opened(opening, rounds))

    def _audit(self, reading: Reading) -> None:
        path, answers = self._new_file(), []
        self.say(f"audit: a file of {reading.bytes / 10**6:,.0f} MB is filled")
        with Worker(str(self.folder)) as worker:
            worker.do({"job": "fill", "path": str(path), "bytes": reading.bytes})
        for turn in range(reading.rounds):
            self.say(f"audit: keepset audit, {turn + 1}/{reading.rounds}")
            with Worker(str(self.folder)) as worker:  # a new one, which has no memory yet
                answers.append(worker.do({"job": "audit", "path": str(path)}))
        remove(path)
        self.figures.audits.append(as_audited(answers))

    def _team(self, system: str, many: int) -> list[Worker]:
        """Give processes that have imported what they need; those that wait do no work."""
        team = self._teams.setdefault(system, [])
        fresh = [
            self._ended.enter_context(Worker(str(self.folder))) for _ in range(many - len(team))
        ]
        all_at_once(fresh, [{"job": "ready", "system": system}] * len(fresh))
        team += fresh
        return team[:many]

    def _new_file(self) -> Path:
        self._files += 1
        return self.folder / f"{self._files}.db"


def _hammer(crowd: Crowd, path: Path, number: int) -> Job:
    threads = crowd.many if crowd.part == "threads" else 1
    return {
        "job": "hammer",
        "system": crowd.system,
        "path": str(path),
        "seconds": crowd.seconds,
        "threads": threads,
        "prefix": f"run-{number}",
    }
