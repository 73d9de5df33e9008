"""DBOS on SQLite: a workflow whose steps return what they change, which DBOS records.

A state is what the recorded changes make of the start; DBOS itself keeps none. It has no setting
for durability, and no way to ask for the state after a step: an earlier one is made of the first
so many changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Any, ClassVar

from dbos import DBOS, DBOSConfig, SetWorkflowID

from keepset.cli.bench.system import Loaded, Written
from keepset.cli.bench.workload import Change, History

RUN = "run"
_USUAL = 1.0
"""Seconds between two looks of DBOS for messages: its default."""
_SOON = 0.05
"""The same where nothing is saved: DBOS ends only after the next look."""


class _Course:
    """What the workflow runs over; DBOS wants plain functions, known before it is launched."""

    start: ClassVar[Change] = {}
    changes: ClassVar[tuple[Change, ...]] = ()
    nanoseconds: ClassVar[tuple[int, ...]] = ()


def _begin() -> dict[str, Any]:
    return dict(_Course.start)


def _change(number: int) -> dict[str, Any]:
    return dict(_Course.changes[number])


_begin_step = DBOS.step(name="begin")(_begin)
_change_step = DBOS.step(name="change")(_change)


def _run() -> int:
    _begin_step()
    took = []
    for number in range(len(_Course.changes)):
        begun = perf_counter_ns()
        _change_step(number)
        took.append(perf_counter_ns() - begun)
    _Course.nanoseconds = tuple(took)
    return len(took)


_workflow = DBOS.workflow(name="run")(_run)


class Measured:
    """Saves by running the workflow, and loads what it recorded."""

    refusals = ()

    def create(self, path: Path) -> None:
        """See `System.create`."""
        with _launched(path):
            pass

    def write(self, path: Path, history: History, durability: str) -> Written:
        """See `System.write`."""
        del durability
        _Course.start, _Course.changes = history.start, history.changes
        with _launched(path, poll=_USUAL), SetWorkflowID(RUN):
            steps = _workflow()
        return Written(list(_Course.nanoseconds), list(range(1, steps + 1)))

    def load(self, path: Path, history: History, mark: Any | None) -> Loaded:
        """See `System.load`."""
        begun = perf_counter_ns()
        with _launched(path):
            opened = perf_counter_ns()
            recorded: list[Any] = [step["output"] for step in DBOS.list_workflow_steps(RUN)]
            state, *changes = recorded
            for change in changes[:mark]:
                history.apply(state, change)
            return Loaded(opened - begun, perf_counter_ns() - opened, state)


@contextmanager
def _launched(path: Path, poll: float = _SOON) -> Iterator[None]:
    DBOS(
        config=DBOSConfig(
            name="bench",
            system_database_url=f"sqlite:///{path}",
            console_log_level="ERROR",
            notification_listener_polling_interval_sec=poll,
        )
    )
    DBOS.launch()
    try:
        yield
    finally:
        DBOS.destroy()
