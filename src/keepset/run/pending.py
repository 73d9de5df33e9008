"""Pending writes: what tasks wrote after a checkpoint and before the next one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keepset.codec import Codec
from keepset.contracts import Field
from keepset.delta import LARGE
from keepset.errors import UsageError
from keepset.plan.large import MOVED, Large, moved
from keepset.plan.packing import check_write, write_digest
from keepset.plan.reads import ReadBlobs, ReadWrites
from keepset.plan.rebuild import Blobs
from keepset.plan.record import undeclared
from keepset.plan.requests import Flow
from keepset.plan.rows import WriteRow
from keepset.plan.writes import PutWrites
from keepset.run.core import RunCore


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """One pending write.

    Attributes:
        task: Id of the task that wrote it.
        path: The task's path, by which writes are ordered first.
        index: Position among the task's writes.
        channel: The field or the host's channel.
        value: What was written.
    """

    task: str
    path: str
    index: int
    channel: str
    value: Any


@dataclass(frozen=True, slots=True)
class Batch:
    """What one task wrote.

    Attributes:
        task: Id of the task.
        writes: Pairs of field (or channel) and value.
        path: The task's path.
        replace: Whether what is there of the same task and position is replaced.
    """

    task: str
    writes: Sequence[tuple[str, Any]]
    path: str = ""
    replace: bool = False

    def checked(self) -> Sequence[tuple[str, Any]]:
        """Give the writes.

        Raises:
            UsageError: They are not pairs of a name and a value.
        """
        names = [self.task, self.path]
        try:
            names += [name for name, _ in self.writes]
        except (TypeError, ValueError):
            names.append("")
        if not all(type(name) is str for name in names) or "" in names[2:]:
            raise UsageError(
                "pending writes are not pairs of a name and a value, with a text for the task",
                code="run.writes",
                hint='Write run.put_writes(checkpoint, "task-1", [("answer", "42")]).',
            )
        return self.writes


def put_writes(core: RunCore, checkpoint: str, batch: Batch) -> Flow[None]:
    """Store what a task wrote.

    Every value goes through the rule of its field and through the detectors; one whose field is
    not stored is left out.

    Raises:
        PolicyError: A value cannot be stored or does not belong; nothing is changed.
        NotFoundError: The run has no such checkpoint.
        ConflictError: Another writer was first.
        UsageError: The writes are not pairs of a name and a value.
    """
    core.services.may_write()
    with core.alone():
        yield from core.load()
        core.entering.learn({})
        with core.masked():
            large = Large(core.codec, (), compressed=core.services.compressed)
            rows = tuple(_rows(core, batch, large))

        def attempt() -> Flow[None]:
            line, seq = yield from core.place(checkpoint)
            fence = yield from core.claim()
            yield PutWrites(fence, line, seq, rows, tuple(large.rows.values()))

        yield from core.again(attempt)


def _rows(core: RunCore, batch: Batch, large: Large) -> Iterator[WriteRow]:
    told = core.services.scanner.text
    for index, (channel, given) in enumerate(batch.checked()):
        spec = core.contract.fields.get(channel) or undeclared(told(channel))
        if not spec.rule.stored:
            continue
        value = given
        if channel in core.contract.fields:
            value = core.contract.admit({channel: given})[channel]
        packed = _packed(core, spec, value)
        if len(packed) > LARGE:
            packed = MOVED + large.move(packed)
        row = WriteRow(
            told(batch.task), told(batch.path), index, told(channel), packed, replace=batch.replace
        )
        yield replace(row, digest=write_digest(row))


def _packed(core: RunCore, spec: Field, value: Any) -> bytes:
    where = (spec.name,)
    findings = core.guard.look(spec, value, where)
    put: Mapping[Any, Any] = core.guard.decide(spec, value, where, findings)
    core.report.add("pending writes", findings)
    packed = core.codec.pack(value, where, substitute=put or None)
    core.report.add("pending writes", core.guard.weigh(spec, len(packed)))
    return packed


def read_writes(core: RunCore, checkpoint: str) -> Flow[list[PendingWrite]]:
    """Read the pending writes of a checkpoint, ordered by (path, task, index).

    Raises:
        NotFoundError: The run has no such checkpoint.
    """
    line, seq = yield from core.place(checkpoint)
    rows: Sequence[WriteRow] = yield ReadWrites(line, seq)
    refs = {ref.digest: ref.size for row in rows for ref in moved(row, core.codec)}
    blobs = Blobs((), core.codec)
    if refs:
        run = yield from core.reader.row()
        blobs = Blobs((yield ReadBlobs(run.id, tuple(sorted(refs)))), core.codec, refs)
    return [_pending(row, core.codec, blobs) for row in rows]


def _pending(row: WriteRow, codec: Codec, blobs: Mapping[bytes, Any]) -> PendingWrite:
    check_write(row)
    refs = moved(row, codec)
    value = blobs[refs[0].digest] if refs else codec.unpack(row.value)
    return PendingWrite(row.task, row.path, row.index, row.channel, value)
