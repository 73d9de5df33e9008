"""Delete runs, and rewrite them with less."""

from __future__ import annotations

from keepset.backends.sqlite import queries
from keepset.backends.sqlite.operations.claiming import (
    deleted,
    find_seen,
    newer_head,
)
from keepset.backends.sqlite.operations.rows import (
    named,
    read_lines,
    read_newest,
)
from keepset.backends.sqlite.operations.saving import (
    add_blobs,
    segment_values,
    step_values,
    write_values,
)
from keepset.backends.sqlite.statements import Statement, Steps, span, step_id
from keepset.errors import UsageError
from keepset.plan.writes import Delete, Replace, Rewrite, Rewritten


def delete(plan: Delete) -> Steps[bool]:
    """Remove all rows of a run, damaged or not, and record the deletion.

    Returns:
        False where there was no run.
    """
    rows = yield Statement(queries.RUN_ID, named(plan.key))
    if not rows:
        return False
    yield from drop_run(rows[0][0])
    yield Statement(queries.ADD_TOMBSTONE, {"mark": plan.mark, "at": plan.at})
    return True


def drop_run(run: int) -> Steps[None]:
    """Remove all rows of a run."""
    own = {"run": run}
    for line in (yield from read_lines(run)):
        yield from _drop_line(line.id)
    for query in (queries.DROP_BLOBS, queries.DROP_SUBJECTS, queries.DROP_RUN):
        yield Statement(query, own)


def _drop_line(line: int) -> Steps[None]:
    yield Statement(queries.DROP_STEPS, span(line))
    yield Statement(queries.DROP_WRITES, span(line))
    yield Statement(queries.DROP_SEGMENTS, {"line": line})
    yield Statement(queries.DROP_LINE, {"line": line})


def rewrite(plan: Rewrite) -> Steps[None]:
    """Replace all rows of a run.

    Raises:
        ConflictError: The run, or one of its lines, is not what was read.
        UsageError: ``plan.rewrite``: a line has no unpacked step for its newest checkpoint, or is
            none of the run's.
    """
    run = yield from find_seen(plan.key, plan.mark, plan.seen)
    if run is None:
        raise deleted()
    lines = yield from read_lines(run.id)
    yield from require_same(plan, [line.id for line in lines])
    stay = {row.line.id: row for row in plan.lines}
    _check_lines(plan, {line.id for line in lines})
    for line in lines:
        if line.id in stay:
            yield from _replace(stay[line.id])
        else:
            yield from _drop_line(line.id)
    for line in lines:
        yield Statement(queries.DROP_BUNDLES, span(line.id))
    for number, seq, write in plan.restored:
        query = queries.REPLACE_WRITE if write.replace else queries.KEEP_WRITE
        yield Statement(query, write_values(step_id(number, seq), write))
    yield from _drop_blobs(run.id, plan.stay)
    if plan.blobs:
        yield from add_blobs(run.id, plan.blobs)
    yield Statement(queries.RAISE_LAYOUT, {"run": run.id})


def require_same(plan: Rewrite | Replace, lines: list[int]) -> Steps[None]:
    """Refuse to go on where checkpoints or pending writes came in since a run was read.

    Raises:
        ConflictError: ``conflict.head``: some did.
    """
    heads = set()
    for line in lines:
        heads.add((line, (yield from read_newest(line))))
    if heads != set(plan.heads):
        raise newer_head()
    digests: list[bytes] = []
    for line in lines:
        rows = yield Statement(queries.WRITE_DIGESTS, span(line))
        digests += [digest for (digest,) in rows]
    if sorted(digests) != list(plan.written):
        raise newer_head()


def _check_lines(plan: Rewrite, known: set[int]) -> None:
    for row in plan.lines:
        newest = row.steps[-1].seq if row.steps else 0
        if row.line.id not in known or newest != max(row.seqs, default=0):
            raise UsageError(
                f"line {row.line.id} cannot be rewritten like this",
                code="plan.rewrite",
                hint="It must be a line of the run, and its newest checkpoint be unpacked.",
            )


def _replace(row: Rewritten) -> Steps[None]:
    line = row.line
    yield Statement(queries.DROP_STEPS, span(line.id))
    yield Statement(queries.DROP_SEGMENTS, {"line": line.id})
    yield Statement(
        queries.SET_LINE,
        {
            "line": line.id,
            "parent": line.parent,
            "parent_seq": line.parent_seq,
            "depth": line.depth,
            "packed": len(row.seqs) - len(row.steps),
        },
    )
    yield Statement(queries.ADD_STEP, many=[step_values(line.id, step) for step in row.steps])
    segments = [segment_values(line.id, segment) for segment in row.segments]
    yield Statement(queries.ADD_SEGMENT, many=segments)
    kept = {step_id(line.id, seq) for seq in row.seqs}
    written = yield Statement(queries.WRITE_STEPS, span(line.id))
    gone = [(step,) for (step,) in written if step not in kept]
    yield Statement(queries.DROP_WRITE, many=gone)


def _drop_blobs(run: int, stay: tuple[bytes, ...]) -> Steps[None]:
    stored = yield Statement(queries.BLOB_DIGESTS, {"run": run})
    keep = set(stay)
    gone = [(run, digest) for (digest,) in stored if digest not in keep]
    yield Statement(queries.DROP_BLOB, many=gone)
