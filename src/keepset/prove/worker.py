"""A worker process: imports a workflow once, and forks a fresh process for each trial.

``python -m keepset.prove.worker FD`` speaks with its parent through one connection: first it is
sent where to look for modules and how to make the experiment, then trials, and answers each with
an outcome.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, Final

from keepset.errors import KeepsetError, StoreError, UsageError
from keepset.prove.crash import Crash, end, ended, only_here
from keepset.prove.lives import Experiment, carry_out
from keepset.prove.place import enter
from keepset.prove.trials import Failure, Outcome, Trial
from keepset.prove.warm import warm_up
from keepset.store import open_store

_TIMEOUT: Final = Failure("timeout")
_ONCE_MORE: Final = (Failure(signal.SIGKILL.name), _TIMEOUT)


@dataclass(frozen=True)
class Order:
    """What a worker is told at its beginning.

    Attributes:
        make: Makes the experiment; can be pickled.
        folder: Where trials have their folders; the worker takes it away at its end.
        crash: Whether the first life of a trial ends by SIGKILL.
        timeout: Seconds after which a trial is given up.
    """

    make: Callable[[], Experiment]
    folder: Path
    crash: bool
    timeout: float


def main(descriptor: int) -> None:
    """Answer a parent until it hangs up, whatever ends it."""
    parent: Connection[Any, Any] = Connection(descriptor)
    path, quiet, sent = parent.recv()
    sys.path[:] = path
    if quiet:
        _silence()
    try:
        order: Order = sent.load()
        experiment = order.make()
        warm_up()
    except KeepsetError as error:
        parent.send(error)
        return
    except Exception as error:  # noqa: BLE001 - what a user's class does when it is made
        parent.send(_unmade(error))
        return
    try:
        parent.send(None)
        while True:
            trial = parent.recv()
            answer = _supervised(order, experiment, trial, parent)
            if isinstance(answer, Outcome) and answer.failure in _ONCE_MORE:
                # Most likely not by the workflow but for want of memory, or of processors.
                answer = _supervised(order, experiment, trial, parent)
            parent.send(answer)
    except (EOFError, OSError):
        return
    finally:
        shutil.rmtree(order.folder, ignore_errors=True)
        with suppress(OSError):  # another worker still has its folder there
            order.folder.parent.rmdir()


def _unmade(error: Exception) -> UsageError:
    return UsageError(
        f"another process cannot make what is to be proven: {type(error).__name__}",
        code="prove.elsewhere",
        hint="Let its input be made of classes of a module's top level, or name it: MODULE:NAME.",
    )


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)


def _supervised(
    order: Order, experiment: Experiment, trial: Trial, parent: Connection[Any, Any]
) -> Outcome | KeepsetError:
    """Carry a trial out in a process of its own, in an empty folder, for a limited time.

    Raises:
        EOFError: The parent has hung up; nothing of the trial is left.
    """
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        os.setsid()
        ours.close()
        parent.close()  # or nobody would notice the end of this worker while the trial lives
        end(lambda: only_here(theirs.send)(_answer(order, experiment, trial)))
    theirs.close()
    answer: Outcome | KeepsetError | None = None
    try:
        parent.send(child)
        ready = wait([ours, parent], order.timeout)
        if parent in ready:
            raise EOFError
        if not ready:
            return Outcome(failure=_TIMEOUT)
        with suppress(EOFError):
            answer = ours.recv()
    finally:
        ours.close()
        status = _reap(child)
    return answer or Outcome(failure=Failure(ended(status)))


def _reap(child: int) -> int:
    """End a trial's process and all that it has begun; give how it ended."""
    end_group(child)
    return os.waitpid(child, 0)[1]


def end_group(child: int) -> None:
    """Kill a process and its group; one that is ending by itself does so as it would."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        with suppress(ProcessLookupError):  # it has no group of its own yet, or is gone
            os.kill(child, signal.SIGKILL)
    except PermissionError:
        os.kill(child, signal.SIGKILL)


def _answer(order: Order, experiment: Experiment, trial: Trial) -> Outcome | KeepsetError:
    try:
        return _trial(order, experiment, trial)
    except KeepsetError as error:
        return error
    except Exception as error:  # noqa: BLE001 - it must not pass for what the workflow does
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return StoreError(
            f"a trial failed outside of the workflow with {type(error).__name__} "
            f"at {Path(frame.filename).name}:{frame.lineno}",
            code="prove.trial",
            hint="Look at the room for temporary files; else it is a bug in keepset.",
        )


def _trial(order: Order, experiment: Experiment, trial: Trial) -> Outcome:
    enter(order.folder)
    os.environ.pop("KEEPSET_MODE", None)  # it is the workflow that is tried, not the mode
    if not order.crash or trial.point is None:
        with open_store("memory:") as store:
            return carry_out(experiment, trial, store)
    return Crash(experiment, trial, f"sqlite:///{order.folder / 'runs.db'}").carry_out()


if __name__ == "__main__":
    main(int(sys.argv[1]))
