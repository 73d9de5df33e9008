"""Walk through a run's whole history, step by step, as `verify` and a rewrite need it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from keepset.codec import BlobRef, Codec
from keepset.delta import MISSING, apply, blob_refs, freeze, stands_alone
from keepset.delta import Frozen as Picture
from keepset.errors import IntegrityError
from keepset.plan.bundled import Link as WriteLink
from keepset.plan.bundled import broken, each_write, link_of
from keepset.plan.columns import read_column
from keepset.plan.digests import check_write, write_digest
from keepset.plan.headers import all_headers, packed_beside
from keepset.plan.large import moved
from keepset.plan.reads import Everything
from keepset.plan.rows import HEADER, Past, StepRow, WriteRow
from keepset.plan.steps import split_changes


class Link(NamedTuple):
    """A difference, and the seq of its field's difference before it (0 for none)."""

    previous: int
    op: Any


@dataclass(frozen=True, slots=True)
class History:
    """One line's history, unpacked.

    Attributes:
        past: The stored rows.
        headers: The steps' headers, in order of seq.
        changes: For each seq the differences by field.
    """

    past: Past
    headers: tuple[StepRow, ...]
    changes: Mapping[int, Mapping[str, Link]]

    def head(self) -> tuple[int, int]:
        """The line's number and the seq of its newest checkpoint; 0 where it has none."""
        return self.past.line.id, self.headers[-1].seq if self.headers else 0

    def refs(self) -> dict[bytes, int]:
        """The large values that the history refers to: size by digest."""
        return {digest: size for seq in self.changes for digest, size in self.refs_at(seq).items()}

    def refs_at(self, seq: int) -> dict[bytes, int]:
        """The large values that one step refers to: size by digest."""
        links = self.changes[seq].values()
        return {ref.digest: ref.size for link in links for ref in blob_refs(link.op)}


def read_history(past: Past, codec: Codec) -> History:
    """Unpack all rows of a line.

    Raises:
        IntegrityError: A row is not what its digest says, or rows are missing or twice there.
        DecodeError: The codec cannot read a value.
    """
    headers = all_headers(past.steps, past.segments)
    changes: dict[int, dict[str, Link]] = {row.seq: {} for row in headers}
    if len(changes) != len(headers):
        raise _misplaced(past, "a step is stored twice")
    for before, after in pairwise(headers):
        if after.parent != before.checkpoint:
            raise _misplaced(past, f"a step before step {after.seq} is missing")
    for name, rows in groupby(past.segments, attrgetter("field")):
        if name != HEADER:
            for segment in read_column(tuple(rows), codec):
                previous = segment.previous
                for seq, op in zip(segment.seqs, segment.ops, strict=True):
                    _put(past, changes, seq, name, Link(previous, op))
                    previous = seq
    for step in past.steps:
        for name, (previous, packed) in split_changes(step).items():
            _put(past, changes, step.seq, name, Link(previous, codec.unpack(packed)))
    _require_changes(past, changes)
    return History(past, tuple(headers), changes)


def _require_changes(past: Past, changes: Mapping[int, Mapping[str, Link]]) -> None:
    """Compare the differences that are there with the last ones that packed headers name."""
    for segment in past.segments:
        if segment.field == HEADER:
            for name, seq in packed_beside(segment).items():
                if name not in changes.get(seq, ()):
                    raise _misplaced(past, f"a segment of field {name} is missing")


def _put(
    past: Past, changes: Mapping[int, dict[str, Link]], seq: int, name: str, link: Link
) -> None:
    step = changes.get(seq)
    if step is None or name in step or type(link.op) is not list or not link.op:
        raise _misplaced(past, f"a difference of field {name} belongs to no step")
    step[name] = link


def _misplaced(past: Past, what: str) -> IntegrityError:
    return IntegrityError(
        f"line {past.line.branch} of namespace '{past.line.namespace}': {what}",
        code="integrity.history",
        hint="The run cannot be trusted: restore it from a backup.",
    )


@dataclass(frozen=True, slots=True)
class Moment:
    """The state right after a step.

    Attributes:
        header: The step's header.
        values: The stored values by field. They change as the walk goes on: freeze what you keep.
        changed: The fields that the step changed.
    """

    header: StepRow
    values: Mapping[str, Any]
    changed: frozenset[str]


