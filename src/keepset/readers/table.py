"""Any table whose columns a person names: one for the run, one for the step, one for the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from keepset.errors import NotFoundError
from keepset.readers.databases.pages import Listing, asked, count, distinct, rows
from keepset.readers.databases.port import Database
from keepset.readers.decoding import from_json
from keepset.readers.decoding.entries import as_bytes, entries
from keepset.readers.decoding.guessed import guessed
from keepset.readers.ports import Item, Overview, RunFacts
from keepset.readers.times import time_in

NO_RUN: Final = "(no run)"
"""The run of rows that name none."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where in a database values are.

    Attributes:
        table: The table.
        run: The column that says of which run a row is.
        step: The column that orders the rows of a run.
        value: The column with the value: JSON, text or bytes.
    """

    table: str
    run: str
    step: str
    value: str


class TableReader:
    """Reads one column of a table.

    Args:
        database: The database, open to read.
        columns: Where in it the values are.

    Raises:
        NotFoundError: ``audit.no-table``, ``audit.no-column``: it has no such table or column.
    """

    def __init__(self, database: Database, columns: Columns) -> None:
        """Look whether they are there."""
        self._database = database
        self._columns = columns
        self._check()
        self._has_no_run = self._any_null(columns.run)
        key = database.row_key(columns.table)
        # A row without a step would never come after another: then rows stand as they were put in
        order = key if self._any_null(columns.step) else (columns.step, *key)
        self._listing = Listing(
            columns.table,
            tuple(dict.fromkeys(order)),
            (columns.step, columns.value),
            (columns.run,),
            frozenset({columns.step}),
        )

    def _check(self) -> None:
        tables, columns = self._database.tables, self._columns
        if columns.table not in tables:
            raise NotFoundError(
                f"the database has no table {columns.table}",
                code="audit.no-table",
                hint=f"It has {', '.join(sorted(tables)) or 'none'}.",
            )
        for one in (columns.run, columns.step, columns.value):
            if one not in tables[columns.table]:
                raise NotFoundError(
                    f"the table {columns.table} has no column {one}",
                    code="audit.no-column",
                    hint=f"It has {', '.join(tables[columns.table])}.",
                )

    def _any_null(self, column: str) -> bool:
        source, name = self._database.named(self._columns.table), self._database.quoted(column)
        statement = f"select 1 from {source} where {name} is null limit 1"  # noqa: S608 - names are quoted
        return bool(asked(self._database, statement, table=self._columns.table))

    @property
    def kind(self) -> str:
        """A table."""
        return f"table-{self._database.dialect}"

    def overview(self) -> Overview:
        """Count rows and runs."""
        database, table = self._database, self._columns.table
        return Overview(
            kind=self.kind,
            version=f"the column {self._columns.value} of {table}",
            size=database.size(),
            rows={table: count(database, table)},
            runs=sum(1 for _ in self._ids()),
            notes=database.notes(),
            free=database.free(),
        )

    def _ids(self) -> Iterator[object]:
        yield from distinct(self._database, self._columns.table, self._columns.run)
        if self._has_no_run:
            yield None

    def runs(self) -> Iterator[RunFacts]:
        """Give every value of the run's column."""
        database, columns = self._database, self._columns
        step, run = database.text(columns.table, columns.step), database.quoted(columns.run)
        for one in self._ids():
            where = f"{run} is null" if one is None else f"{run} = {database.mark}"
            size = database.weight(columns.table, columns.value)
            statement = (
                f"select count(*), coalesce(sum({size}),0),"  # noqa: S608 - the same
                f" min({step}), max({step}) from {database.named(columns.table)} where {where}"
            )
            parameters = [] if one is None else [one]
            ((number, size, first, last),) = asked(
                database, statement, parameters, table=columns.table
            )
            name = NO_RUN if one is None else _named(one)
            yield RunFacts(name, int(number), int(size), time_in(first), time_in(last))

    def items(self, run: str) -> Iterator[Item]:
        """Give the values of a run; of a JSON object each entry by itself."""
        key = None if run == NO_RUN and self._has_no_run else self._typed(run)
        width = len(self._listing.keys)
        for row in rows(self._database, self._listing, (key,)):
            step, value = row[width], row[width + 1]
            yield from cut(run, step, self._columns.value, value)

    def _typed(self, run: str) -> object:
        """Give a run's id as its rows have it: a number, or bytes, is not found by a text."""
        declared = self._database.tables[self._columns.table][self._columns.run]
        if self._database.dialect == "sqlite":  # there each row may have an id of another type
            return next(filter(self._has, _meant(run)), run)
        wanted = int if "int" in declared else bytes if declared == "bytea" else str
        return next((one for one in _meant(run) if type(one) is wanted), run)

    def _has(self, run: object) -> bool:
        database, columns = self._database, self._columns
        where = f"{database.quoted(columns.run)} = {database.mark}"
        statement = f"select 1 from {database.named(columns.table)} where {where} limit 1"  # noqa: S608 - the same
        return bool(asked(database, statement, (run,), table=columns.table))

    def orphans(self) -> Mapping[str, int]:
        """Count the rows that name no run."""
        if not self._has_no_run:
            return {}
        source = self._database.named(self._columns.table)
        name = self._database.quoted(self._columns.run)
        statement = f"select count(*) from {source} where {name} is null"  # noqa: S608 - the same
        found = asked(self._database, statement, table=self._columns.table)
        return {self._columns.table: int(found[0][0])}


def _named(run: object) -> str:
    """Write the id of a run as a text."""
    return bytes(run).hex() if isinstance(run, (bytes, memoryview)) else str(run)


def _meant(run: str) -> Iterator[object]:
    """Give what is written like this: a text, a number, bytes."""
    yield run
    for read in (int, float, bytes.fromhex):
        with suppress(ValueError):
            yield read(run)


def cut(run: str, step: object, column: str, value: object) -> Iterator[Item]:
    """Give a value of a column; of a JSON object each entry by itself."""
    told = f"{step:015}" if isinstance(step, int) else str(step)
    found = entries(value) if isinstance(value, (str, bytes)) else None
    if not found:
        encoding, content = guessed(value)
        size = len(as_bytes(value)) or len(str(value if value is not None else ""))
        yield Item(run, "", told, "state", column, size, encoding, content, time_in(step))
        return
    for name, text in found:
        content = from_json(text)
        yield Item(run, "", told, "state", name, len(text), "json", content, time_in(step))
