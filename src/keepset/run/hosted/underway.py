"""What of a run is on its way to the store: checkpoints, and what tasks wrote after them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import TypeAlias

from keepset.plan.rows import BlobRow, WriteRow

_LANDED = 4096
"""Of how many checkpoints of a run it is remembered that they were there."""

_WAITING = 1024
"""How many batches of writes may wait for their checkpoints."""

Early: TypeAlias = tuple[tuple[WriteRow, ...], tuple[BlobRow, ...]]
"""What a task wrote, with the large values, before its checkpoint has landed."""

Key: TypeAlias = tuple[str, str]
"""A checkpoint: its namespace and its id."""


class _Coming:
    """Writes of a checkpoint that are on their way; most often nobody waits for them."""

    __slots__ = ("_all", "ended", "key")

    def __init__(self, all_of_them: Underway, key: Key) -> None:
        self._all = all_of_them
        self.key = key
        self.ended: Future[None] | None = None

    def __enter__(self) -> None:
        self._all.come(self)

    def __exit__(self, *_: object) -> None:
        self._all.gone(self)

    def to_wait_for(self) -> Future[None]:
        """Give what is done when they are there; to be called by one thread at a time."""
        if self.ended is None:
            self.ended = Future()
        return self.ended


class Underway:
    """What is on its way; any thread may use it at any time."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lock = threading.Lock()
        self._coming: dict[Key, list[_Coming]] = {}
        self._arriving: set[Key] = set()
        self._waiting: dict[Key, list[Early]] = {}
        self._landed: OrderedDict[Key, None] = OrderedDict()

    # --- what tasks wrote -------------------------------------------------------------------------

    def coming(self, namespace: str, checkpoint: str) -> AbstractContextManager[None]:
        """Let it be known that writes of a checkpoint are on their way to the store."""
        return _Coming(self, (namespace, checkpoint))

    def come(self, own: _Coming) -> None:
        """Take note of writes that are on their way."""
        with self._lock:
            self._coming.setdefault(own.key, []).append(own)

    def gone(self, own: _Coming) -> None:
        """Take note that they are there, or will not be."""
        with self._lock:
            left = [other for other in self._coming.pop(own.key, []) if other is not own]
            if left:
                self._coming[own.key] = left
            ended = own.ended
        if ended is not None:
            ended.set_result(None)

    def on_their_way(self, namespace: str, checkpoint: str) -> list[Future[None]]:
        """Give what to wait for until the writes of a checkpoint on their way are there."""
        with self._lock:
            there = self._coming.get((namespace, checkpoint), ())
            return [one.to_wait_for() for one in there]

    # --- checkpoints ------------------------------------------------------------------------------

    def expect(self, namespace: str, checkpoint: str) -> None:
        """Take note that a checkpoint is on its way, until `arrived` is asked."""
        with self._lock:
            self._arriving.add((namespace, checkpoint))

    def meet(self, namespace: str, checkpoint: str, writes: Early) -> bool:
        """Let writes wait for their checkpoint where that is on its way; False where it is not."""
        with self._lock:
            return (namespace, checkpoint) in self._arriving and self._wait(
                (namespace, checkpoint), writes
            )

    def wait(self, namespace: str, checkpoint: str, writes: Early) -> bool:
        """Let writes wait for their checkpoint; False where it has landed, now or before.

        A host that saves in the background may hand over what a task wrote before the checkpoint
        that the task began with.
        """
        with self._lock:
            return self._wait((namespace, checkpoint), writes)

    def _wait(self, key: Key, writes: Early) -> bool:
        if key in self._landed or len(self._waiting) >= _WAITING:
            return False
        self._waiting.setdefault(key, []).append(writes)
        return True

    def land(self, key: Key) -> None:
        """Remember that a checkpoint is there."""
        with self._lock:
            self._landed[key] = None
            while len(self._landed) > _LANDED:
                self._landed.popitem(last=False)

    def arrived(self, namespace: str, checkpoint: str) -> list[Early]:
        """Take the writes that waited for a checkpoint."""
        with self._lock:
            self._arriving.discard((namespace, checkpoint))
            return self._waiting.pop((namespace, checkpoint), [])
