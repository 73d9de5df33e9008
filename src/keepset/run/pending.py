"""Pending writes: what tasks wrote after a checkpoint and before the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepset.codec import Codec
from keepset.contracts import Field
from keepset.plan.project import STORED
from keepset.plan.reads import ReadWrites
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


def put_writes(
    core: RunCore, checkpoint: str, task: str, writes: Sequence[tuple[str, Any]], path: str
) -> Flow[None]:
    """Store what a task wrote; what is there already of the same task and index stays.

    Every value goes through the rule of its field and through the detectors; one whose field is
    not stored is left out.

    Raises:
        PolicyError: A value cannot be stored or does not belong; nothing is changed.
        NotFoundError: The run has no such checkpoint.
        ConflictError: Another writer was first.
    """
    core.services.may_write()
    with core.alone():
        yield from core.load()
        rows = tuple(_rows(core, task, writes, path))
        line, row = yield from core.reader.find(checkpoint)
        hold = yield from core.claim()
        yield PutWrites(hold, line.id, row.seq, rows)


def _rows(core: RunCore, task: str, writes: Sequence[tuple[str, Any]], path: str) -> list[WriteRow]:
    rows = []
    for index, (channel, given) in enumerate(writes):
        spec = core.contract.fields.get(channel) or undeclared(channel)
        if not isinstance(spec.rule, STORED):
            continue
        value = given
        if channel in core.contract.fields:
            value = core.contract.admit({channel: given})[channel]
        packed = _packed(core, spec, value)
        rows.append(WriteRow(task, path, index, channel, packed))
    return rows


def _packed(core: RunCore, spec: Field, value: Any) -> bytes:
    where = (spec.name,)
    findings = core.guard.look(spec, value, where)
    put: Mapping[Any, Any] = core.guard.decide(spec, value, where, findings)
    core.report("pending writes", findings)
    return core.codec.pack(value, where, substitute=put or None)


def read_writes(core: RunCore, checkpoint: str) -> Flow[list[PendingWrite]]:
    """Read the pending writes of a checkpoint, ordered by (path, task, index).

    Raises:
        NotFoundError: The run has no such checkpoint.
    """
    line, row = yield from core.reader.find(checkpoint)
    rows: Sequence[WriteRow] = yield ReadWrites(line.id, row.seq)
    return [_pending(row, core.codec) for row in rows]


def _pending(row: WriteRow, codec: Codec) -> PendingWrite:
    return PendingWrite(row.task, row.path, row.index, row.channel, codec.unpack(row.value))
