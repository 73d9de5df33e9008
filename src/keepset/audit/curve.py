"""Bytes by step, in a bounded number of points, however long runs are."""

from __future__ import annotations

from typing import Final

import msgspec

MOST: Final = 64
"""Points of a curve."""


class Curve(msgspec.Struct):
    """Sums by step; where steps become too many, two neighbours become one.

    Attributes:
        width: Steps that a point stands for.
        sums: Bytes by point.
        counts: Values by point.
    """

    width: int = 1
    sums: list[int] = []
    counts: list[int] = []

    def add(self, step: int, size: int) -> None:
        """Add a value.

        Args:
            step: Number of the step in its run, from 0.
            size: Its bytes.
        """
        while step // self.width >= MOST:
            self.width *= 2
            self.sums = _halved(self.sums)
            self.counts = _halved(self.counts)
        point = step // self.width
        missing = point + 1 - len(self.sums)
        if missing > 0:
            self.sums += [0] * missing
            self.counts += [0] * missing
        self.sums[point] += size
        self.counts[point] += 1

    def points(self) -> list[tuple[int, float]]:
        """Give the mean by the first step of each point; a point without values is left out."""
        return [
            (number * self.width, self.sums[number] / count)
            for number, count in enumerate(self.counts)
            if count
        ]


def _halved(numbers: list[int]) -> list[int]:
    return [sum(numbers[start : start + 2]) for start in range(0, len(numbers), 2)]
