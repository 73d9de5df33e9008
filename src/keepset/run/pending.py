"""Pending writes: what tasks wrote after a checkpoint and before the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from keepset.codec import Codec, Path
from keepset.contracts import Contract, Field
from keepset.delta import LARGE, Frozen
from keepset.errors import IntegrityError, NotFoundError, PolicyError, UsageError
from keepset.plan.blobs import Blobs
from keepset.plan.bundled import link_of, writes_at
from keepset.plan.digests import check_write, digest_of_write
from keepset.plan.guard import Guard
from keepset.plan.large import MOVED, Large, moved
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.pictured import Pictured, shown
from keepset.plan.reads import ReadWrites
from keepset.plan.record import undeclared
from keepset.plan.recorder import parts_of
from keepset.plan.requests import Flow
from keepset.plan.rows import BlobRow, WriteRow
from keepset.plan.writes import PutWrites
from keepset.run.core import RunCore
from keepset.run.reporting import Report
from keepset.run.services import Services
from keepset.scan import Finding

_NUMBERS = frozenset({type(None), bool, int, float})
_FEW = 64
"""Up to so many items of a list are looked at one by one."""


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
        special: Channels that a host gives a negative position of their own, and that are replaced
            whatever `replace` says.
        status: Where the run stands once something is written to a channel.
        admitted: Whether `Extract`, `Drop` and `without` were applied already.
    """

    task: str
    writes: Sequence[tuple[str, Any]]
    path: str = ""
    replace: bool = False
    special: Mapping[str, int] = field(default_factory=dict)
    status: Mapping[str, str] = field(default_factory=dict)
    admitted: bool = False

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


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in a value when a picture of it was taken.

    Attributes:
        guard: Who looked.
        knowledge: How much was looked for.
        findings: What was found.
    """

    guard: Guard
    knowledge: tuple[int, int]
    findings: Sequence[Finding]


class Surface(Protocol):
    """What writes go through on their way to the store: a run's rules, detectors and codec."""

    @property
    def services(self) -> Services:
        """The store's parts."""
        ...

    @property
    def contract(self) -> Contract:
        """The rules."""
        ...

    @property
    def guard(self) -> Guard:
        """The detectors, with the codec."""
        ...

    @property
    def report(self) -> Report:
        """Counts what is found."""
        ...


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
        with core.masked:
            rows, blobs = write_rows(core, batch)

        def attempt() -> Flow[None]:
            line, seq = yield from core.place(checkpoint)
            fence = yield from core.claim()
            yield PutWrites(fence, line, seq, rows, blobs)

        yield from core.again(attempt)


def write_rows(surface: Surface, batch: Batch) -> tuple[tuple[WriteRow, ...], tuple[BlobRow, ...]]:
    """Make the rows of what a task wrote, and those of the large values among it.

    Raises:
        PolicyError: A value cannot be stored or does not belong.
        UsageError: The writes are not pairs of a name and a value.
    """
    large = Large(surface.guard.codec, (), compressed=surface.services.compressed)
    rows = tuple(_rows(surface, batch, large))
    return rows, tuple(large.rows.values())


def _rows(surface: Surface, batch: Batch, large: Large) -> Iterator[WriteRow]:
    told = surface.services.scanner.text
    contract, task, path = surface.contract, told(batch.task), told(batch.path)
    for position, (channel, given) in enumerate(batch.checked()):
        declared = contract.fields.get(channel)
        name = channel if declared else told(channel)  # what code declares is no secret
        spec = declared or undeclared(name)
        if not spec.rule.stored:
            continue
        value = given
        if declared and not batch.admitted:
            value = contract.admit({channel: shown(given)})[channel]
        is_picture = isinstance(value, Pictured)
        packed = (_packed_picture if is_picture else _packed)(surface, spec, value)
        if len(packed) > LARGE:
            packed = MOVED + large.move(packed)
        at = batch.special.get(channel, position)
        status = batch.status.get(channel, "")
        digest = digest_of_write((task, path, at, name, status), packed)
        again = batch.replace or channel in batch.special
        yield WriteRow(task, path, at, name, packed, digest, status, again)


def _packed(surface: Surface, spec: Field, value: Any) -> bytes:
    guard, where = surface.guard, (spec.name,)
    packed = _whole(guard.codec, value, where)
    if packed is not None and type(value) in _NUMBERS:
        return packed
    findings = _looked(guard, spec, value, packed)
    put: Mapping[Any, Any] = guard.decide(spec, value, where, findings)
    surface.report.add("pending writes", findings)
    if put or packed is None:
        packed = guard.codec.pack(value, where, substitute=put or None)
    surface.report.add("pending writes", guard.weigh(spec, len(packed)))
    return packed


