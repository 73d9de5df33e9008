"""From stored rows to the values of a state, and to what a writer needs to remember of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from keepset.codec import Codec
from keepset.delta import MISSING, apply, blob_refs, freeze, stands_alone
from keepset.errors import IntegrityError
from keepset.plan.columns import FieldColumn, read_column
from keepset.plan.headers import unpack_headers
from keepset.plan.memory import FieldMemory, LineMemory
from keepset.plan.packing import NO_PACKS, Packs
from keepset.plan.reads import Loaded
from keepset.plan.rows import BlobRow, LineRow, Past, StepRow
from keepset.plan.steps import Difference, TailStep, remembered, split_changes, unframe


@dataclass(frozen=True, slots=True)
class Chain:
    """One field's differences, from the last whole value on.

    Attributes:
        base: Seq of the whole value.
        last: Seq of the last difference.
        ops: The differences, unpacked; the first is the whole value or the field's absence.
        size: Bytes that they take, packed.
    """

    base: int
    last: int
    ops: tuple[list[Any], ...]
    size: int


@dataclass(frozen=True, slots=True)
class Chains:
    """All fields' chains at a position; the unpacked steps of the line itself, and its segments."""

    fields: Mapping[str, Chain]
    tail: tuple[TailStep, ...]
    packs: Packs = NO_PACKS

    def refs(self) -> dict[bytes, int]:
        """The large values that the chains refer to: size by digest."""
        ops = (op for chain in self.fields.values() for op in chain.ops)
        return {ref.digest: ref.size for op in ops for ref in blob_refs(op)}


@dataclass(slots=True)
class _Column:
    """A field's differences as they are gathered: bases as they come by, ops from the last base."""

    name: str
    base: int = 0
    last: int = 0
    ops: list[list[Any]] = field(default_factory=list)
    size: int = 0

    def add(self, seq: int, previous: int, op: object, size: int) -> None:
        if type(op) is not list or not op:
            raise _broken(self.name)
        if stands_alone(op):
            self.base, self.ops, self.size = seq, [], 0
        elif self.ops and previous != self.last:
            raise _broken(self.name)
        self.last = seq
        self.ops.append(op)
        self.size += size


def gather(loaded: Loaded, codec: Codec) -> Chains:
    """Put together what was loaded, oldest line first.

    Raises:
        IntegrityError: A row is damaged, or a difference has no whole value to stand on.
        DecodeError: The codec cannot read a value.
    """
    columns: dict[str, _Column] = {}
    tail: tuple[TailStep, ...] = ()
    packs = NO_PACKS
    for past, until in reversed(_bounded(loaded)):
        groups = {}
        for name, rows in groupby(past.segments, attrgetter("field")):
            read = read_column(tuple(rows), codec)
            groups[name] = read.group
            _add_segments(_column(columns, name), read, until)
        packs = Packs(None, groups)
        tail = tuple(_tail_step(step, columns, codec) for step in past.steps)
    for name, column in columns.items():
        if not column.ops or not stands_alone(column.ops[0]):
            raise _broken(name)
    chains = {name: Chain(c.base, c.last, tuple(c.ops), c.size) for name, c in columns.items()}
    return Chains(chains, tail, packs)


def _bounded(loaded: Loaded) -> list[tuple[Past, int]]:
    """Give each line's rows with the last seq that belongs to the position."""
    bounded: list[tuple[Past, int]] = []
    until = loaded.seq
    for past in loaded.pasts:
        bounded.append((past, until))
        until = min(until, past.line.parent_seq)
    return bounded


def _column(columns: dict[str, _Column], name: str) -> _Column:
    column = columns.get(name)
    if column is None:
        column = columns[name] = _Column(name)
    return column


def _add_segments(column: _Column, read: FieldColumn, until: int) -> None:
    for segment in read.segments:
        previous = segment.previous
        for seq, op in segment.pairs:
            if seq > until:  # a segment may reach beyond the position
                return
            column.add(seq, previous, op, segment.each)
            previous = seq


