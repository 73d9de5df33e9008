"""What tests of leases share: another process, another thread, and who is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import keepset as ks
from keepset.errors import ConflictError
from keepset.plan.leases import Lease
from tests.run.states import Chat

ROOT = Path(__file__).parents[2]
PATIENCE = 60


@contextmanager
def process(url: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has saved a run ``r`` and is in the middle of its work on it."""
    command = [sys.executable, "-m", "tests.run.leasing", url, "r", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()
            child.communicate()


def said(child: subprocess.Popen[str], word: str = "") -> str:
    """Say a word to a process, and hear what it says."""
    assert child.stdin is not None
    assert child.stdout is not None
    if word:
        child.stdin.write(f"{word}\n")
        child.stdin.flush()
    return child.stdout.readline().strip()


def refusal(work: Callable[[], object]) -> ConflictError:
    with pytest.raises(ConflictError) as caught:
        work()
    return caught.value


def lease(store: ks.Store) -> Lease | None:
    return store.runs()[0].run.lease


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def elsewhere(work: Callable[[], object]) -> object:
    """Do something in another thread, and give what came of it."""
    outcome: list[object] = []

    def tried() -> None:
        try:
            outcome.append(work())
        except ConflictError as error:
            outcome.append(error.code)

    thread = threading.Thread(target=tried)
    thread.start()
    thread.join()
    return outcome[0]


def save_elsewhere(store: ks.Store) -> object:
    return elsewhere(lambda: store.run(Chat, "r").save("other", {"count": 0}).step)
