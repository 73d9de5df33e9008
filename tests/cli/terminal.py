"""Run the command line, in this process or in one of its own, and hold its JSON to its schema."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema

from keepset.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
FEW_SECONDS = 60


@dataclass(frozen=True)
class Said:
    """What a command line gave: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    def result(self, command: str) -> Any:
        """The result of a command with ``--json``; its document fits its schema."""
        document = json.loads(self.out)
        _fits(document, command)
        return document["result"]

    def error(self) -> Any:
        """The error of a command with ``--json``: the last line of stderr, and no result."""
        assert self.out == ""
        document = json.loads(self.err.splitlines()[-1])
        _fits(document, "error")
        return document["error"]


def _fits(document: Any, schema: str) -> None:
    described = json.loads((SCHEMAS / f"{schema}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(described)
    jsonschema.validate(document, described)


def say(*arguments: str | Path) -> Said:
    """Run a command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run([str(argument) for argument in arguments])
    return Said(code, out.getvalue(), err.getvalue())


def start(
    *arguments: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Said:
    """Run a command line in a process of its own, as a shell does."""
    done = subprocess.run(
        [sys.executable, "-m", "keepset.cli", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=FEW_SECONDS,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def on_a_terminal(*arguments: str | Path, columns: int = 80, **environment: str) -> str:
    """What a command writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "keepset.cli", *map(str, arguments)],
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), **environment},
    )
    os.close(theirs)
    chunks = []
    try:
        while chunk := os.read(ours, 4096):
            chunks.append(chunk)
    except OSError:  # how Linux says that the other end of a terminal is closed
        pass
    os.close(ours)
    process.wait()
    return b"".join(chunks).decode()
