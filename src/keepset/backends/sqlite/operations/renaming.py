"""Give a run another id, and put a run in place of another one."""

from __future__ import annotations

from keepset.backends.sqlite import claim_queries, queries
from keepset.backends.sqlite.operations.claiming import deleted, find_seen
from keepset.backends.sqlite.operations.removing import drop_run, require_same
from keepset.backends.sqlite.operations.rows import (
    conflict,
    named,
    need_run,
    read_deletions,
    read_lines,
)
from keepset.backends.sqlite.statements import Statement, Steps
from keepset.plan.leases import leased
from keepset.plan.writes import Rename, Replace


def rename(plan: Rename) -> Steps[None]:
    """Give a run another id.

    Raises:
        NotFoundError: ``run.not-found``: there is no such run.
        ConflictError: ``conflict.exists``: the target is there; ``conflict.deleted``: it was.
    """
    run = yield from need_run(plan.source)
    yield Statement(claim_queries.DROP_BEGUN_RUN, named(plan.target))
    if (yield Statement(queries.RUN_ID, named(plan.target))):
        raise conflict(
            f"there is a run {plan.target.run_id!r} already",
            "conflict.exists",
            "Give this one another id, or delete the run that is there.",
        )
    if (yield from read_deletions(plan.mark)):
        raise deleted()
    yield from _name(plan, run.id)


def replace(plan: Replace) -> Steps[None]:
    """Put a run in place of another one.

    Raises:
        NotFoundError: ``run.not-found``: there is no such source.
        ConflictError: The target is not what was read, or is leased.
    """
    run = yield from need_run(plan.source)
    there = yield from find_seen(plan.target, plan.mark, plan.seen)
    if there is None:
        raise deleted()
    if there.lease is not None:
        raise leased(there.key.run_id, there.lease)
    lines = yield from read_lines(there.id)
    yield from require_same(plan, [line.id for line in lines])
    yield from drop_run(there.id)
    yield from _name(plan, run.id)


def _name(plan: Rename | Replace, run: int) -> Steps[None]:
    own = {"run_id": plan.target.run_id, "incarnation": plan.incarnation, "run": run}
    yield Statement(claim_queries.RENAME, own)
