"""Times for people: stored ones are milliseconds since 1970-01-01 UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(milliseconds: int) -> str:
    """Write a stored time in ISO 8601, UTC, to the second."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
