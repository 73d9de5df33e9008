"""What `keepset doctor` looks at: each examination gives a line with what to do about it."""

from __future__ import annotations

import os
import platform
import shlex
import sqlite3
import stat
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from keepset.cli.counts import counted
from keepset.providers.keys import KEY_BYTES
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
PRIVATE_FILE = 0o600
"""Permission bits that a file of a store may have at the most."""
WORDS = {
    "synchronous": {"0": "off", "1": "normal", "2": "full", "3": "extra"},
    "secure_delete": {"0": "off", "1": "on", "2": "fast"},
    "foreign_keys": {"0": "off", "1": "on"},
    "temp_store": {"0": "default", "1": "file", "2": "memory"},
    "trusted_schema": {"0": "off", "1": "on"},
}
"""What SQLite's numbers mean, in the words of its documentation and of ours."""
UNITS = {
    "page_size": "bytes",
    "mmap_size": "bytes",
    "journal_size_limit": "bytes",
    "wal_autocheckpoint": "pages",
}


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


def store(settings: Settings, key_file: Path) -> Iterator[Line]:
    """Look at an open store and at the file of its key."""
    yield Line("store", "ok", f"{settings.location} ({settings.engine} {settings.version})")
    yield Line("format", "ok", str(settings.format))
    yield key(key_file)
    for setting in settings.settings:
        wanted = worded(setting.name, setting.wanted)
        fix = "" if setting.good else f"It should be {wanted}: {setting.protects}."
        value = worded(setting.name, setting.value)
        yield Line(setting.name, "ok" if setting.good else "fail", value, fix)
    for file in settings.files:
        yield from _file(file)
    if settings.free_disk is not None:
        yield _room(settings.free_disk, sum(file.size for file in settings.files))


def taken_over_half(number: int) -> Iterator[Line]:
    """Tell of runs that are held under other names while they are taken over."""
    if number:
        fix = (
            "If nothing takes runs over now, a crash has left them. The same import removes them, "
            "and any `keepset import --apply` into this store those that are a day old."
        )
        yield Line("taken over half", "warn", counted(number, "run"), fix)


def worded(setting: str, value: str) -> str:
    """Write a setting's value in words, the raw one beside it: ``full (2)``."""
    if word := WORDS.get(setting, {}).get(value):
        return f"{word} ({value})"
    return f"{value} {UNITS[setting]}" if setting in UNITS else value


def key(path: Path) -> Line:
    """Look at the key file without reading the key."""
    try:
        status = path.stat()
    except FileNotFoundError:
        fix = (
            f"Put {path} back from a backup. Where it is lost for good, keepset.open(…,"
            " new_key=True) makes another: older runs are then not found by their subject."
        )
        return Line("key file", "fail", "missing", fix)
    except OSError as error:
        fix = f"Look at who may go to {path}."
        return Line("key file", "fail", f"cannot be looked at ({error.strerror})", fix)
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    if not stat.S_ISREG(status.st_mode) or status.st_size != KEY_BYTES:
        fix = f"Put {path} back from a backup: a key is {KEY_BYTES} bytes."
        return Line("key file", "fail", f"holds no key ({status.st_size} bytes)", fix)
    if stat.S_IMODE(status.st_mode) & ~PRIVATE_FILE:
        fix = f"Others may use it: chmod 600 {shlex.quote(str(path))}"
        return Line("key file", "fail", f"present, {mode}", fix)
    return Line("key file", "ok", f"present, {mode}")


def _file(file: StoredFile) -> Iterator[Line]:
    name = Path(file.path).name
    if file.mode & PRIVATE:
        fix = f"Others may read it: chmod 600 {shlex.quote(file.path)}"
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
