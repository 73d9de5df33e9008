"""Times for people: stored ones are milliseconds since 1970-01-01 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def iso(milliseconds: int) -> str:
    """Write a stored time in ISO 8601, UTC, to the second; one beyond year 9999 as that year's end.

    Stored times come from a file, which may be damaged; a listing goes on.
    """
    within = max(0, min(milliseconds, _LATEST))
    moment = _EPOCH + timedelta(milliseconds=within)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
