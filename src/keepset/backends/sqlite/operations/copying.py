"""Copy a run: every row under a number of the copy's own."""

from __future__ import annotations

from keepset.backends.sqlite import claim_queries, queries
from keepset.backends.sqlite.operations.claiming import deleted
from keepset.backends.sqlite.operations.rows import (
    conflict,
    named,
    need_run,
    read_deletions,
    read_lines,
)
from keepset.backends.sqlite.statements import Statement, Steps, span
from keepset.plan.lines import parent_of
from keepset.plan.writes import Copy


def copy(plan: Copy) -> Steps[None]:
    """Copy a run.

    Raises:
        NotFoundError: ``run.not-found``: there is no source.
        ConflictError: ``conflict.exists``: the target is there; ``conflict.deleted``: it was, and
            the plan does not take such a name.
    """
    source = yield from need_run(plan.source)
    yield Statement(claim_queries.DROP_BEGUN_RUN, named(plan.target))
    if (yield Statement(queries.RUN_ID, named(plan.target))):
        raise conflict(
            f"there is a run {plan.target.run_id!r} already",
            "conflict.exists",
            "Give the copy another id, or delete the run that is there.",
        )
    if plan.mark is not None and (yield from read_deletions(plan.mark)):
        raise deleted()
    values = {"incarnation": plan.incarnation, "created": plan.at, "run": source.id}
    ((run,),) = yield Statement(queries.COPY_RUN, {**named(plan.target), **values})
    lines = {row.id: row for row in (yield from read_lines(source.id))}
    numbers: dict[int, int] = {}
    for line in lines.values():  # each after the one that it was forked from
        parent = parent_of(line, lines)
        own = {"line": line.id, "copy": run, "parent": numbers[parent.id] if parent else None}
        ((number,),) = yield Statement(queries.COPY_LINE, own)
        numbers[line.id] = number
        yield from _copy_rows(line.id, number)
    for query in (queries.COPY_BLOBS, queries.COPY_SUBJECTS):
        yield Statement(query, {"run": source.id, "copy": run})


def _copy_rows(line: int, copy_of_it: int) -> Steps[None]:
    moved = {**span(line), "start": copy_of_it << 32}
    yield Statement(queries.COPY_STEPS, moved)
    yield Statement(queries.COPY_WRITES, moved)
    yield Statement(queries.COPY_SEGMENTS, {"line": line, "copy": copy_of_it})
