"""What is seen of a run while it lives: its steps, its checkpoints, and the point of its end."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepset.prove.ports import Progress


class Halted(BaseException):
    """The life ends here, as a process does that is killed; no step may catch it."""


class Watch:
    """Notes what a run does, and ends its life at a chosen point.

    Attributes:
        points: Ids of the checkpoints that have landed, in order: ``after find``, and
            ``after find (2)`` where a step comes round again.
        progress: What of the script was used when the last one landed.
        changed: Fields whose rule has restored another content than was there.
        waiting: Where the run ended at a question without an answer; empty where it did not.
        live: The state as it was when the last one landed, where the host shows it.
    """

    def __init__(self, stop: str | None, halt: Callable[[], None] | None = None) -> None:
        """Watch a life.

        Args:
            stop: Id of the point where it ends; None for the end of the run.
            halt: Ends the life; raises `Halted` where it is None.
        """
        self.points: list[str] = []
        self.progress: Progress | None = None
        self.changed: set[str] = set()
        self.waiting = ""
        self.live: Mapping[str, Any] = {}
        self._stop = stop
        self._halt = halt
        self._seen: Counter[str] = Counter()
        self._steps: list[list[str]] = [[]]
        self._lock = threading.Lock()

    @property
    def steps(self) -> tuple[tuple[str, ...], ...]:
        """The steps that began, those between two checkpoints together and in a fixed order.

        Steps that run side by side begin in any order.
        """
        return tuple(tuple(sorted(group)) for group in self._steps if group)

    @property
    def at(self) -> tuple[str, ...]:
        """The steps that began since the last checkpoint."""
        return tuple(sorted(self._steps[-1]))

    def began(self, step: str) -> None:
        """Note that a step begins."""
        with self._lock:
            self._steps[-1].append(step)

    def landed(self, label: str, progress: Progress, live: Mapping[str, Any] | None = None) -> None:
        """Note that a checkpoint has landed that a run can be resumed from.

        Args:
            label: What a person calls the point, the same in each run.
            progress: What of the script was used until then.
            live: The state, with what is in no checkpoint.
        """
        with self._lock:
            self._seen[label] += 1
            count = self._seen[label]
            point = label if count == 1 else f"{label} ({count})"
            self.points.append(point)
            self.progress = progress
            self.live = live or {}
            self._steps.append([])
        if point == self._stop:
            if self._halt is not None:
                self._halt()
            raise Halted
