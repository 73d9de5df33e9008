"""Save checkpoints, fork lines, store pending writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepset.backends.sqlite import queries
from keepset.backends.sqlite.operations.claiming import (
    contract_id,
    create,
    deleted,
    find_seen,
    newer_head,
    raise_token,
    refuse_lower_epoch,
    refuse_other_layout,
    refuse_stale,
)
from keepset.backends.sqlite.operations.leasing import settle_lease
from keepset.backends.sqlite.operations.rows import (
    conflict,
    line_row,
    no_checkpoint,
    no_contract,
    read_lines,
    read_newest,
)
from keepset.backends.sqlite.statements import Statement, Steps, span, step_id
from keepset.errors import UsageError
from keepset.plan.bundled import Bundle
from keepset.plan.lines import parent_of
from keepset.plan.requests import Fence, Seen
from keepset.plan.rows import BlobRow, LineRow, SegmentRow, StepRow, WriteRow
from keepset.plan.writes import Begin, Fork, PutWrites, Save, Saved


def save(plan: Save) -> Steps[Saved]:
    """Save one checkpoint: for a writer that has its claim, one look and one row.

    Raises:
        ConflictError: The claim is stale, the line has a newer checkpoint, the epoch is lower, or
            another execution has the lease that the writer wants.
    """
    claim = plan.claim
    fence = claim if isinstance(claim, Fence) else (yield from _begin(plan, claim))
    line = plan.line
    if line is None and plan.begin is None:
        line = yield from _root_line(fence.run, plan.namespace)
    elif line is None:
        line = yield from _line_beside(fence, plan)
    row = yield from _check(plan, fence, line)
    if plan.leasing and fence is claim:
        yield from settle_lease(plan.key, fence.run, plan.leasing)
    if plan.subject is not None:
        yield Statement(queries.ADD_SUBJECT, {"run": fence.run, "subject": plan.subject})
    if plan.packed:
        yield from _pack(line, plan.packed, plan.segments)
    if plan.bundle:
        yield from _bundle(line, plan.bundle)
    if plan.blobs:
        yield from add_blobs(fence.run, plan.blobs)
    yield Statement(queries.ADD_STEP, step_values(line, plan.step))
    return Saved(fence, row)


def save_at_once(plan: Save) -> tuple[Statement, Saved] | None:
    """Give the usual save as one statement, and what it gives where it adds a row.

    It is usual for a writer that has its claim and knows its line: nothing but the step is added.
    Where the statement adds no row, `save` tells why. None for any other save.
    """
    fence, row = plan.claim, plan.known
    if not isinstance(fence, Fence) or row is None or row.id != plan.line:
        return None
    if (
        plan.packed
        or plan.blobs
        or plan.bundle
        or plan.leasing
        or plan.subject is not None
        or not 0 < plan.head < plan.step.seq
    ):
        return None
    contract, low, high = plan.contract, row.id << 32, (row.id + 1) << 32
    statement = Statement(
        queries.ADD_EXPECTED_STEP,
        (
            *step_values(row.id, plan.step),
            row.id,
            *(fence.run, bytearray(fence.incarnation), fence.token, fence.layout),
            *(contract.name, contract.epoch, contract.shape),
            *(low, high, low | plan.head),
            *(low, high, plan.step.checkpoint),
        ),
    )
    return statement, Saved(fence, row)


def _begin(plan: Save, seen: Seen) -> Steps[Fence]:
    """Claim the run that the writer has seen, or create it where there was none."""
    run = yield from find_seen(plan.key, plan.mark, seen)
    if run:
        return (yield from raise_token(run, plan.leasing))
    at, leasing = plan.step.at, plan.leasing
    return (yield from create(plan.key, plan.incarnation, plan.contract, at, leasing))


def _root_line(run: int, namespace: str) -> Steps[int]:
    where = {"run": run, "namespace": namespace}
    rows = yield Statement(queries.ROOT_LINE, where)
    if rows:
        raise newer_head()
    nothing = {"parent": None, "parent_seq": 0, "depth": 0}
    return (yield from _add_line({**where, **nothing}))


def _add_line(columns: dict[str, object]) -> Steps[int]:
    rows = yield Statement(queries.ADD_LINE, columns)
    if not rows:
        raise deleted()
    line: int = rows[0][0]
    return line


def _line_beside(fence: Fence, plan: Save) -> Steps[int]:
    """Create a line beside others: a fork of one of them, or one more root line."""
    begin = plan.begin or Begin()
    if begin.parent is not None:
        parent = yield from _check_fence(fence, begin.parent)
        there = yield from _has_step(begin.parent, begin.seq)
        if not there or parent.namespace != plan.namespace:
            raise no_checkpoint(begin.seq)
    return (
        yield from _add_line(
            {
                "run": fence.run,
                "namespace": plan.namespace,
                "parent": begin.parent,
                "parent_seq": begin.seq,
                "depth": begin.depth,
            }
        )
    )


def _check(plan: Save, fence: Fence, line: int) -> Steps[LineRow]:
    """Check all that a save expects, and raise the run's contract where the writer's is newer."""
    rows = yield Statement(
        queries.POSITION,
        {"run": fence.run, "line": line, "checkpoint": plan.step.checkpoint, **span(line)},
    )
    if not rows:
        raise deleted()
    incarnation, token, layout, name, epoch, shape, *columns, newest, twice = rows[0]
    refuse_stale(fence, incarnation, token)
    refuse_other_layout(fence.layout, layout)
    if name is None:
        raise no_contract(plan.key.run_id)
    contract = plan.contract
    refuse_lower_epoch(contract.epoch, epoch)
    if columns[0] is None:
        raise newer_head()
    head = newest or (yield from read_newest(line))
    if head != plan.head:
        raise newer_head()
    if twice:
        raise _duplicate(plan.step)
    if not max(head, plan.packed) < plan.step.seq or plan.packed > head:
        raise _misplaced(plan.step.seq, head)
    if (contract.name, contract.epoch, contract.shape) != (name, epoch, shape):
        number = yield from contract_id(contract)
        yield Statement(queries.SET_CONTRACT, {"run": fence.run, "contract": number})
    return line_row(tuple(columns))


def _duplicate(step: StepRow) -> Exception:
    return conflict(
        f"the line has a checkpoint {step.checkpoint!r} already",
        "conflict.duplicate",
        "The same save was made twice: load the run again to see where it stands.",
    )


def _misplaced(seq: int, head: int) -> UsageError:
    return UsageError(
        f"a checkpoint with seq {seq} cannot follow {head}",
        code="plan.seq",
        hint="The seqs of a line rise.",
    )


def _pack(line: int, until: int, segments: Sequence[SegmentRow]) -> Steps[None]:
    """Take out the steps that the segments hold, and count them as packed.

    They go first, so that the segments get their pages.
    """
    bounds = {"low": line << 32, "until": step_id(line, until)}
    ((count,),) = yield Statement(queries.COUNT_UNTIL, bounds)
    yield Statement(queries.DROP_UNTIL, bounds)
    yield Statement(queries.ADD_SEGMENT, many=[segment_values(line, row) for row in segments])
    yield Statement(queries.ADD_PACKED, {"line": line, "count": count})


def _bundle(line: int, made: Bundle) -> Steps[None]:
    """Put many pending writes in one row, unless one of them is stored otherwise by now.

    They stay as they are as well where others of those checkpoints may lie in a row like this: who
    reads a checkpoint's writes looks into the first one from there on, and into no other.
    """
    taken = [(step_id(line, seq), row.task, row.index, row.digest) for seq, row in made.taken]
    bounds = {"first": min(taken)[0], "last": max(taken)[0]}
    if not {*(yield Statement(queries.WRITES_BETWEEN, bounds))}.issuperset(taken):
        return
    if (yield Statement(queries.BUNDLE, {"step": bounds["first"], "high": span(line)["high"]})):
        return
    yield Statement(queries.TAKE_WRITE, many=taken)
    yield Statement(queries.KEEP_WRITE, write_values(step_id(line, made.seq), made.row))


def add_blobs(run: int, blobs: Sequence[BlobRow]) -> Steps[None]:
    """Store large values; one that is already there is left as it is."""
    rows = [(run, blob.digest, blob.size, blob.data) for blob in blobs]
    yield Statement(queries.ADD_BLOB, many=rows)


def step_values(line: int, row: StepRow) -> tuple[Any, ...]:
    """A step's columns, as `queries.ADD_STEP` takes them.

    For `bytes` the driver looks for an adapter each time, and raises what says that there is none;
    a bytearray is taken as it is.
    """
    return (
        step_id(line, row.seq),
        row.checkpoint,
        row.parent,
        row.name,
        row.status,
        row.at,
        bytearray(row.metadata),
        bytearray(row.changes),
        bytearray(row.digest),
    )


def segment_values(line: int, row: SegmentRow) -> tuple[Any, ...]:
    """A segment's columns, as `queries.ADD_SEGMENT` takes them."""
    return line, row.field, row.first, row.last, row.base, row.start, row.data, row.digest


