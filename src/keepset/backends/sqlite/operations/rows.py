"""From rows of a table to the values of the plan layer."""

from __future__ import annotations

from typing import Any

from keepset.backends.sqlite import queries
from keepset.backends.sqlite.statements import Statement, Steps, span
from keepset.errors import ConflictError, IntegrityError, NotFoundError
from keepset.plan.leases import Lease
from keepset.plan.rows import ContractRow, LineRow, RunKey, RunRow, SegmentRow, StepRow


def run_row(row: tuple[Any, ...]) -> RunRow:
    """A run from the columns of `queries.RUN`."""
    number, tenant, run_id, incarnation, name, epoch, shape, structure, *others = row
    contract = ContractRow(name, epoch, shape, structure)
    token, layout, created, *lease = others
    key, leased = RunKey(tenant, run_id), lease_row(tuple(lease))
    return RunRow(number, key, incarnation, contract, token, layout, created, leased)


def lease_row(row: tuple[Any, ...]) -> Lease | None:
    """A lease from its three columns; None where there is none, or a part of it is missing."""
    return None if None in row else Lease(*row)


def line_row(row: tuple[Any, ...]) -> LineRow:
    """A line from the columns of `queries.LINES`."""
    return LineRow(*row)


def step_rows(rows: list[tuple[Any, ...]]) -> tuple[StepRow, ...]:
    """Steps from the columns of `queries.STEPS`."""
    return tuple(StepRow(*row) for row in rows)


def segment_rows(rows: list[tuple[Any, ...]]) -> tuple[SegmentRow, ...]:
    """Segments from the columns of `queries.SEGMENTS`."""
    return tuple(SegmentRow(*row) for row in rows)


def named(key: RunKey) -> dict[str, str]:
    """A run's key as the parameters of a statement."""
    return {"tenant": key.tenant, "run_id": key.run_id}


def read_run(key: RunKey) -> Steps[RunRow | None]:
    """Read a run's row, or None.

    Raises:
        IntegrityError: ``store.contract-missing``.
    """
    rows = yield Statement(queries.RUN, named(key))
    if rows and rows[0][4] is None:
        raise no_contract(key.run_id)
    return run_row(rows[0]) if rows else None


def need_run(key: RunKey) -> Steps[RunRow]:
    """Read a run's row.

    Raises:
        NotFoundError: ``run.not-found``.
    """
    run = yield from read_run(key)
    if run is None:
        raise no_run(key)
    return run


def read_lines(run: int) -> Steps[tuple[LineRow, ...]]:
    """Read a run's lines, ordered by (namespace, branch)."""
    rows = yield Statement(queries.LINES, {"run": run})
    return tuple(line_row(row) for row in rows)


def read_deletions(mark: bytes) -> Steps[int]:
    """Read how many deletions of a run id are recorded."""
    rows = yield Statement(queries.DELETIONS, {"mark": mark})
    return rows[0][0] if rows else 0


def read_newest(line: int) -> Steps[int]:
    """Read the seq of the newest checkpoint that lies on a line itself; 0 for none."""
    rows = yield Statement(queries.NEWEST_SEQ, span(line))
    if not rows:
        rows = yield Statement(queries.NEWEST_PACKED, {"line": line})
    return rows[0][0] if rows else 0


def no_run(key: RunKey) -> NotFoundError:
    """Make the error for a run that is not there."""
    return NotFoundError(
        f"there is no run {key.run_id!r} of tenant {key.tenant!r}",
        code="run.not-found",
        hint="`keepset runs` lists what is there.",
    )


def no_contract(run_id: str) -> IntegrityError:
    """Make the error for a run whose contract is not there."""
    return IntegrityError(
        f"the contract of run {run_id!r} is not in the store",
        code="store.contract-missing",
        hint="Its state cannot be trusted: restore the store from a backup, or delete the run.",
    )


def no_checkpoint(seq: int) -> NotFoundError:
    """Make the error for a checkpoint that is not there."""
    return NotFoundError(
        f"there is no checkpoint {seq} on that line",
        code="checkpoint.not-found",
        hint="It may have been pruned; `keepset show` lists the checkpoints of a run.",
    )


def conflict(what: str, code: str, hint: str) -> ConflictError:
    """Make the error for a writer that came late."""
    return ConflictError(what, code=code, hint=hint)
