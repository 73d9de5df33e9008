"""The bound on what writers remember: the least recently used run forgets, and loads again."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict, deque
from typing import Protocol

LIMIT = 64 << 20
"""Bytes that all runs of a store may remember together."""


class Forgetful(Protocol):
    """A run that can load again what it remembers."""

    def forget(self) -> bool:
        """Forget; False where the run is in use just now."""
        ...


class Retention:
    """Counts what runs remember, and makes the least recently used ones forget above the limit."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Begin with nothing remembered."""
        self._limit = limit
        self._lock = threading.Lock()
        self._sizes: OrderedDict[weakref.ref[Forgetful], int] = OrderedDict()
        self._newest: weakref.ref[Forgetful] | None = None
        # What the collector calls is C alone: it may come while this thread holds the lock, and in
        # a function of ours the handler of a signal may raise, which Python drops, as a Ctrl-C.
        self._gone: deque[weakref.ref[Forgetful]] = deque()
        self._total = 0

    @property
    def limit(self) -> int:
        """Bytes that all runs may remember together."""
        return self._limit

    @property
    def total(self) -> int:
        """Bytes that are remembered now, nearly."""
        return self._total

    def keep(self, run: Forgetful, size: int) -> None:
        """Note what a run remembers from now on; others may forget for it."""
        with self._lock:
            while self._gone:
                self._drop(self._gone.popleft())
            newest = self._newest
            if newest is None or newest() is not run:
                self._drop(weakref.ref(run))
                newest = weakref.ref(run, self._gone.append)
            self._total += size - self._sizes.get(newest, 0)
            self._sizes[newest] = size
            self._newest = newest  # only now: one that was never hashed cannot be dropped
            crowded = self._crowded() if self._total > self._limit else ()
        for other in crowded:
            if other is not run and other.forget():
                with self._lock:
                    self._drop(weakref.ref(other))

    def _crowded(self) -> list[Forgetful]:
        """Choose the runs that have to forget, the least recently used first."""
        chosen: list[Forgetful] = []
        over = self._total - self._limit
        for ref, size in list(self._sizes.items()):
            run = ref()
            if run is None:
                self._drop(ref)
            elif over > 0:
                chosen.append(run)
            else:
                break
            over -= size
        return chosen

    def _drop(self, ref: weakref.ref[Forgetful]) -> None:
        self._total -= self._sizes.pop(ref, 0)
