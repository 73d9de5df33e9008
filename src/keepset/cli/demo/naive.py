"""A naive saver: after each step it stores every field that can be turned into JSON, whole.

This is what savers do that know nothing of what a field means. It is not made worse than they
are: it saves after each step, atomically, and what it saved it gives back.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keepset.cli.demo.state import Research

_TABLE = """
CREATE TABLE IF NOT EXISTS checkpoint (step INTEGER PRIMARY KEY, name TEXT, state TEXT)
"""


class NaiveSaver:
    """Saves the state of one run in a SQLite file.

    Args:
        path: The file; it is created where it is not there.
    """

    def __init__(self, path: Path) -> None:
        """Create the table where it is missing."""
        self._path = path
        with closing(self._connect()) as db, db:
            db.execute(_TABLE)

    def save(self, step: int, name: str, state: Mapping[str, Any]) -> None:
        """Store the state after a step."""
        text = json.dumps(
            {key: value for key, value in state.items() if _is_json(value)}, default=str
        )
        with closing(self._connect()) as db, db:
            db.execute("INSERT INTO checkpoint VALUES (?, ?, ?)", (step, name, text))

    def load(self) -> tuple[int, dict[str, Any]]:
        """Give the number of the last step that was saved, -1 for none, and what was saved."""
        with closing(self._connect()) as db:
            row = db.execute("SELECT step, state FROM checkpoint ORDER BY step DESC").fetchone()
        return (row[0], json.loads(row[1])) if row else (-1, {})

    def sizes(self) -> list[int]:
        """Give the bytes of each checkpoint."""
        with closing(self._connect()) as db:
            rows = db.execute("SELECT length(CAST(state AS BLOB)) FROM checkpoint ORDER BY step")
            return [size for (size,) in rows]

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)


def resumed(saved: Mapping[str, Any], fresh: Research) -> Research:
    """Put what was saved over a fresh state; what could not be saved stays fresh."""
    state = cast("Research", {**fresh, **saved})
    state["workdir"] = Path(state["workdir"])
    return state


def _is_json(value: object) -> bool:
    if isinstance(value, Path):
        return True
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True
