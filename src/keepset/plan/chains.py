"""From stored rows to chains: of each field the differences that its value at a position needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

from keepset.codec import BlobRef, Codec, array_header
from keepset.delta import IN_PLACE, begins_alone, blob_refs, stands_alone
from keepset.errors import IntegrityError
from keepset.plan.columns import FieldSegment, OpenColumn
from keepset.plan.reads import Loaded
from keepset.plan.rows import Past, StepRow
from keepset.plan.steps import Difference, TailStep, remembered, split_changes

_code = itemgetter(0)


class Loose(NamedTuple):
    """The packed difference of an unpacked step, with its seq and that of the one before it."""

    seq: int
    previous: int
    op: bytes


Piece: TypeAlias = OpenColumn | Loose
"""Where differences lie."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One field's differences, from the last whole value on.

    Attributes:
        base: Seq of the whole value.
        last: Seq of the last difference.
        ops: The differences, unpacked; the first is the whole value or the field's absence.
        size: Bytes that they take, packed.
        plain: Whether they surely hold values of plain types alone.
        pieces: Where they lie, in order.
    """

    base: int
    last: int
    ops: Sequence[list[Any]]
    size: int
    plain: bool
    pieces: tuple[Piece, ...]

    def refs(self) -> dict[bytes, int]:
        """The large values that the chain refers to: size by digest."""
        return {ref.digest: ref.size for ref in self.each_ref()}

    def each_ref(self) -> list[BlobRef]:
        """Each reference to a large value, as often as there is one."""
        if self.plain:
            return []
        doubtful = [op for op in self.ops if op[0] not in IN_PLACE]
        return [ref for op in doubtful for ref in blob_refs(op)]


@dataclass(frozen=True, slots=True)
class Chains:
    """All fields' chains at a position.

    Attributes:
        fields: The chains.
        tail: The unpacked steps of the line itself.
        opened: The segments of the line itself that were loaded, by field.
        stored: Digests of the large values that were read for them, and of their parts.
    """

    fields: Mapping[str, Chain]
    tail: tuple[TailStep, ...]
    opened: Mapping[str, OpenColumn]
    stored: frozenset[bytes] = frozenset()

    def refs(self) -> dict[bytes, int]:
        """The large values that the chains refer to: size by digest."""
        return {digest: size for c in self.fields.values() for digest, size in c.refs().items()}

    def uses(self) -> Counter[bytes]:
        """How often each large value is looked up where all chains are applied."""
        return Counter(ref.digest for chain in self.fields.values() for ref in chain.each_ref())


@dataclass(slots=True)
class _Column:
    """A field's differences as they are gathered: bases as they come by, ops from the last base.

    Those of unpacked steps are kept packed until all are there, and then unpacked in one call.
    """

    name: str
    base: int = 0
    last: int = 0
    size: int = 0
    plain: bool = True
    ops: list[list[Any]] = field(default_factory=list)
    loose: list[bytes] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)

    def begin(self, seq: int) -> None:
        """Begin the chain anew at a whole value."""
        self.base, self.ops, self.loose, self.size, self.plain = seq, [], [], 0, True
        self.pieces = []

    def follow(self, seq: int, previous: int) -> None:
        """Require that a difference stands on the last one."""
        if (self.ops or self.loose) and previous != self.last:
            raise broken(self.name)
        self.last = seq

    def add(self, loose: Loose) -> None:
        """Add the difference of an unpacked step."""
        if begins_alone(loose.op):
            self.begin(loose.seq)
        self.follow(loose.seq, loose.previous)
        self.loose.append(loose.op)
        self.pieces.append(loose)
        self.size += len(loose.op)

    def extend(self, opened: OpenColumn, codec: Codec) -> None:
        """Add the differences in segments, from the last whole value on."""
        self.settle(codec)
        self.pieces.append(opened)
        for segment in opened.needed(codec):
            if segment.ops and self._add_segment(segment):
                self.pieces = [opened]

    def _add_segment(self, segment: FieldSegment) -> bool:
        """Add a segment's differences; tell whether a whole value was among them."""
        start = self._last_whole(segment.ops)
        if start is None:
            self.follow(segment.seqs[0], segment.previous)
        else:
            self.begin(segment.seqs[start])
        ops = segment.ops[start:] if start else segment.ops
        self.ops += ops
        self.last = segment.seqs[-1]
        self.size += segment.each * len(ops)
        self.plain = self.plain and segment.plain
        return start is not None

    def settle(self, codec: Codec) -> None:
        """Unpack what is still packed."""
        if self.loose:
            packed = b"".join((array_header(len(self.loose)), *self.loose))
            ops, plain = codec.unpack_noting(packed)
            self._last_whole(ops)
            self.ops += ops
            self.plain = self.plain and plain
            self.loose = []

    def chain(self, codec: Codec) -> Chain:
        """Give the chain.

        Raises:
            IntegrityError: It has no whole value to stand on.
        """
        self.settle(codec)
        if not self.ops or not stands_alone(self.ops[0]):
            raise broken(self.name)
        pieces = tuple(self.pieces)
        return Chain(self.base, self.last, self.ops, self.size, self.plain, pieces)

    def _last_whole(self, ops: Sequence[Any]) -> int | None:
        """Find the last difference that stands alone; all must look like differences."""
        if not {list}.issuperset(map(type, ops)) or not all(ops):
            raise broken(self.name)
        try:
            if IN_PLACE.issuperset(map(_code, ops)):
                return None
        except TypeError:
            raise broken(self.name) from None
        return next((at for at in reversed(range(len(ops))) if stands_alone(ops[at])), None)


