"""Which checkpoints of a run stay, and the run written anew with only those."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keepset.codec import BlobRef, Codec
from keepset.delta import ABSENT, Change, Frozen, diff, freeze, whole
from keepset.errors import UsageError
from keepset.plan.memory import outgrown
from keepset.plan.packing import (
    STEPS_PER_SEGMENT,
    Difference,
    TailStep,
    join_changes,
    pack_segments,
    step_digest,
)
from keepset.plan.replay import History, Moment, Replay
from keepset.plan.rows import SegmentRow, StepRow
from keepset.plan.writes import Rewritten


@dataclass(frozen=True, slots=True)
class Policy:
    """Which checkpoints a pruning keeps; the newest of every line always stays.

    A checkpoint goes when every part that is given lets it go.

    Attributes:
        keep_latest: Keep this many newest of every line.
        every: Keep every checkpoint whose seq this number divides.
        older_than: Keep what was saved at this time or later, in milliseconds.
    """

    keep_latest: int | None = None
    every: int | None = None
    older_than: int | None = None

    def __post_init__(self) -> None:
        """Refuse a policy that would keep everything or means nothing.

        Raises:
            UsageError: No part of the policy is given, or a number is below 1.
        """
        given = [n for n in (self.keep_latest, self.every, self.older_than) if n is not None]
        if not given or any(number < 1 for number in given):
            raise UsageError(
                "a pruning needs keep_latest, every or older_than, each 1 or more",
                code="prune.policy",
                hint="For example prune(run_id, keep_latest=10).",
            )

    def keeps(self, headers: Sequence[StepRow]) -> set[int]:
        """The seqs of a line that stay."""
        kept = {row.seq for row in headers[-(self.keep_latest or 1) :]}
        for row in headers:
            young = self.older_than is not None and row.at >= self.older_than
            nth = self.every is not None and row.seq % self.every == 0
            if young or nth:
                kept.add(row.seq)
        return kept


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pruning did.

    Attributes:
        removed: How many checkpoints went.
        kept: How many stay.
    """

    removed: int
    kept: int


@dataclass(frozen=True, slots=True)
class Shorter:
    """A run with less.

    Attributes:
        pruned: How many checkpoints go and stay.
        lines: What its lines hold from now on.
        blobs: Digests of the large values that stay.
    """

    pruned: Pruned
    lines: tuple[Rewritten, ...]
    blobs: tuple[bytes, ...]


class _Writer:
    """Writes one line anew, from the moments that stay; its first step holds all fields whole."""

    def __init__(self, codec: Codec, refs: set[bytes], parent: str, *, compressed: bool) -> None:
        self._compressed = compressed
        self._codec = codec
        self._refs = refs
        self._pictures: dict[str, Frozen] = {}
        self._bases: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._dirty: set[str] = set()
        self._parent = parent
        self._tail: list[TailStep] = []
        self._segments: list[SegmentRow] = []
        self._seqs: list[int] = []

    def see(self, moment: Moment, *, keep: bool) -> None:
        """Take note of what a step changed, and write it if it stays."""
        first = not self._seqs
        self._dirty |= moment.values.keys() if first else moment.changed
        if not keep:
            return
        seq = moment.header.seq
        changes: dict[str, Difference] = {}
        for name in sorted(self._dirty):
            change = self._change(name, moment.values)
            if change:
                if change.is_whole or name not in self._bases:
                    self._bases[name] = seq
                changes[name] = Difference(change.op, self._bases[name])
        self._dirty.clear()
        self._append(moment.header, changes)

    def _change(self, name: str, values: Mapping[str, Any]) -> Change | None:
        old = self._pictures.pop(name, None)
        if name not in values:
            return ABSENT if old else None
        new = self._pictures[name] = freeze(values[name], self._codec.pack)
        change = diff(old, new, move=self._move) if old else whole(new, self._move)
        if change is None:
            return None
        size = len(change.op) + (0 if change.is_whole else self._sizes[name])
        if not change.is_whole and outgrown(size, new.size):
            change = whole(new, self._move)
            size = len(change.op)
        self._sizes[name] = size
        return change

    def _append(self, header: StepRow, changes: Mapping[str, Difference]) -> None:
        packed = join_changes({name: change.op for name, change in changes.items()})
        row = replace(header, parent=self._parent, changes=packed)
        row = replace(row, digest=step_digest(row))
        if len(self._tail) >= STEPS_PER_SEGMENT:
            self._segments += pack_segments(self._tail, compressed=self._compressed)
            self._tail = []
        self._tail.append(TailStep(row, changes))
        self._seqs.append(row.seq)
        self._parent = row.checkpoint

    def _move(self, packed: bytes) -> bytes:
        digest = hashlib.sha256(packed).digest()
        self._refs.add(digest)
        return self._codec.pack(BlobRef(digest, len(packed)))

    def finish(self, history: History, *, orphan: bool) -> Rewritten:
        """Give the line as it is from now on."""
        line = replace(history.past.line, depth=0)
        if orphan:
            line = replace(line, parent=None)
        steps = tuple(step.row for step in self._tail)
        return Rewritten(line, tuple(self._seqs), steps, tuple(self._segments))


def prune(
    replay: Replay, policy: Policy, blobs: Mapping[bytes, Any], codec: Codec, *, compressed: bool
) -> Shorter:
    """Write a run anew with the checkpoints that a policy keeps.

    A checkpoint that stays gives the state that it gave before. A line whose fork point goes
    stands on its own from then on; where it has no step of its own yet, its fork point stays.
    """
    pinned = {
        (history.past.line.parent, history.past.line.parent_seq)
        for history in replay.histories
        if not history.headers
    }
    kept: dict[int, set[int]] = {}
    lines: list[Rewritten] = []
    refs: set[bytes] = set()
    removed = 0
    for history in replay.histories:
        line = history.past.line
        stays = policy.keeps(history.headers)
        stays |= {row.seq for row in history.headers if (line.id, row.seq) in pinned}
        kept[line.id] = stays
        removed += len(history.headers) - len(stays)
        orphan = line.parent is not None and line.parent_seq not in kept.get(line.parent, ())
        first = history.headers[0].parent if history.headers and line.parent else ""
        writer = _Writer(codec, refs, "" if orphan else first, compressed=compressed)
        for moment in replay.walk(history, blobs):
            writer.see(moment, keep=moment.header.seq in stays)
        lines.append(writer.finish(history, orphan=orphan))
    counted = Pruned(removed, sum(map(len, kept.values())))
    return Shorter(counted, tuple(lines), tuple(sorted(refs)))
