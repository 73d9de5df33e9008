"""From a state to the plan of a save: what changed, what of it may be stored, in what form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from keepset.contracts import Contract, Field, Keep
from keepset.delta import ABSENT, Change
from keepset.plan.digests import digest_of_step
from keepset.plan.memory import NEVER, FieldMemory, LineMemory, remember_absence
from keepset.plan.packing import is_full, pack_segments
from keepset.plan.pictured import shown
from keepset.plan.recorder import Recorder
from keepset.plan.rows import BlobRow, SegmentRow, StepRow
from keepset.plan.steps import Difference, TailStep, join_changes, remembered
from keepset.scan import Finding
from keepset.verdict.status import Status

LARGE_CONTENT = 4096
"""From this many bytes on, a field that is written whole may be content beside its ids."""


class Header(NamedTuple):
    """What a step is called, without its place on the line."""

    checkpoint: str
    name: str
    status: str
    at: int
    metadata: bytes = b""


class Recorded(NamedTuple):
    """A save that is ready to be stored.

    Attributes:
        step: The step.
        segments: Segments of the steps before it, where it is time to pack them.
        packed: Seq of the last step that the segments hold; 0 for none.
        blobs: Large values that the writer does not know to be stored.
        memory: The writer's memory once the save has landed.
        findings: What the detectors found in what changed.
    """

    step: StepRow
    segments: tuple[SegmentRow, ...]
    packed: int
    blobs: tuple[BlobRow, ...]
    memory: LineMemory
    findings: tuple[Finding, ...]


def record_nothing(header: Header, recorder: Recorder) -> Recorded:
    """Make a save of a step that changed nothing, for the sake of its header."""
    return _lay(recorder, {}, recorder.memory.fields, header)


def record(
    contract: Contract, values: Mapping[str, Any], header: Header, recorder: Recorder
) -> Recorded:
    """Make a save of the values that a contract says are stored.

    Args:
        contract: The contract.
        values: The values to store by field, with rules applied; a pinned digest lies under the
            name that `pin_name` gives. A field that is not here is absent.
        header: What the step is called.
        recorder: A fresh recorder with the writer's memory of the line.

    Raises:
        PolicyError: A value cannot be stored or does not belong; nothing is changed.
    """
    memory = recorder.memory
    changes: dict[str, Change] = {}
    fields = dict(memory.fields)
    for name, value in values.items():
        spec = contract.fields.get(name) or undeclared(name)
        fields[name], change = recorder.record(spec, value)
        if change:
            changes[name] = change
    if any([change.is_whole and change.size >= LARGE_CONTENT for change in changes.values()]):  # noqa: C419 - a generator takes twice the time
        known = {n: shown(value) for n, value in values.items() if n in contract.fields}
        recorder.findings += recorder.guard.across(contract, known)
    seq = memory.seq + 1
    for name in () if memory.fields.keys() <= values.keys() else memory.fields:
        if name not in values and (memory.fields[name].stored is not None or memory.whole):
            changes[name] = ABSENT
            fields[name] = remember_absence(seq)
    return _lay(recorder, changes, fields, header)


@lru_cache(maxsize=1024)
def undeclared(name: str) -> Field:
    """A field outside the contract: a host's channel, or what keepset itself stores of one."""
    return Field(name, object, Keep(), declared=True, required=False)


def _lay(
    recorder: Recorder,
    changes: Mapping[str, Change],
    fields: Mapping[str, FieldMemory],
    header: Header,
) -> Recorded:
    memory = recorder.memory
    differences = {
        name: Difference(change.op, fields[name].base, memory.fields.get(name, NEVER).last)
        for name, change in changes.items()
    }
    seq = memory.seq + 1
    head = (seq, header.checkpoint, memory.checkpoint, header.name, header.status, header.at)
    stops = header.status != Status.RUNNING
    joined = join_changes(seq, differences, compressed=recorder.compressed, stops=stops)
    digest = digest_of_step(head, header.metadata, joined)
    step = StepRow(*head, header.metadata, joined, digest)
    bare = StepRow(*head, header.metadata, b"", digest)
    segments, memory = _packed(memory, stops=stops, compressed=recorder.compressed)
    until = recorder.memory.tail[-1].row.seq if segments else 0
    fresh, large = remembered(bare, differences), recorder.large
    after = LineMemory(
        memory.line,
        seq,
        seq,
        header.checkpoint,
        fields,
        (*memory.tail, fresh),
        memory.packs,
        blobs=memory.blobs | large.refs if large.refs else memory.blobs,
        weight=_heavier(memory, fields, fresh),
    )
    if after.weight is None:
        after = after._replace(weight=after.size)
    blobs = tuple(large.rows.values()) if large.rows else ()
    return Recorded(step, segments, until, blobs, after, tuple(recorder.findings))


def _heavier(before: LineMemory, fields: Mapping[str, FieldMemory], fresh: TailStep) -> int | None:
    """Add what a step has changed to the weight of a memory; None where all is to be added up."""
    if before.weight is None:
        return None
    weight = before.weight + fresh.memory
    for name in fresh.changes:
        known = before.fields.get(name)
        weight += fields[name].size - (known.size if known else 0)
    return weight


def _packed(
    memory: LineMemory, *, stops: bool, compressed: bool
) -> tuple[tuple[SegmentRow, ...], LineMemory]:
    """Pack the unpacked steps where it is time: the segments, and what is then remembered."""
    if not is_full(memory.tail, stops=stops):
        return (), memory
    segments, packs = pack_segments(memory.tail, memory.packs, compressed=compressed)
    return segments, memory._replace(tail=(), packs=packs, weight=None)
