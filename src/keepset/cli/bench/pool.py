"""The processes that measure, as the one sees them that asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Self, cast

from keepset.cli.bench.jobs import Answer, Job
from keepset.errors import StoreError

PATIENCE = 300.0
"""Seconds after which a job is given up."""
_QUIET = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
"""No state that is measured is sent to anyone's service."""
_OURS = "KEEPSET_"
"""What the surroundings tell keepset is left out: its defaults are measured."""


class Worker:
    """One process that measures. Use it in a `with` block, which ends it."""

    def __init__(self, folder: str) -> None:
        """Start the process.

        Args:
            folder: Its current folder, in which libraries may leave files.
        """
        self._complaints = tempfile.TemporaryFile("w+", dir=folder)  # noqa: SIM115 - closed in __exit__
        surroundings = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "keepset.cli.bench.worker"],
            cwd=folder,
            env={**surroundings, **_QUIET, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def ask(self, job: Job) -> None:
        """Hand over a job; `answer` waits for it.

        Raises:
            StoreError: The process has ended.
        """
        jobs = cast("IO[str]", self._process.stdin)
        try:
            jobs.write(json.dumps(dict(job)) + "\n")
            jobs.flush()
        except BrokenPipeError as error:
            raise self._gone() from error

    def answer(self) -> Answer:
        """Wait for the answer to the job that was handed over.

        Raises:
            StoreError: The process ended, or took too long and was ended.
        """
        answers = cast("IO[str]", self._process.stdout)
        guard = threading.Timer(PATIENCE, self._process.kill)
        guard.start()
        try:
            line = answers.readline()
        finally:
            guard.cancel()
        if not line:
            raise self._gone()
        answer: Answer = json.loads(line)
        return answer

    def do(self, job: Job) -> Answer:
        """Hand over a job and wait for its answer.

        Raises:
            StoreError: The process ended.
        """
        self.ask(job)
        return self.answer()

    def _gone(self) -> StoreError:
        code = self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().strip().splitlines()
        last = lines[-1] if lines else "it said nothing"
        return StoreError(
            f"a process that measures ended with {code}: {last}",
            code="bench.process",
            hint="Run `keepset doctor` to see whether something on this machine is in the way.",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()
        self._complaints.close()


def all_at_once(workers: Sequence[Worker], jobs: Sequence[Job]) -> list[Answer]:
    """Hand each worker its job, then wait for all.

    Raises:
        StoreError: One of them ended.
    """
    for worker, job in zip(workers, jobs, strict=True):
        worker.ask(job)
    return [worker.answer() for worker in workers]
