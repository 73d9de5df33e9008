"""A trial with a real crash: one process is killed with SIGKILL, another one resumes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Pipe
from typing import Final, NoReturn

from keepset.errors import KeepsetError
from keepset.prove.leaving import Secrets
from keepset.prove.lives import Experiment, Lived, first_life, make_world, outcome_of, second_life
from keepset.prove.pins import pinned
from keepset.prove.trials import Failure, Outcome, Trial
from keepset.store import Store, open_store

Tell = Callable[[object], None]
"""Hands something from a life's process to the one that waits for it."""

_SECRETS: Final[Secrets] = "withhold"
"""The store is a file: what a secret is to a run that resumes is that it is not there."""


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
        make_world(self.experiment, self.trial)
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
            lived = first_life(self.experiment, self.trial, store, halt, _SECRETS)
            tell(outcome_of(self.experiment, [lived], store, self._began))

    def _second(self, first: Lived, tell: Tell) -> None:
        with pinned(self.trial.pins, 1):
            store = self._store()
            last = second_life(self.experiment, self.trial, store, first, _SECRETS)
            tell(outcome_of(self.experiment, [first, last], store, self._began))

    def _store(self) -> Store:
        return open_store(self.url, durability="normal")


def _in_a_process(life: Callable[[Tell], None]) -> Lived | Outcome:
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        end(lambda: _told(life, only_here(theirs.send)))
    theirs.close()
    told: Lived | Outcome | KeepsetError | None = None
    try:
        with suppress(EOFError):
            told = ours.recv()
    finally:
        ours.close()
        _, status = os.waitpid(child, 0)
    if isinstance(told, KeepsetError):
        raise told
    return told or Outcome(failure=Failure(ended(status)))


def _told(life: Callable[[Tell], None], tell: Tell) -> None:
    try:
        life(tell)
    except KeepsetError as error:
        tell(error)


def only_here(tell: Tell) -> Tell:
    """Let nobody tell but the process that this is called in: a step may fork others."""
    process = os.getpid()

    def told(what: object) -> None:
        if os.getpid() == process:
            tell(what)

    return told


def ended(status: int) -> str:
    """Say how a process ended that never answered: by which signal, or by itself."""
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else "exit"


def end(work: Callable[[], object]) -> NoReturn:
    """Do the work of a forked process and end it, without what its parent would do at exit."""
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)