def gather(loaded: Loaded, codec: Codec) -> Chains:
    """Put together what was loaded, oldest line first.

    Raises:
        IntegrityError: A row is damaged, or a difference has no whole value to stand on.
        DecodeError: The codec cannot read a value.
    """
    columns: dict[str, _Column] = {}
    tail: tuple[TailStep, ...] = ()
    opened: dict[str, OpenColumn] = {}
    for past, until in reversed(bounded(loaded)):
        opened = {}
        for name, rows in groupby(past.segments, attrgetter("field")):
            opened[name] = OpenColumn(tuple(rows), until)
            _column(columns, name).extend(opened[name], codec)
        tail = tuple(_tail_step(step, columns) for step in past.steps)
    chains = {name: column.chain(codec) for name, column in columns.items()}
    return Chains(chains, tail, opened)


def unpacked(name: str, pieces: Sequence[Piece], codec: Codec) -> list[list[Any]]:
    """Unpack the differences of a chain once more, where its ops were used."""
    column = _Column(name)
    for piece in pieces:
        if isinstance(piece, Loose):
            column.add(piece)
        else:
            column.extend(piece, codec)
    column.settle(codec)
    return column.ops


def bounded(loaded: Loaded) -> list[tuple[Past, int]]:
    """Give each line's rows with the last seq that belongs to the position, the newest first."""
    found: list[tuple[Past, int]] = []
    until = loaded.seq
    for past in loaded.pasts:
        found.append((past, until))
        until = min(until, past.line.parent_seq)
    return found


def _column(columns: dict[str, _Column], name: str) -> _Column:
    column = columns.get(name)
    if column is None:
        column = columns[name] = _Column(name)
    return column


def _tail_step(step: StepRow, columns: dict[str, _Column]) -> TailStep:
    return remembered(step, dict(_changes(step, columns)))


def _changes(step: StepRow, columns: dict[str, _Column]) -> Iterator[tuple[str, Difference]]:
    for name, (previous, packed) in split_changes(step).items():
        column = _column(columns, name)
        column.add(Loose(step.seq, previous, packed))
        yield name, Difference(packed, column.base, previous)


def broken(name: str) -> IntegrityError:
    """Make the error for differences that lead nowhere."""
    return IntegrityError(
        f"the differences of field {name} do not stand on a whole value",
        code="integrity.chain",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )
