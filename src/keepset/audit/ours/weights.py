"""The bytes that each difference takes in the file; those of a field add up to what it has."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from keepset.audit.ours.watched import Watched
from keepset.delta import blob_refs
from keepset.plan.blobs import Blobs
from keepset.plan.replay import History
from keepset.plan.rows import HEADER
from keepset.plan.steps import split_changes


def shares(size: int, parts: int) -> Iterator[int]:
    """Share bytes out: the parts add up to the whole."""
    for number in range(parts):
        yield size * (number + 1) // parts - size * number // parts


class Weights:
    """What each difference of a line takes.

    Steps that are packed together lie in one compressed frame for each field: its bytes are
    shared out evenly among them. A step that is not packed yet has a row of its own, compressed
    where it is large: its bytes are shared out among its fields, by what each of them has packed.

    Args:
        history: The line.
    """

    def __init__(self, history: History) -> None:
        """Weigh all of them."""
        self._of: dict[tuple[int, str], int] = {}
        self._headers: dict[int, int] = {}
        for step in history.past.steps:
            self._headers[step.seq] = len(step.metadata)
            packed = {name: len(op) for name, (_, op) in split_changes(step).items()}
            for name, share in spread(len(step.changes), packed).items():
                self._of[step.seq, name] = share
        by_field: dict[str, list[int]] = {}
        for row in history.headers:
            by_field.setdefault(HEADER, []).append(row.seq)
            for name in history.changes[row.seq]:
                if (row.seq, name) not in self._of:
                    by_field.setdefault(name, []).append(row.seq)
        for segment in history.past.segments:
            all_seqs = by_field.get(segment.field, [])
            begin, end = bisect_left(all_seqs, segment.first), bisect_right(all_seqs, segment.last)
            seqs = all_seqs[begin:end]
            for seq, share in zip(seqs, shares(len(segment.data), len(seqs)), strict=True):
                if segment.field == HEADER:
                    self._headers[seq] = share
                else:
                    self._of[seq, segment.field] = share

    def of(self, seq: int, name: str) -> int:
        """Give the bytes of a field's difference in a step."""
        return self._of.get((seq, name), 0)

    def header(self, seq: int) -> int:
        """Give the bytes of what the host said of a step."""
        return self._headers.get(seq, 0)


class LargeWeights:
    """What large values take; each counts where it is met first, since it is stored once.

    Args:
        store: Where they are.
        blobs: Those of a run.
    """

    def __init__(self, store: Watched, blobs: Blobs) -> None:
        """None was met yet."""
        self._met: set[bytes] = set()
        self._store = store
        self._blobs = blobs

    def met(self, digests: Collection[bytes]) -> int:
        """Give the bytes of those among some large values, and their parts, that are new."""
        if not digests:
            return 0
        new = set(self._store.run(self._blobs.with_parts(digests))) - self._met
        self._met |= new
        return sum(self._blobs.weights[one] for one in new)

    def of(self, op: Any) -> int:
        """Give the same for those that a difference refers to."""
        return self.met([ref.digest for ref in blob_refs(op)])


def spread(size: int, packed: Mapping[str, int]) -> dict[str, int]:
    """Share bytes out among entries, by what each has packed; the parts add up to the whole."""
    total, done, before = sum(packed.values()), 0, 0
    shared: dict[str, int] = {}
    for name, one in packed.items():
        done += one
        share = size * done // total if total else 0
        shared[name], before = share - before, share
    return shared
