"""Times as stores hold them: in ids, as texts, as numbers."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, datetime
from typing import Final

_UUID6: Final = 6
_GREGORIAN: Final = 0x01B21DD213814000  # 100 ns from 1582, where such ids count from, to 1970
_MILLISECONDS: Final = 1e11  # a larger number of seconds lies in the year 5138
_MICROSECONDS: Final = 1e14
_LONG: Final = 30
_END: Final = 253_402_300_800.0  # the year 10000


def time_of(checkpoint_id: object) -> float | None:
    """Read the time in a checkpoint's id, in seconds since 1970; None of other ids."""
    try:
        found = uuid.UUID(str(checkpoint_id))
    except ValueError:
        return None
    if found.version != _UUID6:
        return None
    number = found.int
    ticks = (number >> 80 << 12) | (number >> 64 & 0xFFF)
    return (ticks - _GREGORIAN) / 10_000_000


def time_from(text: object) -> float | None:
    """Read a time as hosts and databases write it; without a zone it is UTC."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def time_in(value: object) -> float | None:
    """Read a time from a text, or from a number of seconds, milli- or microseconds since 1970.

    None of what is no time, or one that no calendar has.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return _time_in_text(str(value)) if isinstance(value, (str, datetime)) else None
    if not math.isfinite(value) or value <= 0:
        return None
    unit = 1e6 if value > _MICROSECONDS else 1e3 if value > _MILLISECONDS else 1.0
    seconds = value / unit
    return seconds if seconds < _END else None


def _time_in_text(text: str) -> float | None:
    found = time_from(text)
    if found is None and text.replace(".", "", 1).isdecimal() and len(text) < _LONG:
        return time_in(float(text))
    return found
