"""Operations as generators of statements, and the interpreter that runs one on a connection.

An operation yields a `Statement` and receives its rows, so that it says what is done and not how
it is sent: the same shape runs on another engine's driver, synchronous or not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from keepset.errors import StoreError

T = TypeVar("T")

Rows: TypeAlias = list[tuple[Any, ...]]
"""What a statement gives."""


class Statement(NamedTuple):
    """One statement, or one statement for each of many rows of parameters.

    Attributes:
        sql: The text.
        parameters: By name or by position.
        many: Rows of parameters by position; the statement then gives no rows.
    """

    sql: str
    parameters: Mapping[str, object] | Sequence[object] = ()
    many: Sequence[Sequence[object]] | None = None


Steps: TypeAlias = Generator[Statement, Rows, T]
"""An operation: yields statements, receives rows, returns what its plan gives."""


def interpret(connection: sqlite3.Connection, steps: Steps[T]) -> T:
    """Run an operation on a connection, inside the transaction that is open there."""
    try:
        statement = next(steps)
        while True:
            if statement.many is None:
                rows = connection.execute(statement.sql, statement.parameters).fetchall()
            else:
                connection.executemany(statement.sql, statement.many)
                rows = []
            statement = steps.send(rows)
    except StopIteration as stop:
        result: T = stop.value
        return result


LARGEST_SEQ = (1 << 32) - 1
"""The most checkpoints that a line can have had."""


def step_id(line: int, seq: int) -> int:
    """The id of a step in its table.

    Raises:
        StoreError: The line has had more checkpoints than an id can tell apart.
    """
    if not 0 < seq <= LARGEST_SEQ:
        raise StoreError(
            f"a line cannot have a checkpoint number {seq}",
            code="store.limit",
            hint=f"A line holds {LARGEST_SEQ} checkpoints at most: start a new run.",
        )
    return line << 32 | seq


def span(line: int) -> dict[str, int]:
    """The open bounds of a line's step ids, as the parameters `low` and `high`."""
    return {"low": line << 32, "high": (line + 1) << 32}
