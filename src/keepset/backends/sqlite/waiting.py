"""Wait for another process's lock, fairly.

SQLite's own busy handler sleeps longer the longer it has waited, so that newcomers overtake. Here
everybody looks again after a short, random time, at an even rate for as long as waits are usual.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from keepset.backends.sqlite.failures import is_busy
from keepset.backends.sqlite.forks import GATE

T = TypeVar("T")

_USUAL = 0.5
_SHORT = (200, 1_000)
_LONG = (2_000, 10_000)


class Patience:
    """Waits in short, random pauses until a time is up."""

    def __init__(self, seconds: float) -> None:
        """Begin to count now."""
        self._start = time.monotonic()
        self._seconds = seconds

    @property
    def left(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() - self._start < self._seconds

    def pause(self) -> bool:
        """Sleep for a moment; False, at once, where the time is up."""
        waited = time.monotonic() - self._start
        if waited >= self._seconds:
            return False
        low, high = _SHORT if waited < _USUAL else _LONG
        time.sleep((low + secrets.randbelow(high - low)) / 1e6)
        return True


def patiently(action: Callable[[], T], patience: Patience) -> T:
    """Repeat an action for as long as it fails because of another connection's lock.

    Raises:
        sqlite3.Error: The action failed for another reason, or the time is up.
    """
    while True:
        try:
            with GATE.mine():
                return action()
        except sqlite3.Error as error:
            if not is_busy(error) or not patience.pause():
                raise
