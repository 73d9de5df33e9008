"""Ids that sort by the time at which they were made."""

from __future__ import annotations

import os
import threading

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_COUNTER_BITS = 42
_NEVER = (1 << 48) - 1
_lock = threading.Lock()
_last = (0, 0)


def new_id(now: int) -> str:
    """Make a UUIDv7, above every other that this process has made.

    Args:
        now: Milliseconds since 1970-01-01 UTC. What does not fit into 48 bits is the reading of a
            broken clock: the id then follows the last one, and later ones are not affected.

    Source: RFC 9562, section 5.7, with the counter of section 6.2 (method 1): the 12 bits after
    the version and the first 30 after the variant count on within a millisecond.
    """
    global _last  # noqa: PLW0603 - ids must rise across all stores of a process
    random = int.from_bytes(os.urandom(9), "big")
    with _lock:
        time, counter = _last
        if time < now < _NEVER:
            time, counter = now, random >> 32 & (1 << _COUNTER_BITS - 1) - 1
        else:
            counter += 1
            if counter >> _COUNTER_BITS:
                time, counter = time + 1, 0
        _last = time, counter
    high, low = counter >> 30, counter & (1 << 30) - 1
    number = time << 80 | _VERSION | high << 64 | _VARIANT | low << 32 | random & 0xFFFFFFFF
    text = f"{number:032x}"  # half the time of uuid.UUID
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
