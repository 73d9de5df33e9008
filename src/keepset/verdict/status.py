"""The words for where a run stands and for what may become of it."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Status(StrEnum):
    """Where a run stands, taken from its last checkpoint."""

    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


class Resume(IntEnum):
    """May this code resume that run? The number is the exit code; the highest is the worst."""

    AS_IS = 0
    AFTER_MIGRATION = 10
    DRAIN = 20
    INCOMPATIBLE = 30
    POLICY = 40
    UNKNOWN = 50

    def __str__(self) -> str:
        """Give its name, as a log or a terminal should show it."""
        return self.name
