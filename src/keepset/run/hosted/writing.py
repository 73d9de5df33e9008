"""Store a host's checkpoints and pending writes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from keepset.errors import ConflictError, KeepsetError, NotFoundError
from keepset.plan.bundled import Bundle, Written, bundle, linked
from keepset.plan.leases import Leasing
from keepset.plan.leasing import Take
from keepset.plan.memory import LineMemory
from keepset.plan.project import carried, project
from keepset.plan.rebuild import branch_off, remember
from keepset.plan.record import Recorded, record
from keepset.plan.recorder import Recorder
from keepset.plan.requests import Fence, Flow, Request, Seen, Wait
from keepset.plan.rows import BlobRow, LineRow, WriteRow
from keepset.plan.search import newest_headers
from keepset.plan.steps import TailStep
from keepset.plan.writes import DEEPEST, Begin, Claim, PutWrites, Save, Saved
from keepset.run.holding import Holding
from keepset.run.hosted.known import HostStep, Known, Surface
from keepset.run.hosted.reading import HostReader, Spot
from keepset.run.hosted.underway import Early
from keepset.run.pending import Batch, write_rows
from keepset.verdict.status import Status

ATTEMPTS = 8
"""How often a write is tried where others write to the same run at the same moment."""

_PATIENCE = 1.0
"""Seconds that a flow waits for another one to claim the run; then it claims it as well."""

_STALE = frozenset({"conflict.head", "conflict.layout", "conflict.token", "conflict.deleted"})


@dataclass(frozen=True, slots=True)
class _Base:
    """What a checkpoint is recorded on: the memory, the line's row, or where a line begins.

    The layout is that of the rows that were looked at, whatever the run's is by now; None where
    none were.
    """

    memory: LineMemory
    row: LineRow | None = None
    begin: Begin | None = None
    written: Mapping[str, Written] = field(default_factory=dict)
    layout: int | None = None


class HostWriter:
    """Writes to one run; any thread or task may use it at any time."""

    def __init__(self, known: Known, reader: HostReader) -> None:
        """Take what is known of the run, and its reader."""
        self._known = known
        self._reader = reader

    def append(self, step: HostStep, surface: Surface) -> Flow[None]:
        """Store a checkpoint after its parent: on the parent's line, or on one that it begins.

        Raises:
            PolicyError: A value cannot be stored or does not belong; nothing is changed.
            ConflictError: It has to follow the newest checkpoint and does not, or the run was
                deleted.
            NotFoundError: There is no such parent.
        """
        surface.services.may_write()
        surface.entering.learn(step.values)
        namespace, checkpoint = step.namespace, step.header.checkpoint
        self._known.underway.expect(namespace, checkpoint)
        try:
            yield from self._append(step, surface)
        except KeepsetError as error:
            self._known.refuse(namespace, checkpoint, error)
            raise
        finally:  # where the checkpoint did not land, nothing is to be stored of its tasks
            early = self._known.underway.arrived(namespace, checkpoint)
        for rows, blobs in early:
            write = partial(self._write, namespace, checkpoint, rows, blobs, step.holding)
            yield from self._again(write, step.holding)

    def _append(self, step: HostStep, surface: Surface) -> Flow[None]:
        stored = project(surface.contract, step.values, surface.guard.codec)
        if step.header.status != Status.RUNNING:  # what was written before it is bundled with it
            for coming in self._known.underway.on_their_way(step.namespace, step.parent):
                done, _ = yield Wait(coming, _PATIENCE)
                if not done:
                    break  # whoever is at it is stuck, maybe since we hold what it waits for

        def attempt() -> Flow[None]:
            base = yield from self._base(step, surface)
            recorder = Recorder(surface.guard, base.memory, surface.services.compressed)
            pins = carried(surface.contract, step.values, base.memory, surface.guard.codec)
            recorded = record(surface.contract, {**pins, **stored}, step.header, recorder)
            plan = self._plan(step, base, recorded, surface)
            saved: Saved = yield plan
            self._landed(step, base, recorded, saved)
            if step.holding is not None:
                step.holding.landed(plan.leasing)
            surface.report.add(recorded.step.name, recorded.findings)

        yield from self._again(attempt, step.holding)

    def take(self, holding: Holding) -> Flow[None]:
        """Take the run's lease for an execution that begins.

        Raises:
            ConflictError: Another execution works on the run, or it was deleted meanwhile.
        """
        known = self._known
        known.services.may_write()

        def attempt() -> Flow[None]:
            is_new = False
            if known.claim.incarnation is None:
                found = yield from self._reader.look()
                is_new = found.run is None
                holding.saw(found.run.lease if found.run else None)
            leasing = _wanted(holding, known.claim)
            if leasing is not None:
                own = (known.key, known.mark, known.claim, uuid.uuid4().bytes, known.contract)
                fence: Fence = yield Take(*own, leasing, known.services.now())
                holding.landed(leasing)
                if is_new:
                    known.begin(fence, holding)
                else:
                    known.hold(fence)

        yield from self._again(attempt, holding)

    def write(  # noqa: PLR0913 - where it goes, what it is, and who gives it
        self,
        namespace: str,
        checkpoint: str,
        batch: Batch,
        surface: Surface,
        *,
        early: bool,
        holding: Holding | None = None,
    ) -> Flow[None]:
        """Store what a task wrote after a checkpoint, which may have successors already.

        Args:
            namespace: Where the checkpoint lies.
            checkpoint: Its id.
            batch: What was written.
            surface: What it goes through.
            early: Whether the checkpoint may still be on its way: then the writes wait for it, and
                land with it.
            holding: The lease of the execution that writes; None where it works without one.

        Raises:
            PolicyError: A value cannot be stored or does not belong; nothing is changed.
            ConflictError: The run was deleted.
            NotFoundError: There is no such checkpoint.
        """
        surface.services.may_write()
        surface.entering.learn({})
        rows, blobs = write_rows(surface, batch)
        if early and (yield from self._waits(namespace, checkpoint, (rows, blobs))):
            return
        write = partial(self._write, namespace, checkpoint, rows, blobs, holding)
        with self._known.underway.coming(namespace, checkpoint):
            yield from self._again(write, holding)

    def _waits(
        self, namespace: str, checkpoint: str, writes: Early
    ) -> Generator[Request, Any, bool]:
        """Let writes wait for a checkpoint that is on its way, or may be."""
        known = self._known
        if (namespace, checkpoint) in known.places:
            return False
        if known.underway.meet(namespace, checkpoint, writes):
            return True
        there = yield from self._reader.find(namespace, checkpoint)
        if there or known.refusal(namespace, checkpoint) is not None:
            return False
        return known.underway.wait(namespace, checkpoint, writes)

    def _write(
        self,
        namespace: str,
        checkpoint: str,
        rows: tuple[WriteRow, ...],
        blobs: tuple[BlobRow, ...],
        holding: Holding | None,
    ) -> Flow[None]:
        layout = self._known.claim.layout  # of the rows among which it is looked for
        spot = yield from self._reader.find(namespace, checkpoint)
        if spot is None:
            raise (yield from self._missing(namespace, checkpoint))
        fence = yield from self._fence(holding)
        if fence.layout != layout:
            fence = replace(fence, layout=layout)
        last = self._known.at_its_end(spot[0].id, checkpoint, layout)
        rows = rows if last is None else linked(spot[1], rows, last)
        yield PutWrites(fence, spot[0].id, spot[1], rows, blobs)
        self._known.note(spot[0].id, spot[1], checkpoint, rows)

    def _again(self, attempt: Callable[[], Flow[None]], holding: Holding | None) -> Flow[None]:
        """Try a write, and once more for as long as others get in between."""
        left = ATTEMPTS
        while True:
            left -= 1
            if holding is not None:
                holding.require()
            try:
                yield from self._claiming(attempt)
            except ConflictError as error:
                if error.code == "run.leased" and holding is not None and left:
                    yield from holding.settle()
                    continue
                if error.code not in _STALE or not left:
                    raise
                self._known.forget()
                yield from self._reader.look()
            else:
                return

    def _claiming(self, attempt: Callable[[], Flow[None]]) -> Flow[None]:
        """Make one attempt; as long as the run is not claimed, one flow at a time does.

        Those of one process that claim it at the same moment would take it from each other.
        """
        known = self._known
        while isinstance(known.claim, Seen):
            others = known.begin_claim()
            if others is None:
                try:
                    return (yield from attempt())
                finally:
                    known.end_claim()
            done, _ = yield Wait(others, _PATIENCE)
            if not done:
                break  # whoever is at it is stuck, maybe since we hold what it waits for
        return (yield from attempt())

    def _base(self, step: HostStep, surface: Surface) -> Generator[Request, Any, _Base]:
        open_line = self._known.open.get((step.namespace, step.parent))
        if open_line is not None:
            written = dict(open_line.written)
            layout = open_line.layout
            return _Base(open_line.memory, open_line.row, written=written, layout=layout)
        layout = self._known.claim.layout
        if not step.parent:
            return (yield from self._root(step))
        spot = yield from self._reader.find(step.namespace, step.parent)
        if spot is None:
            raise (yield from self._missing(step.namespace, step.parent))
        return replace((yield from self._on(step, surface, spot)), layout=layout)

    def _root(self, step: HostStep) -> Generator[Request, Any, _Base]:
        """Begin without a parent: on the first line, or beside those that are there."""
        if self._known.is_begun_by(step.holding):
            return _Base(LineMemory())
        found = yield from self._reader.look()
        lines = [row for row in found.lines if row.namespace == step.namespace]
        if lines and step.follows:
            heads = yield from self._reader.headers(step.namespace, 1)
            newest = max((rows[0].checkpoint for _, rows in heads if rows), default="")
            raise _overtaken(step, newest)
        return _Base(LineMemory(), begin=Begin() if lines else None)

    def _on(self, step: HostStep, surface: Surface, spot: Spot) -> Generator[Request, Any, _Base]:
        """Load what a checkpoint is recorded on, where its parent lies."""
        codec, (line, seq) = surface.guard.codec, spot
        found = yield from newest_headers(line.id, None, 1)
        if not found:  # the line went since it was remembered
            self._known.forget()
            raise (yield from self._missing(step.namespace, step.parent))
        newest = found[0]
        if step.follows and newest.seq != seq:
            rows = yield from newest_headers(line.id, None)
            raise _overtaken(step, [row.checkpoint for row in rows if row.seq > seq][-1])
        reader = self._reader.values(step.namespace, codec)
        loaded, chains, values = yield from reader.load(line.branch, seq=seq)
        memory = remember(loaded, chains, values, codec)
        if newest.seq == seq:
            return _Base(memory, line)
        depth = 0 if line.depth + 1 > DEEPEST else line.depth + 1
        return _Base(branch_off(memory, None, depth), begin=Begin(line.id, seq, depth))

    def _plan(self, step: HostStep, base: _Base, recorded: Recorded, surface: Surface) -> Save:
        known, person = self._known, surface.entering.subject(step.values)
        claim = known.claim
        if base.layout not in (None, claim.layout):
            claim = replace(claim, layout=base.layout)
        return Save(
            key=known.key,
            mark=known.mark,
            claim=claim,
            incarnation=uuid.uuid4().bytes if isinstance(claim, Seen) else b"",
            contract=known.contract,
            subject=None if person is None else surface.services.subject(person),
            line=base.memory.line,
            namespace=step.namespace,
            head=base.memory.head,
            step=recorded.step,
            segments=recorded.segments,
            packed=recorded.packed,
            blobs=recorded.blobs,
            known=base.row,
            begin=base.begin,
            bundle=self._bundle(base, recorded, surface) if recorded.packed else None,
            leasing=_wanted(step.holding, claim, works=not step.ends),
        )

    @staticmethod
    def _bundle(base: _Base, recorded: Recorded, surface: Surface) -> Bundle | None:
        compressed = surface.services.compressed
        return bundle(_written_down(base, recorded), base.written, compressed=compressed)

    def _landed(self, step: HostStep, base: _Base, recorded: Recorded, saved: Saved) -> None:
        known = self._known
        known.hold(saved.fence)
        before = known.open.pop((step.namespace, step.parent), None)
        written = dict(before.written) if before else {}
        if recorded.packed:
            for done in _written_down(base, recorded):
                written.pop(done.row.parent, None)
        memory = recorded.memory.on(saved.line.id)
        known.keep(memory, saved.line, saved.fence.layout, written, before)
        known.place(step.header.checkpoint, saved.line, recorded.step.seq)

    def _fence(self, holding: Holding | None) -> Generator[Request, Any, Fence]:
        """Give the claim on the run; one that was only looked at so far is claimed now."""
        known = self._known
        if known.claim.incarnation is None:
            yield from self._reader.look()
        claim = known.claim
        if isinstance(claim, Fence):
            return claim
        leasing = _wanted(holding, claim)
        fence: Fence = yield Claim(known.key, known.mark, claim, known.contract.epoch, leasing)
        known.hold(fence)
        if holding is not None:
            holding.landed(leasing)
        return fence

    def _missing(self, namespace: str, checkpoint: str) -> Generator[Request, Any, KeepsetError]:
        """Make the error for a checkpoint that is not there, or not any more."""
        refusal = self._known.refusal(namespace, checkpoint)
        if refusal is not None:
            return refusal
        found = yield from self._reader.look()
        if found.deletions:
            return ConflictError(
                f"the run that had checkpoint {checkpoint} has been deleted",
                code="conflict.deleted",
                hint="What it held does not come back: begin again under its id.",
            )
        return NotFoundError(
            f"there is no checkpoint {checkpoint}",
            code="checkpoint.not-found",
            hint="It may have been pruned; `keepset show` lists the checkpoints of a run.",
        )


def _written_down(base: _Base, recorded: Recorded) -> tuple[TailStep, ...]:
    """Give the steps that hold what was written before them for good: those that are packed.

    Where the run stops, the newest one is among them, since no other may come to pack it.
    """
    fresh = recorded.memory.tail[-1:] if recorded.step.status != Status.RUNNING else ()
    return (*base.memory.tail, *fresh)


def _wanted(holding: Holding | None, claim: Fence | Seen, *, works: bool = True) -> Leasing | None:
    """Say what a write wants of the run's lease; see `Holding.wants`."""
    if holding is None:
        return None
    return holding.wants(works=works, claimed=isinstance(claim, Fence))


def _overtaken(step: HostStep, other: str) -> ConflictError:
    """Make the error for a checkpoint whose parent has a successor already."""
    where = f"checkpoint {step.parent}" if step.parent else "the beginning"
    return ConflictError(
        f"{where} is followed by {other or 'another checkpoint'} already, so"
        f" {step.header.checkpoint} cannot follow it on the same line",
        code="conflict.two-writers",
        hint="Two executions work on this run, and the other one was first: see where it stands, "
        "then go on from there.",
    )