def _check_fence(fence: Fence, line: int) -> Steps[LineRow]:
    """Check a claim, and give one of the run's lines.

    The layout counts as well: whether a seq between two packed steps is a checkpoint is known to
    the writer alone, who has to know the rows as they lie now.
    """
    rows = yield Statement(
        queries.POSITION, {"run": fence.run, "line": line, "checkpoint": "", "low": 0, "high": 0}
    )
    if not rows:
        raise deleted()
    incarnation, token, layout, _, _, _, *columns, _, _ = rows[0]
    refuse_stale(fence, incarnation, token)
    refuse_other_layout(fence.layout, layout)
    if columns[0] is None:
        raise newer_head()
    return line_row(tuple(columns))


def _has_step(line: int, seq: int) -> Steps[bool]:
    if seq <= 0:
        return False
    at = {"step": step_id(line, seq), "line": line, "seq": seq}
    ((there,),) = yield Statement(queries.HAS_STEP, at)
    return bool(there)


def fork(plan: Fork) -> Steps[LineRow]:
    """Begin a new line.

    Raises:
        NotFoundError: ``checkpoint.not-found``: there is no such step on the parent or before it.
        ConflictError: The claim is stale, or the rows were written anew.
    """
    parent = yield from _check_fence(plan.fence, plan.parent)
    if plan.seq <= parent.parent_seq:
        lines = {row.id: row for row in (yield from read_lines(plan.fence.run))}
        while plan.seq <= parent.parent_seq and (above := parent_of(parent, lines)):
            parent = above
    if not (yield from _has_step(parent.id, plan.seq)):
        raise no_checkpoint(plan.seq)
    depth = parent.depth + 1
    rows = yield Statement(
        queries.ADD_LINE,
        {
            "run": plan.fence.run,
            "namespace": parent.namespace,
            "parent": parent.id,
            "parent_seq": plan.seq,
            "depth": 0 if depth > plan.deepest else depth,
        },
    )
    return line_row(rows[0])


def put_writes(plan: PutWrites) -> Steps[None]:
    """Store pending writes.

    Raises:
        NotFoundError: ``checkpoint.not-found``: the line has no such checkpoint.
        ConflictError: The claim is stale, or the rows were written anew.
    """
    yield from _check_fence(plan.fence, plan.line)
    if not (yield from _has_step(plan.line, plan.seq)):
        raise no_checkpoint(plan.seq)
    if plan.blobs:
        yield from add_blobs(plan.fence.run, plan.blobs)
    step = step_id(plan.line, plan.seq)
    for write in plan.writes:
        query = queries.REPLACE_WRITE if write.replace else queries.KEEP_WRITE
        yield Statement(query, write_values(step, write))


def write_values(step: int, row: WriteRow) -> tuple[Any, ...]:
    """A pending write's columns, as `queries.KEEP_WRITE` takes them."""
    return step, row.task, row.index, row.path, row.channel, row.value, row.digest, row.status