def look_early(surface: Surface, channel: str, value: Any, picture: Pictured) -> None:
    """Look at a value when a picture of it is taken, while it is what the picture shows.

    Where that is stored, it need not be unpacked to be looked at.

    Args:
        surface: What it goes through.
        channel: The field or the host's channel.
        value: The value.
        picture: The picture; what is found is kept there.
    """
    scanner = surface.services.scanner
    declared = surface.contract.fields.get(channel)
    spec = declared or undeclared(scanner.text(channel))
    knowledge = scanner.knowledge
    try:
        findings = _looked(surface.guard, spec, value, picture.picture.packed())
    except PolicyError:  # told where it is stored
        return
    picture.looked = Looked(surface.guard, knowledge, findings)


def _packed_picture(surface: Surface, spec: Field, value: Pictured) -> bytes:
    """Give the bytes of a picture; its value is unpacked only where somebody has to see it."""
    guard, where, packed = surface.guard, (spec.name,), value.picture.packed()
    findings = _found_early(surface, value.looked)
    if findings is None:
        findings = _looked(guard, spec, value.value, packed)
    secret = any(finding.kind.startswith("secret.") for finding in findings)
    put = guard.decide(spec, value.value if secret else None, where, findings)
    surface.report.add("pending writes", findings)
    if put:
        packed = guard.codec.pack(value.value, where, substitute=put)
    surface.report.add("pending writes", guard.weigh(spec, len(packed)))
    return packed


def _found_early(surface: Surface, looked: object) -> list[Finding] | None:
    """Give what was found before; None where it is to be looked for anew."""
    if not isinstance(looked, Looked) or looked.guard is not surface.guard:
        return None
    known = looked.knowledge == surface.services.scanner.knowledge
    return [*looked.findings] if known else None


def _whole(codec: Codec, value: Any, where: Path) -> bytes | None:
    """Pack a value as it is; None where that fails, which the detectors may say better."""
    try:
        return codec.pack(value, where)
    except PolicyError:
        return None


def _looked(guard: Guard, spec: Field, value: Any, packed: bytes | None) -> list[Finding]:
    """Look at a value; of a short list each item alone, by which it is known once it is saved."""
    path = (spec.name,)
    picture = None if packed is None else Frozen(packed)
    if picture is None or type(value) is not list or picture.count > _FEW:
        return guard.look(spec, value, path, packed)
    parts = parts_of(picture)
    if parts is None:
        return guard.look(spec, value, path, packed)
    findings = guard.look_around(spec, value)
    for index, part in enumerate(parts):
        findings += guard.look(spec, value[index], (*path, index), part)
    return findings


def read_writes(core: RunCore, checkpoint: str) -> Flow[list[PendingWrite]]:
    """Read the pending writes of a checkpoint, ordered by (path, task, index).

    Raises:
        NotFoundError: The run has no such checkpoint.
    """
    while True:
        run = yield from core.reader.row()
        try:
            return (yield from _read_writes(core, checkpoint, run.id))
        except (IntegrityError, NotFoundError) as error:
            reader = core.reader
            if not (yield from went_meanwhile(error, reader.key, reader.mark, run)):
                raise


def _read_writes(core: RunCore, checkpoint: str, run: int) -> Flow[list[PendingWrite]]:
    line, seq = yield from core.place(checkpoint)
    rows: Sequence[WriteRow] = writes_at(seq, (yield ReadWrites(line, seq)))

    def later(gap: int) -> Flow[Mapping[str, Any]]:
        found, row = yield from core.reader.find(checkpoint)
        _, _, values = yield from core.reader.load(found.branch, seq=row.seq + gap)
        return values

    return (yield from unpack_writes(rows, core.codec, run, later))


def unpack_writes(
    rows: Sequence[WriteRow],
    codec: Codec,
    run: int,
    later: Callable[[int], Flow[Mapping[str, Any]]],
) -> Flow[list[PendingWrite]]:
    """Unpack pending writes, large values included, and those that lie in later steps.

    Args:
        rows: The rows.
        codec: Knows the classes of the values.
        run: The backend's number of the run.
        later: Gives the values of the step so many seqs later on the line; nobody changes them.

    Raises:
        IntegrityError: A write is not what was written.
        DecodeError: The codec cannot read a value.
    """
    links = [link_of(row) for row in rows]
    whole = [row for row, link in zip(rows, links, strict=True) if link is None]
    refs = {ref.digest: ref.size for row in whole for ref in moved(row, codec)}
    blobs = Blobs(run, codec)
    yield from blobs.fetch(refs)
    steps: dict[int, Mapping[str, Any]] = {}
    found: list[PendingWrite] = []
    for row, link in zip(rows, links, strict=True):
        check_write(row)
        if link is None:
            value = _value(row, codec, blobs)
        else:
            if link.gap not in steps:
                steps[link.gap] = yield from later(link.gap)
            value = codec.copy(link.of(steps[link.gap], row.channel))
        found.append(PendingWrite(row.task, row.path, row.index, row.channel, value))
    return found


def _value(row: WriteRow, codec: Codec, blobs: Mapping[bytes, Any]) -> Any:
    refs = moved(row, codec)
    return blobs[refs[0].digest] if refs else codec.unpack(row.value)
