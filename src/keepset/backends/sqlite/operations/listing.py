"""List runs, each with the checkpoint that a resume goes on from."""

from __future__ import annotations

from typing import Any

from keepset.backends.sqlite import queries
from keepset.backends.sqlite.operations.rows import read_newest, run_row, segment_rows
from keepset.backends.sqlite.statements import Statement, Steps
from keepset.errors import DecodeError, IntegrityError
from keepset.plan.headers import unpack_headers
from keepset.plan.reads import ASIDE, ListRuns
from keepset.plan.rows import RunSummary, StepRow

_RUN = 14
"""How many of the columns of `queries.RUNS` are those of the run itself."""


def list_runs(plan: ListRuns) -> Steps[tuple[RunSummary, ...]]:
    """List runs with the status of their newest line.

    A run whose newest checkpoint is damaged is listed without a status, whatever status was asked
    for, and one whose contract is missing without a contract: neither is lost from sight.
    """
    found: list[RunSummary] = []
    after, more = plan.after, True
    while more:
        limit = plan.limit - len(found)
        wanted = {
            "tenant": plan.tenant,
            "status": plan.status,
            "contract": plan.contract,
            "subject": plan.subject,
            "after": after,
            "limit": limit,
        }
        rows = yield Statement(queries.RUNS, wanted)
        for row in rows:
            summary, known = yield from _summary(row)
            after = summary.run.key.run_id
            stands = plan.status is None or not known or summary.status == plan.status
            if stands and (plan.aside or not after.startswith(ASIDE)):
                found.append(summary)
        more = len(rows) == limit and len(found) < plan.limit
    return tuple(found)


def _summary(row: tuple[Any, ...]) -> Steps[tuple[RunSummary, bool]]:
    """Make a summary, and tell whether its status is known."""
    run = run_row(row[:_RUN])
    checkpoints, line, parent, parent_seq, status, checkpoint, name, at = row[_RUN:]
    if status is not None:
        return RunSummary(run, status, checkpoint, name, checkpoints, at), True
    seq = 0
    if line is not None:
        seq = yield from read_newest(line)
    if not seq and parent is not None:
        line, seq = parent, parent_seq
    header = (yield from _packed(line, seq)) if seq else None
    if header is None:
        return RunSummary(run, "", "", "", checkpoints, run.created), not seq
    packed = (header.status, header.checkpoint, header.name)
    return RunSummary(run, *packed, checkpoints, header.at), True


def _packed(line: int | None, seq: int) -> Steps[StepRow | None]:
    """Unpack the header of a packed checkpoint; None where it is damaged or missing."""
    rows = yield Statement(queries.HEADER_SEGMENT, {"line": line, "seq": seq})
    try:
        headers = [header for row in segment_rows(rows) for header in unpack_headers(row)]
    except (IntegrityError, DecodeError):
        return None
    return next((header for header in headers if header.seq == seq), None)
