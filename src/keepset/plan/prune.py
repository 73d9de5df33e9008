"""Which checkpoints of a run stay, and the run written anew with only those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from keepset.codec import Codec
from keepset.delta import ABSENT, Change, diff, freeze
from keepset.errors import UsageError
from keepset.plan.blobs import Blobs
from keepset.plan.digests import step_digest
from keepset.plan.large import Large
from keepset.plan.memory import NEVER, FieldMemory, remember_absence
from keepset.plan.packing import NO_PACKS, is_full, pack_segments
from keepset.plan.replay import History, Moment, Replay
from keepset.plan.requests import Flow
from keepset.plan.rows import BlobRow, SegmentRow, StepRow, WriteRow
from keepset.plan.steps import Difference, TailStep, join_changes, remembered
from keepset.plan.writes import Rewritten
from keepset.verdict.status import Status


class Keeps(Protocol):
    """Decides which checkpoints of a line stay."""

    def keeps(self, headers: Sequence[StepRow]) -> set[int]:
        """The seqs of a line that stay; a line that keeps none goes."""
        ...


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
        if not given or any(type(number) is not int or number < 1 for number in given):
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
        stay: Digests of the large values that stay.
        blobs: Large values that were not stored as such before.
        restored: The pending writes of bundles, which all go, and those that lie in later steps,
            with line and seq.
    """

    pruned: Pruned
    lines: tuple[Rewritten, ...]
    stay: tuple[bytes, ...]
    blobs: tuple[BlobRow, ...]
    restored: tuple[tuple[int, int, WriteRow], ...]


class _Writer:
    """Writes one line anew, from the moments that stay; its first step holds all fields whole."""

    def __init__(self, codec: Codec, large: Large, parent: str, *, compressed: bool) -> None:
        self._codec = codec
        self._large = large
        self._compressed = compressed
        self._fields: dict[str, FieldMemory] = {}
        self._dirty: set[str] = set()
        self._parent = parent
        self._tail: list[TailStep] = []
        self._steps: list[StepRow] = []
        self._segments: dict[tuple[str, int], SegmentRow] = {}
        self._packs = NO_PACKS
        self._seqs: list[int] = []

    def see(self, moment: Moment, *, keep: bool) -> None:
        """Take note of what a step changed, and write it if it stays."""
        self._dirty |= moment.changed if self._seqs else moment.values.keys()
        if not keep:
            return
        seq = moment.header.seq
        changes: dict[str, Difference] = {}
        for name in sorted(self._dirty):
            previous = self._fields.get(name, NEVER).last
            change = self._change(name, moment.values, seq)
            if change:
                changes[name] = Difference(change.op, self._fields[name].base, previous)
        self._dirty.clear()
        self._append(moment.header, changes)

    def _change(self, name: str, values: Mapping[str, Any], seq: int) -> Change | None:
        before = self._fields.get(name, NEVER)
        old = before.stored.frozen if before.stored else None
        if name not in values:
            if old is None:
                return None
            self._fields[name] = remember_absence(seq)
            return ABSENT
        new = freeze(values[name], self._codec.pack)
        change = diff(old, new, move=self._large.move)
        if change is None:
            return None
        self._fields[name], change = before.after(new, new, change, seq, self._large)
        return change

    def _append(self, header: StepRow, changes: Mapping[str, Difference]) -> None:
        stops = header.status != Status.RUNNING
        packed = join_changes(header.seq, changes, compressed=self._compressed, stops=stops)
        row = header._replace(parent=self._parent, changes=packed)
        row = row._replace(digest=step_digest(row))
        if is_full(self._tail, stops=stops):
            segments, self._packs = pack_segments(
                self._tail, self._packs, compressed=self._compressed
            )
            self._segments |= {(segment.field, segment.first): segment for segment in segments}
            self._tail, self._steps = [], []
        self._tail.append(remembered(row, changes))
        self._steps.append(row)
        self._seqs.append(row.seq)
        self._parent = row.checkpoint

    def finish(self, history: History, *, orphan: bool) -> Rewritten:
        """Give the line as it is from now on."""
        line = replace(history.past.line, depth=0)
        if orphan:
            line = replace(line, parent=None)
        segments = tuple(self._segments.values())
        return Rewritten(line, tuple(self._seqs), tuple(self._steps), segments)


def prune(
    replay: Replay, policy: Keeps, blobs: Blobs, codec: Codec, *, compressed: bool
) -> Flow[Shorter]:
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
    restored: list[tuple[int, int, WriteRow]] = []
    large = Large(codec, replay.stored, compressed=compressed)
    removed = 0
    yield from blobs.fetch_all(replay.refs())
    for history in replay.histories:
        line = history.past.line
        stays = policy.keeps(history.headers)
        stays |= {row.seq for row in history.headers if (line.id, row.seq) in pinned}
        kept[line.id] = stays
        large.refs |= replay.written(line.id, stays)
        removed += len(history.headers) - len(stays)
        orphan = line.parent is not None and line.parent_seq not in kept.get(line.parent, ())
        first = history.headers[0].parent if history.headers and line.parent else ""
        writer = _Writer(codec, large, "" if orphan else first, compressed=compressed)
        moments = replay.walk(history, blobs)
        for header in history.headers:
            yield from blobs.fetch(history.refs_at(header.seq))
            moment = next(moments)
            writer.see(moment, keep=moment.header.seq in stays)
            restored += [
                (line.id, seq, row) for seq, row in replay.bundled(line.id, moment) if seq in stays
            ]
        next(moments, None)
        if stays or not history.headers:
            lines.append(writer.finish(history, orphan=orphan))
    counted = Pruned(removed, sum(map(len, kept.values())))
    added = tuple(large.rows.values())
    return Shorter(counted, tuple(lines), tuple(sorted(large.refs)), added, tuple(restored))
