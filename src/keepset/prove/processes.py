"""Carry out a search in worker processes, several trials at a time."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from keepset.errors import KeepsetError, StoreError, UsageError
from keepset.prove.flow import Search
from keepset.prove.lives import Experiment
from keepset.prove.trials import Outcome, Trial
from keepset.prove.worker import Order, end_group

T = TypeVar("T")

Told = Callable[[int, int], None]
"""Is told how many trials are done, and how many were asked for until now."""

_HASHES: Final = "PYTHONHASHSEED"
_PATIENCE: Final = 10.0
"""Seconds that a worker has to end by itself once its parent has hung up."""


@dataclass(frozen=True, slots=True)
class Pickled:
    """An order as bytes, read by the worker once it looks for modules where its parent does."""

    data: bytes

    def load(self) -> Order:
        """Read the order."""
        order: Order = pickle.loads(self.data)  # noqa: S301 - our own process wrote it
        return order


class Workers:
    """Worker processes that carry out trials, each in a process and a folder of its own."""

    def __init__(self, connections: Sequence[Connection[Any, Any]]) -> None:
        """Take connections to workers that are ready."""
        self._all = tuple(connections)
        self._free: SimpleQueue[Connection[Any, Any]] = SimpleQueue()
        for one in connections:
            self._free.put(one)
        self._threads = ThreadPoolExecutor(len(connections))
        self._done = 0
        self._asked = 0

    def carry_out(self, search: Search[T], told: Told | None = None) -> T:
        """Carry a search through.

        Args:
            search: Asks for trials.
            told: Is told of the progress.

        Raises:
            UsageError: ``prove.world`` where what makes, changes or observes the world fails.
            StoreError: ``prove.worker`` where a worker has died, ``prove.trial`` where a trial
                fails outside of the workflow.
        """
        try:
            batch = next(search)
            while True:
                self._asked += len(batch)
                batch = search.send(self._batch(batch, told))
        except StopIteration as end:
            result: T = end.value
            return result

    def _batch(self, trials: Sequence[Trial], told: Told | None) -> list[Outcome]:
        outcomes = []
        for outcome in self._threads.map(self._one, trials):
            outcomes.append(outcome)
            self._done += 1
            if told is not None:
                told(self._done, self._asked)
        return outcomes

    def _one(self, trial: Trial) -> Outcome:
        worker = self._free.get()
        child: int | None = None
        try:
            worker.send(trial)
            answer = worker.recv()
            while isinstance(answer, int):
                child = answer  # the process that carries it out
                answer = worker.recv()
        except (EOFError, OSError) as error:
            if child is not None:
                end_group(child)
            raise _died() from error
        finally:
            self._free.put(worker)
        if isinstance(answer, KeepsetError):
            raise answer
        outcome: Outcome = answer
        return outcome

    def close(self) -> None:
        """Hang up, so that the workers end their trials, and let the threads end."""
        for worker in self._all:
            _hang_up(worker)
        self._threads.shutdown(cancel_futures=True)


def _hang_up(worker: Connection[Any, Any]) -> None:
    """End what is said both ways, also for a thread that waits for an answer."""
    with suppress(OSError), socket.socket(fileno=os.dup(worker.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def _died() -> StoreError:
    return StoreError(
        "a process that carries out trials has died",
        code="prove.worker",
        hint="Look at the memory of this machine, or use fewer at a time: --jobs 1.",
    )


@contextmanager
def workers(
    make: Callable[[], Experiment],
    *,
    jobs: int = 0,
    crash: bool = False,
    timeout: float = 60.0,
    quiet: bool = True,
) -> Iterator[Workers]:
    """Start workers, and end them at the end.

    Args:
        make: Makes the experiment in each of them; has to be picklable.
        jobs: How many work at a time; 0 for as many as there are processors.
        crash: Whether the first life of each trial ends by SIGKILL, and another process resumes.
        timeout: Seconds after which a trial is given up.
        quiet: Whether what the workflow prints is thrown away.

    Raises:
        KeepsetError: What `make` raises there.
        UsageError: ``prove.elsewhere`` where another process cannot make the experiment.
        StoreError: ``prove.worker`` where a worker has died.
    """
    with ExitStack() as ends:
        temporary = tempfile.TemporaryDirectory(prefix="keepset-prove-", ignore_cleanup_errors=True)
        folder = Path(ends.enter_context(temporary))
        orders = [
            Order(make, folder / str(n), crash, timeout) for n in range(jobs or _processors())
        ]
        started = [_start(_pickled(order), ends, quiet=quiet) for order in orders]
        for one in started:
            _await(one)
        found = Workers(started)
        ends.callback(found.close)
        yield found


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pickled(order: Order) -> Pickled:
    try:
        return Pickled(pickle.dumps(order))
    except Exception as error:  # pickle raises whatever a user's class does
        raise UsageError(
            f"what is to be proven cannot be handed to another process: {type(error).__name__}",
            code="prove.elsewhere",
            hint="Let its input be made of classes of a module's top level, or name it: "
            "MODULE:NAME.",
        ) from error


def _start(order: Pickled, ends: ExitStack, *, quiet: bool) -> Connection[Any, Any]:
    ours, theirs = Pipe()
    command = [sys.executable, "-m", "keepset.prove.worker", str(theirs.fileno())]
    # A group of its own: an interrupt at the terminal is for us, and we end the workers.
    process = subprocess.Popen(  # noqa: S603 - our own module
        command,
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        process_group=0,
        env={**os.environ, **_one_order()},
    )
    theirs.close()
    ends.callback(_end, process, ours)
    ours.send((list(sys.path), quiet, order))
    return ours


def _one_order() -> dict[str, str]:
    """Give the variable by which sets of texts are in one order in all workers.

    Else what is made of a set would look like a change.
    """
    said = os.environ.get(_HASHES, "")
    return {_HASHES: said if said.isdigit() else "0"}


def _end(process: subprocess.Popen[bytes], line: Connection[Any, Any]) -> None:
    """Wait until a worker has ended its trial and taken away its folder."""
    _hang_up(line)
    line.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        pass  # it is stuck
    finally:
        process.kill()
        process.wait()


def _await(worker: Connection[Any, Any]) -> None:
    """Wait until a worker has made its experiment."""
    try:
        problem: KeepsetError | None = worker.recv()
    except (EOFError, OSError) as error:
        raise _died() from error
    if problem is not None:
        raise problem
