"""What `keepset doctor` looks at: each examination gives a line with what to do about it."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from keepset.verdict.sentences import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepset.backends.port import Settings, StoredFile

PYTHON = (3, 11)
SQLITE = (3, 37, 0)
MODES = ("strict", "protect", "observe")
LARGE_WAL = 64_000_000
"""Bytes from which a write-ahead log is worth a word."""
LITTLE_ROOM = 200_000_000
"""Free bytes on a disk below which a store may soon be refused a write."""
NO_ROOM = 20_000_000
PRIVATE = 0o077
"""Permission bits of people other than the owner."""


@dataclass(frozen=True)
class Line:
    """One thing that was looked at.

    Attributes:
        name: What it is.
        state: ``ok``, ``warn`` (look at it) or ``fail`` (put it right).
        value: What was found.
        fix: What to do; empty where it is fine.
    """

    name: str
    state: Literal["ok", "warn", "fail"]
    value: str
    fix: str = ""


def surroundings() -> Iterator[Line]:
    """Look at this process and this machine."""
    yield Line("keepset", "ok", version("keepset"))
    python = platform.python_version()
    fine = sys.version_info[:2] >= PYTHON
    yield Line("Python", "ok" if fine else "fail", python, "" if fine else "Use 3.11 or newer.")
    new = sqlite3.sqlite_version_info >= SQLITE
    fix = "" if new else "Use a Python that is built with SQLite 3.37 or newer."
    yield Line("SQLite library", "ok" if new else "fail", sqlite3.sqlite_version, fix)
    yield _mode(os.environ.get("KEEPSET_MODE", ""))


def _mode(mode: str) -> Line:
    if mode and mode not in MODES:
        return Line("KEEPSET_MODE", "fail", mode, f"Use one of {', '.join(MODES)}.")
    if mode == "observe":
        fix = "Secrets are stored in this mode; unset it once you have seen what there is."
        return Line("KEEPSET_MODE", "warn", mode, fix)
    return Line("KEEPSET_MODE", "ok", mode or "not set (protect)")


def store(settings: Settings) -> Iterator[Line]:
    """Look at an open store."""
    yield Line("store", "ok", f"{settings.location} ({settings.engine} {settings.version})")
    yield Line("format", "ok", str(settings.format))
    for setting in settings.settings:
        fix = "" if setting.good else f"It should be {setting.wanted}: {setting.protects}."
        yield Line(setting.name, "ok" if setting.good else "fail", setting.value, fix)
    for file in settings.files:
        yield from _file(file)
    if settings.free_disk is not None:
        yield _room(settings.free_disk, sum(file.size for file in settings.files))


def _file(file: StoredFile) -> Iterator[Line]:
    name = Path(file.path).name
    if file.mode & PRIVATE:
        fix = f"Others may read it: chmod 600 {file.path}"
        yield Line(f"permissions of {name}", "fail", f"{file.mode & 0o777:04o}", fix)
    else:
        yield Line(f"permissions of {name}", "ok", f"{file.mode & 0o777:04o}")
    if name.endswith("-wal"):
        large = file.size > LARGE_WAL
        fix = "A reader that never ends keeps it from shrinking; look for one and end it."
        yield Line("write-ahead log", "warn" if large else "ok", size(file.size), fix * large)


def _room(free: int, taken: int) -> Line:
    fix = "Make room: a save needs it, and a rewrite needs as much as the store takes."
    if free < NO_ROOM:
        return Line("free space", "fail", size(free), fix)
    tight = free < LITTLE_ROOM + taken
    return Line("free space", "warn" if tight else "ok", size(free), fix * tight)
