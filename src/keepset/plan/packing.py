"""When steps are packed, and into what: for each field its own segments, and one for the headers.

A step row holds the differences of all fields and is read with all that is in it; a segment holds
those of one field, so that a reader unpacks only what its state is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from keepset.plan.groups import Body, Group
from keepset.plan.headers import PackedHeaders
from keepset.plan.later import total
from keepset.plan.rows import SegmentRow
from keepset.plan.steps import Difference, TailStep

STEPS_PER_SEGMENT = 16
"""How many steps are packed together; the newest step is never packed. The pages of so many steps
are what a store keeps free."""

BYTES_PER_SEGMENT = 256 << 10
"""Steps are packed earlier where their differences take more than this."""

BYTES_AT_A_STOP = 512
"""Where a run stops, its steps are packed as soon as their differences take more than this: most
runs have fewer steps than a segment, and are done."""

STEPS_PER_HEADERS = 64
"""How many steps share a segment of headers."""


@dataclass(frozen=True, slots=True)
class Packs:
    """The newest segments of a line, as their writer remembers them.

    Attributes:
        headers: The newest segment of headers; None where the writer does not know it.
        groups: The newest group of each field.
        weight: Bytes of memory that they take, nearly; None where that may still change.
    """

    headers: PackedHeaders | None = None
    groups: Mapping[str, Group] = field(default_factory=dict)
    weight: int | None = None

    @property
    def memory(self) -> int:
        """Bytes of memory that they take, nearly."""
        if self.weight is not None:
            return self.weight
        headers = self.headers.memory if self.headers else 0
        return headers + total(self.groups, attrgetter("memory"))


NO_PACKS = Packs()
"""What the writer of a new line remembers."""


def is_full(tail: Sequence[TailStep], *, stops: bool = False) -> bool:
    """Tell whether it is time to pack the unpacked steps.

    Args:
        tail: The steps.
        stops: Whether the run is done, paused or failed with the step after them.
    """
    if len(tail) >= STEPS_PER_SEGMENT:
        return True
    return sum([step.size for step in tail]) > (BYTES_AT_A_STOP if stops else BYTES_PER_SEGMENT)


def pack_segments(
    tail: Sequence[TailStep], packs: Packs, *, compressed: bool
) -> tuple[tuple[SegmentRow, ...], Packs]:
    """Pack steps into the segments of the fields that changed in them, and of the headers.

    Args:
        tail: The steps, in order of seq; at least one.
        packs: The newest segments of their line.
        compressed: Whether the segments are zstd frames.

    Returns:
        The segments, and the newest segments after it. One with the field and first seq of a
        segment that is stored takes its place.
    """
    columns: dict[str, list[tuple[int, Difference]]] = {}
    for step in tail:
        for name, difference in step.changes.items():
            columns.setdefault(name, []).append((step.row.seq, difference))
    headers = _with_headers(packs.headers, tail, columns)
    groups = dict(packs.groups)
    segments = [headers.pack(compressed=compressed)]
    for name, column in columns.items():
        body = _body(column)
        known = groups.get(name)
        group = groups[name] = known.after(body) if known else Group.beginning(body)
        segments.append(group.pack(name, compressed=compressed))
    weight = headers.memory + sum([group.memory for group in groups.values()])
    return tuple(segments), Packs(headers, groups, weight)


def _body(column: Sequence[tuple[int, Difference]]) -> Body:
    first = column[0][1]
    ops = [difference.op for _, difference in column]
    return Body.of([seq for seq, _ in column], first.base, first.previous, *ops)


def _with_headers(
    known: PackedHeaders | None,
    tail: Sequence[TailStep],
    columns: Mapping[str, Sequence[tuple[int, Difference]]],
) -> PackedHeaders:
    """Put headers behind those that are packed, or in a segment of their own."""
    changed = {name: column[-1][0] for name, column in columns.items()}
    fresh = PackedHeaders.of([step.row for step in tail], changed)
    if known and len(known.rows) + len(tail) <= STEPS_PER_HEADERS:
        return known.with_more(fresh)
    return fresh
