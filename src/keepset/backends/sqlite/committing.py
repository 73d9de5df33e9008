"""Several pieces of work in one transaction, each undone alone where it is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite.failures import is_full

Work: TypeAlias = Callable[[sqlite3.Connection], Any]
"""What to do on a connection, inside a transaction."""

UNDONE = Outcome()
"""What came of work that was undone through no fault of its own."""


def commit_together(connection: sqlite3.Connection, works: Sequence[Work]) -> list[Outcome]:
    """Do all work in the transaction that is open, and commit it.

    Returns:
        What came of each. `UNDONE` stands for work that was undone because another piece was too
        much for SQLite: it is not committed and can be done again.

    Raises:
        sqlite3.Error: The commit failed: nothing is known to be on the disk.
    """
    several = len(works) > 1
    outcomes = []
    try:
        for number, work in enumerate(works):
            outcomes.append(_attempt(connection, work, share=several))
            if not connection.in_transaction:
                return [UNDONE] * number + outcomes[-1:] + [UNDONE] * (len(works) - number - 1)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if several and is_full(error):
            return [UNDONE] * len(works)  # the mark of the commit was not written
        raise
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return outcomes


def _attempt(connection: sqlite3.Connection, work: Work, *, share: bool) -> Outcome:
    outcome = Outcome()
    with outcome:
        if share:
            connection.execute("SAVEPOINT work")
        outcome.value = work(connection)
        if share:
            connection.execute("RELEASE work")
    if outcome.error and connection.in_transaction:
        undone = Outcome()
        if share:
            with undone:
                connection.execute("ROLLBACK TO work")
                connection.execute("RELEASE work")
        if not share or undone.error:
            connection.execute("ROLLBACK")
    return outcome
