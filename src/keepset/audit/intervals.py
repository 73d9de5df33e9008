"""How sure a figure of a sample is: intervals of 95 %.

Shares of runs: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
JASA 22 (1927). Sums: the bootstrap with weights by chance for each run (Poisson with mean 1), which
needs one pass and no list of runs; what runs weigh is known of all of them, so that a sum is scaled
by bytes. Both are narrowed by the share of the runs that was read, as samples without replacement
are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

REPLICATES: Final = 200
_Z: Final = 1.959964
_LOW, _HIGH = 0.025, 0.975
_TOTAL: Final = "bytes"
_FEWEST: Final = 3
_VERY_WIDE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure for the whole store that was reckoned from a sample.

    Attributes:
        value: The figure.
        low: Lower end of the interval.
        high: Upper end.
    """

    value: float
    low: float
    high: float


def wilson(hits: int, of: int, population: int) -> Estimate:
    """Give the number of runs in all that have something.

    Args:
        hits: Runs of the sample that have it.
        of: Runs of the sample.
        population: Runs in all.
    """
    if not of:
        return Estimate(0, 0, population)
    share = hits / of
    z = _Z * narrowed(of, population)
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low = max(hits, (middle - half) * population)
    high = min(population - (of - hits), (middle + half) * population)
    return Estimate(share * population, min(low, share * population), max(high, low))


def narrowed(of: int, population: int) -> float:
    """Give the factor by which an interval is narrower since nothing is drawn twice."""
    return math.sqrt(max(0.0, 1 - of / population)) if population else 0.0


def widened(of: int) -> float:
    """Give the factor by which an interval of few runs has to be wider.

    Student's t in place of the normal distribution, by the first terms of its expansion (M.
    Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.7.5), and the bias of the
    variance of a resample.
    """
    if of < _FEWEST:
        return _VERY_WIDE
    free = of - 1
    student = _Z + (_Z**3 + _Z) / (4 * free) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * free**2)
    return student / _Z * math.sqrt(of / free)


class Replicates(msgspec.Struct):
    """Sums over the runs of a sample, and the same sums with weights by chance.

    Attributes:
        before: Sums until now, by name.
        sums: The same under each of the weights.
        sizes: What the runs weigh under each of them.
        size: What they weigh.
    """

    before: dict[str, float] = {}
    sums: dict[str, list[float]] = {}
    sizes: list[float] = []
    size: int = 0

    def after(self, run: str, size: int, totals: Mapping[str, float]) -> None:
        """Take in a run.

        Args:
            run: Its id; it stands for the chance.
            size: Its bytes.
            totals: Sums over all runs until now, this one included.
        """
        weights = _weights(run)
        self.size += size
        old = self.sizes or [0.0] * REPLICATES
        self.sizes = [a + w * size for a, w in zip(old, weights, strict=True)]
        for name, total in totals.items():
            gained = total - self.before.get(name, 0.0)
            if gained:
                sums = self.sums.get(name) or [0.0] * REPLICATES
                self.sums[name] = [a + w * gained for a, w in zip(sums, weights, strict=True)]
        self.before = dict(totals)

    def total(self, name: str, whole: int, narrow: float) -> Estimate:
        """Reckon a sum over all runs.

        Args:
            name: Which sum.
            whole: What all runs weigh.
            narrow: Factor of the interval, by `narrowed`.
        """
        seen = self.before.get(name, 0.0)
        found = self._ratio(seen, self.size, name, self.sizes, whole, narrow)
        # What was seen is there: no interval ends below it.
        return Estimate(found.value, max(found.low, min(seen, found.value)), found.high)

    def share(self, name: str, narrow: float) -> Estimate:
        """Reckon the share of a sum in the bytes of all values."""
        seen, of = self.before.get(name, 0.0), self.before.get(_TOTAL, 0.0)
        return self._ratio(seen, of, name, self.sums.get(_TOTAL, []), 1, narrow)

    def _ratio(  # noqa: PLR0913, PLR0917 - two ratios, what they are scaled by and narrowed
        self, seen: float, of: float, name: str, parts: list[float], whole: float, narrow: float
    ) -> Estimate:
        value = seen / of * whole if of else 0.0
        sums = self.sums.get(name)
        if not sums:
            return Estimate(value, value, value)
        found = sorted(a / b * whole for a, b in zip(sums, parts, strict=True) if b)
        if not found:
            return Estimate(value, value, value)
        low = found[int(_LOW * len(found))]
        high = found[min(int(_HIGH * len(found)), len(found) - 1)]
        low, high = value - (value - low) * narrow, value + (high - value) * narrow
        return Estimate(value, min(low, value), max(high, value))


def _weights(run: str) -> list[int]:
    chance = random.Random(run)  # noqa: S311 - nothing depends on its being unforeseeable
    return [_poisson(chance.random()) for _ in range(REPLICATES)]


def _poisson(uniform: float) -> int:
    """Give a number of a Poisson distribution with mean 1, by its inverse."""
    number, term = 0, math.exp(-1)
    total = term
    while uniform > total and term > 0:
        number += 1
        term /= number
        total += term
    return number