def _tail_step(step: StepRow, columns: dict[str, _Column], codec: Codec) -> TailStep:
    changes: dict[str, Difference] = {}
    for name, (previous, packed) in split_changes(step).items():
        column = _column(columns, name)
        column.add(step.seq, previous, codec.unpack(packed), len(packed))
        changes[name] = Difference(packed, column.base, previous)
    return remembered(step, changes)


def _broken(name: str) -> IntegrityError:
    return IntegrityError(
        f"the differences of field {name} do not stand on a whole value",
        code="integrity.chain",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )


class Blobs(Mapping[bytes, Any]):
    """Large values by digest; each look-up unpacks a value of its own, so that none is shared."""

    def __init__(
        self, rows: Sequence[BlobRow], codec: Codec, sizes: Mapping[bytes, int] | None = None
    ) -> None:
        """Check every value against its digest.

        Args:
            rows: The values as they are stored.
            codec: Unpacks them.
            sizes: Bytes of the packed values, as those who refer to them know.

        Raises:
            IntegrityError: A value is not what its digest says.
        """
        self._codec = codec
        known = sizes or {}
        self._packed = {row.digest: _open(row, known.get(row.digest, row.size)) for row in rows}

    def __getitem__(self, digest: bytes) -> Any:
        return self._codec.unpack(self._packed[digest])

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def _open(row: BlobRow, size: int) -> bytes:
    packed = unframe(row.data, max(size, 1))
    if hashlib.sha256(packed).digest() != row.digest:
        raise IntegrityError(
            f"the large value {row.digest.hex()[:16]} is not what was written",
            code="integrity.digest",
            hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
        )
    return packed


def rebuild(chains: Chains, blobs: Mapping[bytes, Any]) -> dict[str, Any]:
    """Apply every chain: the stored values by field; a field that is absent is not in it."""
    values: dict[str, Any] = {}
    for name, chain in chains.fields.items():
        value: Any = MISSING
        for op in chain.ops:
            value = apply(value, op, blobs)
        if value is not MISSING:
            values[name] = value
    return values


def header_at(loaded: Loaded) -> StepRow | None:
    """The header of the step at the position, packed or not; None where there is none."""
    if loaded.header is not None or loaded.headers is None:
        return loaded.header
    packed = unpack_headers(loaded.headers)
    return next((row for row in packed if row.seq == loaded.seq), None)


def remember(loaded: Loaded, chains: Chains, values: Mapping[str, Any], codec: Codec) -> LineMemory:
    """Make a writer's memory of the line that was loaded, before anybody can change the values.

    Args:
        loaded: What was loaded, at the newest checkpoint of a line or at a fork point.
        chains: Its chains.
        values: The values that the chains gave.
        codec: The codec that a save will use.
    """
    fields: dict[str, FieldMemory] = {}
    for name, chain in chains.fields.items():
        frozen = freeze(values[name], codec.pack) if name in values else None
        fields[name] = FieldMemory(frozen, frozen, chain.base, chain.last, chain.size)
    line, header = loaded.line, header_at(loaded)
    fresh = line is None or loaded.seq <= line.parent_seq
    return LineMemory(
        line=line.id if line else None,
        seq=loaded.seq,
        head=0 if fresh else loaded.seq,
        checkpoint=header.checkpoint if header else "",
        fields=fields,
        tail=() if fresh else chains.tail,
        packs=NO_PACKS if fresh else chains.packs,
        whole=fresh and line is not None and line.parent is not None and line.depth == 0,
        blobs=frozenset(chains.refs()),
    )


def branch_off(memory: LineMemory, line: LineRow) -> LineMemory:
    """Take a writer's memory of a fork point over to the new line."""
    return replace(memory, line=line.id, head=0, tail=(), packs=NO_PACKS, whole=line.depth == 0)
