"""Read large values and pending writes, read all of a run, measure."""

from __future__ import annotations

from keepset.backends.sqlite import queries
from keepset.backends.sqlite.operations.rows import (
    need_run,
    read_lines,
    segment_rows,
    step_rows,
)
from keepset.backends.sqlite.statements import Statement, Steps, span, step_id
from keepset.errors import IntegrityError
from keepset.plan.reads import (
    Everything,
    ReadBlobs,
    ReadEverything,
    ReadSizes,
    ReadStanding,
    ReadWrites,
    Sizes,
)
from keepset.plan.rows import BlobRow, Past, WriteRow


def read_blobs(plan: ReadBlobs) -> Steps[tuple[BlobRow, ...]]:
    """Read large values, in the order in which they were asked for.

    Raises:
        IntegrityError: ``blob.missing``.
    """
    blobs = []
    for digest in plan.digests:
        rows = yield Statement(queries.BLOB, {"run": plan.run, "digest": digest})
        if not rows:
            raise IntegrityError(
                f"the large value {digest.hex()[:16]} is not in the store",
                code="blob.missing",
                hint="Run `keepset verify` to see what else is missing; restore from a backup.",
            )
        blobs.append(BlobRow(*rows[0]))
    return tuple(blobs)


def read_writes(plan: ReadWrites) -> Steps[tuple[WriteRow, ...]]:
    """Read the pending writes of one checkpoint."""
    at = {"step": step_id(plan.line, plan.seq), "high": span(plan.line)["high"]}
    rows = yield Statement(queries.WRITES, at)
    bundles = yield Statement(queries.BUNDLE, at)
    return tuple(WriteRow(*row) for row in (*rows, *bundles))


def read_standing(plan: ReadStanding) -> Steps[str]:
    """Read where a run stands since a checkpoint."""
    rows = yield Statement(queries.STANDING, {"step": step_id(plan.line, plan.seq)})
    return rows[0][0] if rows else ""


def read_everything(plan: ReadEverything) -> Steps[Everything]:
    """Read all that is stored of a run.

    Raises:
        NotFoundError: ``run.not-found``.
    """
    run = yield from need_run(plan.key)
    lines = yield from read_lines(run.id)
    pasts, writes = [], []
    for line in lines:
        bounds = span(line.id)
        steps = yield Statement(queries.STEPS, {"low": bounds["low"], "until": bounds["high"] - 1})
        segments = yield Statement(queries.SEGMENTS, {"line": line.id})
        pasts.append(Past(line, step_rows(steps), segment_rows(segments)))
        rows = yield Statement(queries.LINE_WRITES, bounds)
        writes += [(line.id, seq, WriteRow(*write)) for seq, *write in rows]
    digests = yield Statement(queries.BLOB_DIGESTS, {"run": run.id})
    return Everything(run, tuple(pasts), tuple(writes), tuple(digest for (digest,) in digests))


def read_sizes(plan: ReadSizes) -> Steps[Sizes]:
    """Measure a tenant's rows; the file is measured by its pages."""
    tenant = {"tenant": plan.tenant}
    ((runs,),) = yield Statement(queries.RUN_COUNT, tenant)
    ((steps, step_bytes),) = yield Statement(queries.STEP_SIZES, tenant)
    ((packed,),) = yield Statement(queries.PACKED_COUNT, tenant)
    fields = yield Statement(queries.SEGMENT_SIZES, tenant)
    ((write_bytes,),) = yield Statement(queries.WRITE_SIZES, tenant)
    ((blob_bytes,),) = yield Statement(queries.BLOB_SIZES, tenant)
    ((file_bytes, free_bytes),) = yield Statement(queries.PAGES)
    parts = [(str(field), int(size)) for field, size in fields]
    parts += [("steps", step_bytes), ("writes", write_bytes), ("blobs", blob_bytes)]
    by_field = tuple(sorted(parts, key=lambda part: (-part[1], part[0])))
    return Sizes(runs, steps + packed, by_field, file_bytes, free_bytes)
