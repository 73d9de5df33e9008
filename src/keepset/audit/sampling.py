"""Which runs are read, and for how long: all of a small store, a fair sample of a large one.

A run's place in the order is a keyed digest of its id: the first so many are a sample in which each
run is as likely as any other, the same one each time, and a part of it is a sample as well. So it
does no harm when time runs out.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from keepset.readers.ports import Overview, RunFacts

MOST: Final = 100_000
"""Runs of a sample; their ids are held in memory."""
LEAST: Final = 30
"""Runs of a sample that nobody gave a size."""

GIGABYTE: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of a store is to be read.

    Attributes:
        all_below: Bytes up to which a store is read whole.
        runs: Runs to read, or None.
        share: Share of the runs to read, from 0 to 1, or None.
        seconds: When to stop, or None.
        seed: Another one makes another sample.
    """

    all_below: int = GIGABYTE
    runs: int | None = None
    share: float | None = None
    seconds: float | None = None
    seed: int = 0

    def wanted(self, overview: Overview) -> int | None:
        """Give the number of runs to read; None for all of them, in any order."""
        if self.runs is not None:
            return min(self.runs, MOST)
        if self.share is not None:
            return min(max(1, math.ceil(self.share * overview.runs)), MOST)
        if overview.size > self.all_below:
            # Half of what would be read of a smaller store: half a minute or so.
            share = self.all_below / 2 / overview.size
            return min(max(LEAST, math.ceil(share * overview.runs)), overview.runs, MOST)
        return None if self.seconds is None else MOST

    def most_of_a_run(self, overview: Overview) -> int | None:
        """Give the bytes after which a run is left; None where each is read to its end."""
        if overview.size <= self.all_below or self.share == 1:
            return None
        return max(self.all_below // 4, 1)


class Chosen:
    """Takes runs, and keeps those that come first in the order of the sample."""

    def __init__(self, most: int, seed: int) -> None:
        """Begin with none."""
        self._most = most
        self._seed = seed.to_bytes(8, "big", signed=True)
        self._heap: list[tuple[int, str, RunFacts]] = []

    def take(self, facts: RunFacts) -> None:
        """Take a run."""
        rank = -self.rank(facts.run)
        entry = rank, facts.run, facts
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif self._heap and rank > self._heap[0][0]:
            heapq.heapreplace(self._heap, entry)

    def rank(self, run: str) -> int:
        """Give a run's place in the order."""
        data = run.encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(data, digest_size=8, key=self._seed).digest(), "big")

    def runs(self) -> list[RunFacts]:
        """Give the runs of the sample, in its order."""
        return [facts for _, _, facts in sorted(self._heap, key=lambda one: -one[0])]


def in_time(
    runs: Iterable[RunFacts], seconds: float | None, elapsed: Callable[[], float]
) -> Iterator[RunFacts]:
    """Give runs until time is up."""
    for facts in runs:
        if seconds is not None and elapsed() >= seconds:
            return
        yield facts
