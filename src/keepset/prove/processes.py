"""Carry out a search in worker processes, several trials at a time."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from keepset.errors import KeepsetError, StoreError
from keepset.prove.flow import Search
from keepset.prove.lives import Experiment
from keepset.prove.trials import Outcome, Trial
from keepset.prove.worker import Order

T = TypeVar("T")

Told = Callable[[int, int], None]
"""Is told how many trials are done, and how many were asked for until now."""


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
            StoreError: ``prove.worker`` where a worker has died.
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
        try:
            worker.send(trial)
            outcome: Outcome = worker.recv()
        except (EOFError, OSError) as error:
            raise _died() from error
        finally:
            self._free.put(worker)
        return outcome

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(cancel_futures=True)


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
        StoreError: ``prove.worker`` where a worker has died.
    """
    count = jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else jobs or 1
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="keepset-prove-")))
        started = []
        for number in range(count):
            order = Order(tuple(sys.path), make, folder / str(number), crash, timeout, quiet)
            started.append(_start(order, ends))
        for one in started:
            _await(one)
        found = Workers(started)
        ends.callback(found.close)
        yield found


def _start(order: Order, ends: ExitStack) -> Connection[Any, Any]:
    ours, theirs = Pipe()
    command = [sys.executable, "-m", "keepset.prove.worker", str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)  # noqa: S603 - our own module
    theirs.close()
    ends.callback(process.wait)
    ends.callback(process.kill)
    ends.callback(ours.close)
    ours.send((order.path, Pickled(pickle.dumps(order))))
    return ours


def _await(worker: Connection[Any, Any]) -> None:
    """Wait until a worker has made its experiment."""
    try:
        problem: KeepsetError | None = worker.recv()
    except (EOFError, OSError) as error:
        raise _died() from error
    if problem is not None:
        raise problem
