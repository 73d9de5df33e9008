"""Wait for a store's writer, where the next save is to find nobody else at work."""

from __future__ import annotations

import time

from keepset.backends.sqlite import SQLiteBackend


def rest(backend: SQLiteBackend) -> SQLiteBackend:
    """Wait until the writer's thread has seen to all that follows the last save.

    A save returns once it is done, and the thread may be at work for a moment longer.
    """
    while backend._writer._busy:
        time.sleep(0)
    return backend
