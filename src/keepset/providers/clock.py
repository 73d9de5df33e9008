"""The one clock, and the one that nobody sets."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000


def elapsed() -> float:
    """Seconds that have gone by since some moment; only differences mean something."""
    return time.monotonic()
