"""Which values are in the store for more than one run: a sketch of digests, bounded in size."""

from __future__ import annotations

from typing import Final

import msgspec

MOST: Final = 40_000
"""Digests that are kept; above it each second one is given up, and what is said is an estimate."""


class Known(msgspec.Struct, array_like=True):
    """A value that was met.

    Attributes:
        run: The first run that had it, by its number.
        field: Its field, by number.
        again: Bytes of it in other runs.
        times: How often it came in another run than the first.
    """

    run: int
    field: int
    again: int = 0
    times: int = 0


class Repeats(msgspec.Struct):
    """Digests of values by chance: one is kept as long as it is below a limit that is halved.

    A digest is as good as random, so that what is below the limit is a fair sample of all values,
    and each of them is followed from its first appearance on.

    Attributes:
        halved: How often the limit was halved, below which digests are kept.
        known: What is known of each.
    """

    halved: int = 0
    known: dict[int, Known] = {}

    @property
    def share(self) -> float:
        """The share of all values that is followed."""
        return 0.5**self.halved

    @property
    def limit(self) -> int:
        """Digests below it are kept."""
        return (1 << 64) >> self.halved

    @property
    def is_exact(self) -> bool:
        """Tell whether every value was followed."""
        return not self.halved

    def meet(self, digest: int, run: int, field: int, size: int) -> None:
        """Take note of a value.

        Args:
            digest: 64 bits by which it is known.
            run: Number of the run.
            field: Number of the field.
            size: Its bytes.
        """
        if digest >= self.limit:
            return
        known = self.known.get(digest)
        if known is None:
            if len(self.known) >= MOST:
                self.halved += 1
                limit = self.limit
                self.known = {d: one for d, one in self.known.items() if d < limit}
                if digest >= limit:
                    return
            self.known[digest] = Known(run, field)
        elif known.run != run:
            known.again += size
            known.times += 1

    def by_field(self) -> dict[int, int]:
        """Give the bytes of values that an earlier run had as well, by field: an estimate."""
        total: dict[int, int] = {}
        for known in self.known.values():
            if known.again:
                total[known.field] = total.get(known.field, 0) + known.again
        return {field: round(count / self.share) for field, count in total.items()}
