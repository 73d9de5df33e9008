"""Tables of LangGraph before 0.2, which had no namespaces, given under the names of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from keepset.readers.databases.port import Database, Dialect, Row

_TIME: Final = "thread_ts"
_TODAY: Final = "checkpoint_id"
_TAG: Final = "case when substr({value}, 1, 1) = x'80' then 'pickle' else 'json' end"
"""A pickle begins with the number of its protocol; what is none was JSON in those days."""


def of_today(database: Database) -> Database:
    """Give a database as one of today; itself where it needs nothing of the kind."""
    has = set(database.tables.get("checkpoints", ()))
    is_older = {"thread_id", "checkpoint"} <= has and not has & {"checkpoint_ns", _TODAY}
    return _Older(database) if is_older and database.dialect == "sqlite" else database


def is_older(database: Database) -> bool:
    """Tell whether a database is one whose tables are given under other names."""
    return isinstance(database, _Older)


class _Older:
    """A database whose tables of checkpoints and writes are read through a query.

    The query gives columns new names and adds those that are missing, which SQLite sees through, so
    that the index of the table is used. Where each thread has one checkpoint, and no more, that is
    called ``-``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sources: dict[str, str] = {}
        self._tables = {name: dict(columns) for name, columns in database.tables.items()}
        for table, value in (("checkpoints", "checkpoint"), ("writes", "value")):
            if value in self._tables.get(table, ()):
                self._sources[table] = self._source(table, value)

    def _source(self, table: str, value: str) -> str:
        columns = self._tables[table]
        found = [f"{self.quoted(one)}" for one in columns if one != _TIME]
        found.append(
            f"{self.quoted(_TIME)} as {_TODAY}" if _TIME in columns else f"'-' as {_TODAY}"
        )
        found.append("'' as checkpoint_ns")
        found.append(f"{_TAG.format(value=self.quoted(value))} as type")
        for added in (_TODAY, "checkpoint_ns", "type"):
            columns[added] = "text"
        columns.pop(_TIME, None)
        return f"(select {', '.join(found)} from {self._database.named(table)})"  # noqa: S608 - names are quoted

    @property
    def dialect(self) -> Dialect:
        """That of the database."""
        return self._database.dialect

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """The tables, with the columns of today."""
        return self._tables

    @property
    def mark(self) -> str:
        """That of the database."""
        return self._database.mark

    def row_key(self, table: str) -> tuple[str, ...]:
        """That of the database."""
        return self._database.row_key(table)

    def named(self, table: str) -> str:
        """Give the query that stands for a table."""
        return self._sources.get(table) or self._database.named(table)

    def quoted(self, column: str) -> str:
        """Quote a name."""
        return self._database.quoted(column)

    def weight(self, table: str, column: str) -> str:
        """That of the database."""
        return self._database.weight(table, column)

    def text(self, table: str, column: str) -> str:
        """That of the database."""
        return self._database.text(table, column)

    def fetch(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one statement."""
        return self._database.fetch(statement, parameters)

    def size(self) -> int:
        """That of the database."""
        return self._database.size()

    def free(self) -> int:
        """That of the database."""
        return self._database.free()

    def notes(self) -> tuple[str, ...]:
        """Those of the database."""
        return self._database.notes()
