"""The parent of the demo: starts the processes, kills them, changes the world, looks at the rest.

Each way of saving is run in a process that is killed with SIGKILL once it has said that it
reached the chosen point, and resumed in a new process. Between the two, the index gets new
documents and the folder of temporary files is emptied, as a restart of a machine or of a
container does.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from keepset.cli.demo import index, state
from keepset.cli.demo.gateway import charges
from keepset.errors import StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MARK = ".keepset-demo"
"""A file that says: this folder is the demo's, it may be emptied."""
PATIENCE = 60
"""Seconds after which a child that has not ended is given up."""


@dataclass
class Life:
    """What one process said before it ended.

    Attributes:
        steps: Names of the steps that it began.
        events: The last event of each kind.
        code: Its exit code; negative for the signal that ended it.
    """

    steps: list[str] = field(default_factory=list)
    events: dict[str, dict[str, Any]] = field(default_factory=dict)
    code: int = 0


@dataclass(frozen=True)
class Story:
    """A run that was killed and resumed.

    Attributes:
        way: ``naive`` or ``contract``.
        killed: The first process.
        resumed: The second one.
        charges: How often the customer was charged, counted in the ledger.
        key: The API key that both processes had in their environment.
    """

    way: str
    killed: Life
    resumed: Life
    charges: int
    key: str

    @property
    def old_workdir(self) -> str:
        """The temporary folder of the process that was killed."""
        return str(self.killed.events["reached"]["workdir"])

    @property
    def workdir(self) -> str:
        """The temporary folder that the resumed process worked with."""
        return str(self.last["workdir"])

    @property
    def last(self) -> dict[str, Any]:
        """The last event of the resumed process."""
        return self.resumed.events.get("done") or self.resumed.events["failed"]


def prepare(folder: Path) -> None:
    """Make an empty folder for the demo.

    Raises:
        UsageError: ``demo.folder`` where the folder holds something that is not the demo's, or
            cannot be made.
    """
    try:
        _prepare(folder)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made or emptied ({error.strerror})",
            code="demo.folder",
            hint="Name a folder that you may write to with --folder.",
        ) from error


def _prepare(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise _not_ours(folder)
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARK).exists():
            raise _not_ours(folder)
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text("Made by `keepset demo`; it empties this folder each time.\n")


def live(folder: Path, way: str, point: str) -> Story:
    """Run one way of saving: start, kill, change the world, resume.

    Args:
        folder: Where everything lies.
        way: ``naive`` or ``contract``.
        point: Where the process is killed; see `keepset.cli.demo.child`.

    Raises:
        StoreError: ``demo.process`` where a process ends as it should not, or there is no room.
    """
    try:
        return _live(folder, way, point)
    except sqlite3.Error as error:
        raise StoreError(
            f"the index of the demo failed ({type(error).__name__})",
            code="demo.process",
            hint="Look at the room and the permissions in the folder of the demo.",
        ) from error


def _live(folder: Path, way: str, point: str) -> Story:
    (folder / "index.db").unlink(missing_ok=True)
    index.create(folder / "index.db")
    key = secrets.token_urlsafe(24)
    killed = _process(folder, way, key, point)
    _restart(folder)
    index.publish_late(folder / "index.db")
    resumed = _process(folder, way, key, "")
    _restart(folder)
    return Story(way, killed, resumed, charges(folder, way), key)


def _process(folder: Path, way: str, key: str, point: str) -> Life:
    """Run one process to its end, or to the point where it is killed."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    surroundings = {
        **os.environ,
        state.FOLDER: str(folder),
        state.API_KEY: key,
        state.ORDER: way,
        "TMPDIR": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with tempfile.TemporaryFile("w+", dir=folder) as complaints:
        process = subprocess.Popen(  # noqa: S603 - our own module, with arguments that we made
            [sys.executable, "-m", "keepset.cli.demo.child", way, point],
            env=surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
        guard = threading.Timer(PATIENCE, process.kill)
        guard.start()
        try:
            life = _listen(process)
        finally:
            guard.cancel()
            process.kill()
            process.communicate()
        life.code = process.returncode
        _check(life, way, complaints, is_to_be_killed=bool(point))
    return life


def _listen(process: subprocess.Popen[str]) -> Life:
    """Read events until the process has reached its point, and then kill it, or until it ends."""
    life = Life()
    for line in process.stdout or ():
        event = json.loads(line)
        life.events[event["event"]] = event
        if event["event"] == "begin":
            life.steps.append(event["step"])
        if event["event"] == "reached":
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    return life


def _check(life: Life, way: str, complaints: IO[str], *, is_to_be_killed: bool) -> None:
    """Make sure that a process ended as it was meant to."""
    if is_to_be_killed and life.code == -signal.SIGKILL:
        return
    if not is_to_be_killed and ("done" in life.events or "failed" in life.events):
        return
    complaints.seek(0)
    last = (complaints.read().strip().splitlines() or ["it said nothing"])[-1]
    raise StoreError(
        f"the {way} process of the demo ended with {life.code}: {last}",
        code="demo.process",
        hint="Run `keepset doctor` to see whether something on this machine is in the way.",
    )


def _restart(folder: Path) -> None:
    """Empty the folder of temporary files, as a restart does."""
    shutil.rmtree(folder / "tmp", ignore_errors=True)


def _not_ours(folder: Path) -> UsageError:
    return UsageError(
        f"{folder} holds something that the demo did not make",
        code="demo.folder",
        hint="Name an empty or a new folder with --folder.",
    )
