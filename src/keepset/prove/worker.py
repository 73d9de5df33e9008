"""A worker process: imports a workflow once, and forks a fresh process for each trial.

``python -m keepset.prove.worker FD`` speaks with its parent through one connection: first it is
sent where to look for modules and how to make the experiment, then trials, and answers each with
an outcome.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from keepset.errors import KeepsetError
from keepset.prove.crash import Crash, end
from keepset.prove.lives import Experiment, carry_out
from keepset.prove.place import enter
from keepset.prove.trials import Failure, Outcome, Trial
from keepset.prove.warm import warm_up
from keepset.store import open_store


@dataclass(frozen=True)
class Order:
    """What a worker is told at its beginning.

    Attributes:
        path: Where modules are looked for.
        make: Makes the experiment; can be pickled.
        folder: Where trials have their folders.
        crash: Whether the first life of a trial ends by SIGKILL.
        timeout: Seconds after which a trial is given up.
        quiet: Whether what the workflow prints is thrown away.
    """

    path: tuple[str, ...]
    make: Callable[[], Experiment]
    folder: Path
    crash: bool
    timeout: float
    quiet: bool


def main(descriptor: int) -> None:
    """Answer a parent until it hangs up."""
    parent: Connection[Any, Any] = Connection(descriptor)
    path, sent = parent.recv()
    sys.path[:] = path
    try:
        order: Order = sent.load()
        experiment = order.make()
        warm_up()
    except KeepsetError as error:
        parent.send(error)
        return
    parent.send(None)
    if order.quiet:
        _silence()
    try:
        while True:
            parent.send(_supervised(order, experiment, parent.recv()))
    except (EOFError, BrokenPipeError):
        return


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)


def _supervised(order: Order, experiment: Experiment, trial: Trial) -> Outcome:
    """Carry a trial out in a process of its own, in an empty folder, for a limited time."""
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        os.setsid()
        ours.close()
        end(lambda: theirs.send(_trial(order, experiment, trial)))
    theirs.close()
    try:
        if not ours.poll(order.timeout):
            return Outcome(failure=Failure("timeout"))
        outcome: Outcome = ours.recv()
    except EOFError:
        return Outcome(failure=Failure("exit"))
    else:
        return outcome
    finally:
        ours.close()
        _reap(child)


def _reap(child: int) -> None:
    """End a trial's process and all that it has begun."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended before it had a group of its own
    except PermissionError:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _trial(order: Order, experiment: Experiment, trial: Trial) -> Outcome:
    enter(order.folder)
    os.environ.pop("KEEPSET_MODE", None)  # it is the workflow that is tried, not the mode
    if not order.crash or trial.point is None:
        with open_store("memory:") as store:
            return carry_out(experiment, trial, store)
    return Crash(experiment, trial, f"sqlite:///{order.folder / 'runs.db'}").carry_out()


if __name__ == "__main__":
    main(int(sys.argv[1]))
