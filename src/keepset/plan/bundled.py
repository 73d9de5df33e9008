"""Pending writes of packed steps: bundled in one row, and without what the steps hold anyway.

What a task writes is, most of the time, what the next step then holds: the items that it put at
the end of a list, or a field's whole value. Once that step is packed, the write need not hold the
value a second time: it says where it lies. And a row of its own costs a write more than what is
then left of it, so that those of the steps that are packed together share one. A pruning takes
bundles apart again, since the steps that it writes anew are others.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from keepset.codec import Codec
from keepset.delta import Frozen, Kind, brought_in
from keepset.errors import IntegrityError
from keepset.plan.digests import check_write, write_digest
from keepset.plan.rows import BUNDLE, WriteRow
from keepset.plan.steps import UNPACKED_LIMIT, TailStep, frame, unframe

LINKED = b"\xc1\xc1"
"""Begins a value that lies in a later step; no packed value begins like this."""

_SMALLEST = 48
"""A value of fewer bytes stays where it is: what says where another lies takes some ten."""

_UUID = 16
_PLAIN = Codec()


@dataclass(frozen=True, slots=True)
class Link:
    """Where a write's value lies.

    Attributes:
        gap: How many seqs later, on the same line, in the field of the write's channel.
        start: Index of the first item; -1 where it is the whole value.
        count: How many items; -1 where it is one item, not in a list.
    """

    gap: int
    start: int = -1
    count: int = -1

    def of(self, values: Mapping[str, Any], channel: str) -> Any:
        """Take the write's value out of the values of that later step.

        Raises:
            IntegrityError: It is not there.
        """
        value = values.get(channel)
        if self.start < 0 and channel in values:
            return value
        end = self.start + abs(self.count)
        if self.start < 0 or type(value) is not list or len(value) < end:
            raise broken()
        return value[self.start] if self.count < 0 else value[self.start : end]


def broken() -> IntegrityError:
    """Make the error for a write whose value is not where it should be."""
    return IntegrityError(
        "the step that holds the value of a pending write does not have it",
        code="integrity.write",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )


def link_of(row: WriteRow) -> Link | None:
    """Say where a write's value lies; None where the write itself holds it.

    Raises:
        IntegrityError: It begins like a link and is none.
        DecodeError: The same.
    """
    if row.value[:2] != LINKED:
        return None
    parts = _PLAIN.unpack(row.value[2:])
    if type(parts) is not list or not 0 < len(parts) <= len(fields(Link)):
        raise broken()
    if not all(type(part) is int for part in parts) or parts[0] < 1:
        raise broken()
    return Link(*parts)


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer remembers of the writes of one checkpoint: its seq, and the rows."""

    seq: int
    rows: tuple[WriteRow, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Pending writes that are to lie in one row.

    Attributes:
        seq: The newest checkpoint that has one of them; the row lies there.
        row: The row.
        taken: The rows that go, each with the seq of its checkpoint. Where one of them is stored
            otherwise by now, because another writer was there, all stay as they are.
    """

    seq: int
    row: WriteRow
    taken: tuple[tuple[int, WriteRow], ...]


def bundle(
    tail: Sequence[TailStep], written: Mapping[str, Written], *, compressed: bool
) -> Bundle | None:
    """Bundle the writes of the checkpoints whose successors are about to be packed.

    Args:
        tail: The steps that are packed, in order of seq.
        written: Pending writes of the same line, by the checkpoint that they belong to.
        compressed: Whether the bundle is compressed.
    """
    taken: list[tuple[int, WriteRow]] = []
    entries: list[list[Any]] = []
    for step in tail:
        before = written.get(step.row.parent)
        for row in before.rows if before else ():
            if before:
                taken.append((before.seq, row))
                entries.append(_entry(before.seq, row, step))
    if not entries:
        return None
    value = frame(_PLAIN.pack(entries), compressed=compressed)
    seq = max(seq for seq, _ in taken)
    made = WriteRow(task="", path="", index=BUNDLE, channel="", value=value)
    return Bundle(seq, replace(made, digest=write_digest(made)), tuple(taken))


def _entry(seq: int, row: WriteRow, step: TailStep) -> list[Any]:
    value = _linked(seq, row, step)
    return [seq, _short(row.task), row.path, row.index, row.channel, value]


def _linked(seq: int, row: WriteRow, step: TailStep) -> bytes:
    """Give the value of a write: where it lies in a later step, or else as it is."""
    change = step.changes.get(row.channel)
    place = _found(row.value, change.op) if change and len(row.value) >= _SMALLEST else None
    return row.value if place is None else LINKED + _PLAIN.pack([step.row.seq - seq, *place])


def linked(seq: int, rows: Sequence[WriteRow], step: TailStep) -> tuple[WriteRow, ...]:
    """Give writes that come late without what the step after them holds already.

    Args:
        seq: The checkpoint that they belong to.
        rows: The writes.
        step: The step that came of them, which is stored.
    """
    values = [_linked(seq, row, step) for row in rows]
    made = [replace(row, value=value) for row, value in zip(rows, values, strict=True)]
    return tuple(replace(row, digest=write_digest(row)) for row in made)


def _short(task: str) -> str | bytes:
    """Give the bytes of an id that is a UUID; they are fewer."""
    try:
        number = uuid.UUID(task)
    except ValueError:
        return task
    return number.bytes if str(number) == task else task


def unbundled(row: WriteRow, only: int | None = None) -> Iterator[tuple[int, WriteRow]]:
    """Take a bundle apart: the writes, each with the seq of its checkpoint.

    Args:
        row: The bundle.
        only: The seq of the checkpoint whose writes are asked for; None for all.

    Raises:
        IntegrityError: It is not what was written.
        DecodeError: The same.
    """
    check_write(row)
    entries = _PLAIN.unpack(unframe(row.value, UNPACKED_LIMIT))
    if type(entries) is not list:
        raise broken()
    for entry in entries:
        kinds = (int, str | bytes, str, int, str, bytes)
        if type(entry) is not list or len(entry) != len(kinds):
            raise broken()
        if not all(isinstance(part, kind) for part, kind in zip(entry, kinds, strict=True)):
            raise broken()
        seq, task, path, index, channel, value = entry
        if type(task) is bytes and len(task) != _UUID:
            raise broken()
        if only not in (None, seq):
            continue
        name = str(uuid.UUID(bytes=task)) if type(task) is bytes else task
        one = WriteRow(name, path, index, channel, value)
        yield seq, replace(one, digest=write_digest(one))


def each_write(
    rows: Iterable[tuple[int, int, WriteRow]],
) -> Iterator[tuple[int, int, WriteRow, bool]]:
    """Give all writes with line and seq, bundles taken apart, and whether they were in one."""
    for line, seq, row in rows:
        if row.index == BUNDLE:
            for at, one in unbundled(row):
                yield line, at, one, True
        else:
            yield line, seq, row, False


def writes_at(seq: int, rows: Iterable[WriteRow]) -> list[WriteRow]:
    """Give the writes of one checkpoint, of its own rows and of the bundle that it may be in.

    A row that is stored beside a bundle came later: where the bundle has one of the same task and
    position, that one stays, unless the position is negative; those are replaced.

    Args:
        seq: The checkpoint's seq.
        rows: Its rows, and bundles.
    """
    found: dict[tuple[str, int], WriteRow] = {}
    own = []
    for row in rows:
        if row.index != BUNDLE:
            own.append(row)
            continue
        found |= {(one.task, one.index): one for _, one in unbundled(row, seq)}
    for row in own:
        if row.index < 0 or (row.task, row.index) not in found:
            found[row.task, row.index] = row
    return sorted(found.values(), key=lambda row: (row.path, row.task, row.index))


def _found(value: bytes, op: bytes) -> tuple[int, ...] | None:
    """Say where in what an op brings in a packed value lies; None where it does not."""
    brought = brought_in(op)
    if brought is None:
        return None
    at, new = brought
    if at is None and new.data == value:
        return ()
    items = new.items() if new.kind is Kind.LIST else None
    if not items:
        return None
    packed, first = [bytes(item) for item in items], at or 0
    if value in packed:
        return (first + packed.index(value),)
    wanted = Frozen(value)
    parts = wanted.items() if wanted.kind is Kind.LIST else None
    for index in range(len(packed) - len(parts) + 1 if parts else 0):
        if parts and packed[index : index + len(parts)] == [bytes(part) for part in parts]:
            return first + index, len(parts)
    return None
