"""The usual writes as one statement each, which is a transaction by itself and needs no other."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from keepset.backends.sqlite.operations.leasing import take_at_once
from keepset.backends.sqlite.operations.saving import save_at_once, write_values
from keepset.backends.sqlite.statements import Statement, step_id
from keepset.plan.leasing import Take
from keepset.plan.requests import Plan
from keepset.plan.writes import PutWrites, Save

_MOST: Final = 16
"""How many pending writes go into one statement at most; each number has a text of its own."""

_ROW: Final = "(?, ?, ?, ?, ?, ?, ?, ?)"


class AtOnce(NamedTuple):
    """A write as one statement.

    Attributes:
        statement: The statement.
        rows: How many rows it adds or changes where all is as the writer expects; else they are
            fewer, or none, and the long way tells why.
        result: What the write then gives.
    """

    statement: Statement
    rows: int
    result: Any


def at_once(plan: Plan[Any]) -> AtOnce | None:
    """Give a write as one statement; None for one that takes more than that."""
    if isinstance(plan, Save):
        usual = save_at_once(plan)
        return usual and AtOnce(usual[0], 1, usual[1])
    if isinstance(plan, Take):
        taking = take_at_once(plan)
        return taking and AtOnce(taking, 1, plan.claim)
    return _writes_at_once(plan) if isinstance(plan, PutWrites) else None


def _writes_at_once(plan: PutWrites) -> AtOnce | None:
    """Give pending writes of a checkpoint that is not packed, of which none replaces another."""
    writes, fence = plan.writes, plan.fence
    if plan.blobs or plan.seq <= 0 or not 0 < len(writes) <= _MOST:
        return None
    if any(row.replace for row in writes):
        return None
    step = step_id(plan.line, plan.seq)
    values = [value for row in writes for value in write_values(step, row)]
    expected = (fence.run, fence.incarnation, fence.token, fence.layout, plan.line, step)
    return AtOnce(Statement(_text(len(writes)), (*values, *expected)), len(writes), None)


@lru_cache(maxsize=_MOST)
def _text(count: int) -> str:
    rows = ", ".join([_ROW] * count)
    return f"""
INSERT INTO write (step, task, ordinal, path, channel, value, digest, status)
SELECT * FROM (VALUES {rows})
WHERE EXISTS (
    SELECT 1 FROM run r JOIN line l ON l.run = r.id
    WHERE r.id = ? AND r.incarnation = ? AND r.token = ? AND r.layout = ? AND l.id = ?)
  AND EXISTS (SELECT 1 FROM step WHERE id = ?)
ON CONFLICT (step, task, ordinal) DO NOTHING
"""  # noqa: S608 - nothing is put in but question marks
