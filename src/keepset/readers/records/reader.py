"""The reader of hosts that keep a run as rows of a few tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from keepset.readers.databases.pages import asked, count, rows
from keepset.readers.databases.port import Database, Row
from keepset.readers.decoding import from_json
from keepset.readers.decoding.entries import as_bytes, entries
from keepset.readers.ports import Item, Overview, RunFacts
from keepset.readers.records.part import Host, Part, Value
from keepset.readers.times import time_in


class RecordsReader:
    """Reads the rows of each run, table by table.

    The id of a run that has several parts, such as an application, a user and a session, joins them
    with strokes; a stroke inside a part is written ``%2F``.

    Args:
        database: The database, open to read.
        host: Where in it the values are.
    """

    def __init__(self, database: Database, host: Host) -> None:
        """Read nothing yet."""
        self._database = database
        self._host = host
        self._is_joined = any(len(part.run) > 1 for part in host.parts)

    @property
    def kind(self) -> str:
        """The host on the database that it is on."""
        return f"{self._host.kind}-{self._database.dialect}"

    def overview(self) -> Overview:
        """Count rows and runs."""
        database, host = self._database, self._host
        return Overview(
            kind=self.kind,
            version=host.version,
            size=database.size(),
            rows={part.table: count(database, part.table) for part in host.parts},
            runs=sum(1 for _ in self._ids()),
            notes=database.notes(),
            free=database.free(),
        )

    def runs(self) -> Iterator[RunFacts]:
        """Give every run, then those of which only rows are left."""
        for key in self._ids():
            yield self._facts(key)

    def _ids(self) -> Iterator[Row]:
        """Give the ids of runs, those of the tables that list them first."""
        for index, part in enumerate(self._host.parts):
            before = [one for one in self._host.parts[:index] if len(one.run) == len(part.run)]
            for key in self._leaps(part):
                if not any(self._has(one, key) for one in before):
                    yield key

    def _leaps(self, part: Part) -> Iterator[Row]:
        """Go from one run to the next along the index of a table; rows of none are left out."""
        database = self._database
        columns = ", ".join(database.quoted(one) for one in part.run)
        marks = ", ".join(database.mark for _ in part.run)
        source = database.named(part.table)
        named = " and ".join(f"{database.quoted(one)} is not null" for one in part.run)
        key: Row = ()
        while True:
            where = f" where {named}" + (f" and ({columns}) > ({marks})" if key else "")
            statement = f"select {columns} from {source}{where} order by {columns} limit 1"  # noqa: S608 - names are quoted
            found = asked(database, statement, key, table=part.table)
            if not found:
                return
            key = found[0]
            yield key

    def _has(self, part: Part, key: Row) -> bool:
        return bool(self._ask(part, "1", key, " limit 1"))

    def _ask(self, part: Part, what: str, key: Row, more: str = "") -> list[Row]:
        database = self._database
        terms = " and ".join(f"{database.quoted(one)} = {database.mark}" for one in part.run)
        statement = f"select {what} from {database.named(part.table)} where {terms}{more}"  # noqa: S608 - the same
        return asked(database, statement, key, table=part.table)

    def _facts(self, key: Row) -> RunFacts:
        host, steps, size = self._host, 0, 0
        parts = [part for part in host.parts if len(part.run) == len(key)]
        for part in parts:
            columns = [*part.run, *part.keys, *part.listing().columns]
            each = (self._database.weight(part.table, one) for one in dict.fromkeys(columns))
            weighed = "+".join(f"coalesce({one},0)" for one in each)
            ((number, total),) = self._ask(part, f"count(*), coalesce(sum({weighed}),0)", key)
            steps += 0 if part.has_runs and len(parts) > 1 else int(number)
            size += int(total)
        return self._told(RunFacts(self._joined(key), steps, size), key)

    def _told(self, facts: RunFacts, key: Row) -> RunFacts:
        """Add what the table of runs tells of one: when it began, and how it stands."""
        host, first = self._host, self._host.parts[0]
        columns = [one for one in (host.first, host.last, host.status) if one]
        if len(first.run) != len(key) or not columns:
            return facts
        names = ", ".join(self._database.text(first.table, one) for one in columns)
        found = self._ask(first, names, key, " limit 1")
        if not found:
            return facts
        named = dict(zip(columns, found[0], strict=True))
        status = named.get(host.status)
        return RunFacts(
            facts.run,
            facts.checkpoints,
            facts.size,
            time_in(named.get(host.first)),
            time_in(named.get(host.last)),
            str(status) in host.unfinished if host.status else None,
        )

    def items(self, run: str) -> Iterator[Item]:
        """Give the values of a run, table by table."""
        key = self._split(run)
        for part in self._host.parts:
            if len(part.run) == len(key):
                listing = part.listing()
                for row in rows(self._database, listing, key):
                    yield from _items(run, part, row, listing.columns)

    def _joined(self, key: Row) -> str:
        """Write the id of a run as one text."""
        if not self._is_joined:
            return str(key[0])
        return "/".join(str(one).replace("%", "%25").replace("/", "%2F") for one in key)

    def _split(self, run: str) -> tuple[str, ...]:
        """Read the parts of a run's id."""
        return tuple(unquote(one) for one in run.split("/")) if self._is_joined else (run,)

    def orphans(self) -> Mapping[str, int]:
        """Count the rows of runs that no table lists, and those that name no run."""
        lists = [part for part in self._host.parts if part.has_runs]
        found: dict[str, int] = {}
        for part in self._host.parts:
            if nameless := self._nameless(part):
                found[part.table] = nameless
            known = [one for one in lists if len(one.run) == len(part.run)]
            if part.has_runs or not known:
                continue
            lost = (key for key in self._leaps(part) if not any(self._has(o, key) for o in known))
            number = sum(int(self._ask(part, "count(*)", key)[0][0]) for key in lost)
            found[part.table] = nameless + number
        return found

    def _nameless(self, part: Part) -> int:
        database = self._database
        terms = " or ".join(f"{database.quoted(one)} is null" for one in part.run)
        statement = f"select count(*) from {database.named(part.table)} where {terms}"  # noqa: S608 - the same
        return int(asked(database, statement, table=part.table)[0][0])


def _items(run: str, part: Part, row: Row, columns: tuple[str, ...]) -> Iterator[Item]:
    width = len(part.keys)
    named = dict(zip(columns, row[width:], strict=True))
    step = ":".join(f"{one:015}" if isinstance(one, int) else str(one) for one in row[:width])
    written = time_in(named.get(part.written)) if part.written else None
    for value in part.values:
        data = named[value.column]
        if data is not None:
            yield from _cut(run, step, value, named, written)


def _cut(
    run: str, step: str, value: Value, named: Mapping[str, Any], written: float | None
) -> Iterator[Item]:
    """Give one value; of an object that is spread each entry by itself."""
    data = named[value.column]
    found = entries(data) if value.is_spread else None
    if found is not None:
        for name, text in found:
            surface = "error" if name.startswith("error") else value.surface
            yield Item(
                run, "", step, surface, name, len(text), "json", from_json(text), written
            )  # fmt: skip
        return
    encoding, content = value.read(data)
    field = str(named[value.named_by]) if value.named_by else value.column
    size = len(as_bytes(data)) or len(str(data))
    yield Item(run, "", step, value.surface, field, size, encoding, content, written)