class Replay:
    """Walks through all lines of a run, each after the line that it was forked from.

    Attributes:
        histories: The lines, in this order.
        stored: Digests of all large values of the run, and of their parts.
    """

    def __init__(self, everything: Everything, codec: Codec) -> None:
        """Unpack every row.

        Raises:
            IntegrityError: A row is damaged.
            DecodeError: The codec cannot read a value.
        """
        self._codec = codec
        self.stored = frozenset(everything.blobs)
        self.histories = tuple(read_history(past, codec) for past in everything.lines)
        self._written, self._bundled = _read_writes(everything, self.histories, codec)
        self._forks: dict[tuple[int, int], _ForkPoint] = {}
        self._wanted = {
            (past.line.parent, past.line.parent_seq)
            for past in everything.lines
            if past.line.parent is not None
        }

    def refs(self) -> dict[bytes, int]:
        """The large values that the run refers to: size by digest."""
        found = {ref.digest: ref.size for ref in self._written.values()}
        for history in self.histories:
            found |= history.refs()
        return found

    def written(self, line: int, seqs: Collection[int]) -> set[bytes]:
        """Digests of the large values that pending writes of some checkpoints refer to."""
        return {
            ref.digest
            for (own, seq, _), ref in self._written.items()
            if own == line and seq in seqs
        }

    def bundled(self, line: int, moment: Moment) -> Iterator[tuple[int, WriteRow]]:
        """The writes of bundles and with links that a step gives the last of: seq, and whole row.

        Raises:
            IntegrityError: A value is not there.
        """
        for seq, row, link, inside in self._bundled.get((line, moment.header.seq), ()):
            whole = replace(row, replace=not inside or row.index >= 0)
            if link is not None:
                value = link.of(moment.values, row.channel)
                whole = replace(whole, value=self._codec.pack(value))
            yield seq, replace(whole, digest=write_digest(whole))

    def walk(self, history: History, blobs: Mapping[bytes, Any]) -> Iterator[Moment]:
        """Apply a line's differences one step after the other.

        Call it for the histories in their order, each to its end. Before a step is asked for, the
        large values that `History.refs_at` names have to be in `blobs`.

        Raises:
            IntegrityError: A difference does not fit the value that it stands on.
        """
        line = history.past.line
        values, last = self._start(history)
        for header in history.headers:
            changes = history.changes[header.seq]
            for name, (previous, op) in changes.items():
                fresh = stands_alone(op)
                if not fresh and last.get(name, 0) != previous:
                    raise _misplaced(history.past, f"a difference of field {name} is missing")
                last[name] = header.seq
                value = apply(MISSING if fresh else values.get(name, MISSING), op, blobs)
                if value is MISSING:
                    values.pop(name, None)
                else:
                    values[name] = value
            yield Moment(header, values, frozenset(changes))
            if (line.id, header.seq) in self._wanted:
                pictures = {name: freeze(value, self._codec.pack) for name, value in values.items()}
                self._forks[line.id, header.seq] = _ForkPoint(pictures, dict(last))

    def _start(self, history: History) -> tuple[dict[str, Any], dict[str, int]]:
        line = history.past.line
        if line.parent is None or line.depth == 0:
            return {}, {}
        point = self._forks.get((line.parent, line.parent_seq))
        if point is None:
            raise _misplaced(history.past, "the step that it was forked from is gone")
        values = {name: self._codec.unpack(p.packed()) for name, p in point.pictures.items()}
        return values, dict(point.last)


def _read_writes(
    everything: Everything, histories: Sequence[History], codec: Codec
) -> tuple[dict[tuple[int, int, int], BlobRef], dict[tuple[int, int], list[_Bundled]]]:
    """Check all pending writes.

    Returns:
        The large values among them, by line, seq and position; and those in bundles or with links,
        by line and the seq at which their values are known.

    Raises:
        IntegrityError: A write is not what its digest says, or belongs to no checkpoint.
    """
    there = {
        (history.past.line.id, row.seq): history for history in histories for row in history.headers
    }
    refs: dict[tuple[int, int, int], BlobRef] = {}
    bundled: dict[tuple[int, int], list[_Bundled]] = {}
    writes = tuple(each_write(everything.writes))
    held = {(line, seq, row.task, row.index) for line, seq, row, inside in writes if inside}
    for position, (line, seq, write, inside) in enumerate(writes):
        history = there.get((line, seq))
        if history is None:
            raise _misplaced(histories[0].past, "a pending write belongs to no checkpoint")
        check_write(write)
        link = link_of(write)
        until = seq + link.gap if link else seq
        if (line, until) not in there:
            raise broken()
        late = write.index >= 0 and (line, seq, write.task, write.index) in held
        if inside or (link and not late):  # see `writes_at`
            bundled.setdefault((line, until), []).append(_Bundled(seq, write, link, inside))
        for ref in moved(write, codec) if link is None else ():
            refs[line, seq, position] = ref
    return refs, bundled


class _Bundled(NamedTuple):
    """A pending write that is to be made whole, its checkpoint's seq, whether it is in a bundle."""

    seq: int
    row: WriteRow
    link: WriteLink | None
    inside: bool


class _ForkPoint(NamedTuple):
    """A state that a line was forked from: its values, and where each field changed last."""

    pictures: dict[str, Picture]
    last: dict[str, int]
