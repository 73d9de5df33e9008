"""Carry out a search in this process: for what other processes cannot import, and to debug."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from keepset.prove.flow import Search
from keepset.prove.lives import Experiment, carry_out
from keepset.prove.place import entered
from keepset.prove.processes import Told
from keepset.prove.trials import Outcome, Trial
from keepset.store import open_store

T = TypeVar("T")


class Here:
    """Carries out trials one after the other, each in a folder of its own."""

    def __init__(self, experiment: Experiment) -> None:
        """Take what is proven."""
        self._experiment = experiment
        self._done = 0

    def carry_out(self, search: Search[T], told: Told | None = None) -> T:
        """See `keepset.prove.processes.Workers.carry_out`."""
        try:
            batch = next(search)
            while True:
                asked = self._done + len(batch)
                outcomes = []
                for trial in batch:
                    outcomes.append(self._one(trial))
                    self._done += 1
                    if told is not None:
                        told(self._done, asked)
                batch = search.send(outcomes)
        except StopIteration as end:
            result: T = end.value
            return result

    def _one(self, trial: Trial) -> Outcome:
        with entered(), _without_a_mode(), open_store("memory:") as store:
            return carry_out(_afresh(self._experiment), trial, store)


def _afresh(experiment: Experiment) -> Experiment:
    """Give a trial what comes from outside as a copy: a step may change it in place."""
    try:
        return replace(experiment, script=copy.deepcopy(experiment.script))
    except Exception:  # noqa: BLE001 - whatever a user's class does; a lock cannot be copied
        return experiment


@contextmanager
def _without_a_mode() -> Iterator[None]:
    """Let no operator's switch decide: it is the workflow that is tried, not the mode."""
    mode = os.environ.pop("KEEPSET_MODE", None)
    try:
        yield
    finally:
        if mode is not None:
            os.environ["KEEPSET_MODE"] = mode
