"""A trial with a real crash: one process is killed with SIGKILL, another one resumes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Pipe
from typing import NoReturn

from keepset.prove.lives import Experiment, Lived, first_life, outcome_of, second_life
from keepset.prove.pins import pinned
from keepset.prove.trials import Failure, Outcome, Trial
from keepset.store import Store, open_store

Tell = Callable[[object], None]
"""Hands something from a life's process to the one that waits for it."""


@dataclass(frozen=True)
class Crash:
    """One such trial.

    Attributes:
        experiment: What is proven.
        trial: What is tried; it has a point.
        url: A store that is not there yet.
    """

    experiment: Experiment
    trial: Trial
    url: str
    _began: float = field(default_factory=time.monotonic)

    def carry_out(self) -> Outcome:
        """Make the world, and let both processes live in it, one after the other.

        Both are forked from this one, so that neither has anything in memory but what was
        imported, and what the making of the world has set, such as a variable of the environment.
        """
        if self.experiment.world is not None:
            with pinned(self.trial.pins, 0):
                self.experiment.world()
        first = _in_a_process(self._first)
        if isinstance(first, Lived):
            last = _in_a_process(lambda tell: self._second(first, tell))
            return last if isinstance(last, Outcome) else Outcome(failure=Failure("exit"))
        return first

    def _first(self, tell: Tell) -> None:
        def halt(lived: Lived) -> None:
            tell(lived)
            os.kill(os.getpid(), signal.SIGKILL)

        with pinned(self.trial.pins, 0):
            store = self._store()
            lived = first_life(self.experiment, self.trial, store, halt)
            tell(outcome_of(self.experiment, [lived], store, self._began))

    def _second(self, first: Lived, tell: Tell) -> None:
        with pinned(self.trial.pins, 1):
            store = self._store()
            last = second_life(self.experiment, self.trial, store, first)
            tell(outcome_of(self.experiment, [first, last], store, self._began))

    def _store(self) -> Store:
        return open_store(self.url, durability="normal")


def _in_a_process(life: Callable[[Tell], None]) -> Lived | Outcome:
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        end(lambda: life(theirs.send))
    theirs.close()
    try:
        told: Lived | Outcome = ours.recv()
    except EOFError:
        return Outcome(failure=Failure("exit"))
    else:
        return told
    finally:
        ours.close()
        os.waitpid(child, 0)


def end(work: Callable[[], object]) -> NoReturn:
    """Do the work of a forked process and end it, without what its parent would do at exit."""
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)
