"""Which process this is, and whether another one of this machine is known to have ended."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_BOOT = _PROC / "sys/kernel/random/boot_id"
_STATE, _THREADS, _STARTED = 0, 17, 19
"""Columns of ``/proc/PID/stat`` after the name (proc(5), from its third on)."""


class Process(NamedTuple):
    """A process, as another one can tell whether it still runs.

    Attributes:
        host: The machine's name, for people.
        machine: What numbers of processes are compared within: the machine since its last start,
            and on Linux the namespaces that a container has of its own. Empty where it is not
            known.
        pid: The process's number there.
        started: When it started, as the system counts; empty where the system does not say.
    """

    host: str
    machine: str
    pid: int
    started: str


def this_process() -> Process:
    """Give the process that asks; after a fork the child is another one."""
    pid = os.getpid()
    return Process(os.uname().nodename, _machine(), pid, _started(pid) or "")


def has_ended(process: Process) -> bool:
    """Tell whether a process is known to have ended: it ran on this machine and is not there.

    One of another machine, or of another container, may run or not: False.
    """
    if not process.machine or process.machine != _machine():
        return False
    with suppress(PermissionError, OverflowError):  # somebody else's, or no number of a process
        try:
            os.kill(process.pid, 0)
        except ProcessLookupError:
            return True
    started = _started(process.pid)
    return started is not None and bool(process.started) and started != process.started


def _machine() -> str:
    """Name the machine since its last start, with the namespaces in which processes are counted."""
    if sys.platform == "darwin":
        return _boot_of_macos()
    try:
        boot = _BOOT.read_text("ascii").strip()
        spaces = [os.readlink(_PROC / "self/ns/pid")]  # noqa: PTH115 - it names no file
    except (OSError, ValueError):
        return ""
    with suppress(OSError):  # before Linux 5.6 there is one time for all
        spaces.append(os.readlink(_PROC / "self/ns/time"))  # noqa: PTH115 - the same
    return "/".join((boot, *spaces))


def _boot_of_macos() -> str:
    """Ask for the id of the session since the machine started: sysctl(3), kern.bootsessionuuid."""
    found, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    try:
        asked = ctypes.CDLL(None).sysctlbyname
    except (AttributeError, OSError):
        return ""
    failed = asked(b"kern.bootsessionuuid", found, ctypes.byref(size), None, ctypes.c_size_t(0))
    return "" if failed else found.value.decode("ascii", "replace")


def _started(pid: int) -> str | None:
    """When a process started, in ticks since the machine did; None where that cannot be read.

    One that was killed and that nobody has asked for yet counts as started never.
    """
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    columns = text.rpartition(")")[2].split()
    if len(columns) <= _STARTED:
        return None
    ended = columns[_STATE] in {"Z", "X"} and int(columns[_THREADS]) <= 1
    return "never" if ended else columns[_STARTED]
