"""Rows by ranges of their keys: batch after batch, none of them large in rows or in bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from keepset.errors import StoreError
from keepset.readers.databases.port import Cancelled, Database, Row

_ROWS: Final = 256
"""Rows of a batch, at most."""

_BYTES: Final = 4 << 20
"""Bytes of a batch, unless one row alone has more."""

LARGEST_ROW: Final = 256 << 20
"""Bytes of one row that are read; of a larger one each value is cut off here."""

_DISTINCT: Final = 512
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Listing:
    """What is read of a table, and in which order.

    Attributes:
        table: Its name.
        keys: The columns that order it and name a row; an index begins with `fixed` and them.
        columns: The columns whose values are read, after the keys.
        fixed: Columns that have one value in all rows that are read.
        plain: Those of the keys and columns that are read as they are; the others as text or bytes.
    """

    table: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    fixed: tuple[str, ...] = ()
    plain: frozenset[str] = field(default=frozenset())


def rows(
    database: Database,
    listing: Listing,
    fixed: Sequence[object] = (),
    *,
    after: Row | None = None,
) -> Iterator[Row]:
    """Give the rows of a table, keys first, in the order of their keys.

    Keys and sizes are read first, so that no batch is larger than it should be.

    Args:
        database: Where the table is.
        listing: What is read of it.
        fixed: The values of the fixed columns.
        after: Only rows whose keys are larger.
    """
    pages = _Pages(database, listing, fixed)
    begin = after
    while heads := pages.heads(begin):
        for group, size in _groups(heads):
            yield from pages.whole(begin, group, is_huge=size > LARGEST_ROW)
            begin = group[-1]


def weights(database: Database, listing: Listing, fixed: Sequence[object]) -> Iterator[int]:
    """Give the bytes of each row, which is not read."""
    pages = _Pages(database, listing, fixed)
    begin: Row | None = None
    while heads := pages.heads(begin):
        yield from (int(row[-1]) for row in heads)
        begin = heads[-1][:-1]


class _Pages:
    """One pass over rows of a table."""

    def __init__(self, database: Database, listing: Listing, fixed: Sequence[object]) -> None:
        self._database = database
        self._listing = listing
        self._fixed = tuple(fixed)
        self._limit = _ROWS
        self._keys = ", ".join(database.quoted(key) for key in listing.keys)
        self._source = database.named(listing.table)

    def heads(self, after: Row | None) -> list[Row]:
        """Read keys and sizes of the next rows; of fewer, where that many take too long."""
        database, listing = self._database, self._listing
        size = (
            "+".join(
                f"coalesce({database.weight(listing.table, one)},0)" for one in listing.columns
            )
            or "0"
        )
        where, parameters = self._where(after, None)
        tries = _TRIES
        while tries:
            statement = (
                f"select {self._keys}, {size} from {self._source}{where}"  # noqa: S608 - names are quoted, values are parameters
                f" order by {self._keys} limit {self._limit}"
            )
            try:
                return database.fetch(statement, parameters)
            except Cancelled:
                tries -= self._limit == 1
                self._limit = max(1, self._limit // 2)
        raise _too_slow(listing.table)

    def whole(self, after: Row | None, group: list[Row], *, is_huge: bool) -> list[Row]:
        """Read a few rows whole; where they take too long, each half by itself."""
        columns = "".join(
            f", {self._column(one, is_huge=is_huge)}" for one in self._listing.columns
        )
        where, parameters = self._where(after, group[-1])
        statement = f"select {self._keys}{columns} from {self._source}{where} order by {self._keys}"  # noqa: S608 - the same
        for _ in range(_TRIES):
            try:
                return self._database.fetch(statement, parameters)
            except Cancelled:
                if len(group) > 1:
                    half = len(group) // 2
                    parts = ((after, group[:half]), (group[half - 1], group[half:]))
                    halves = (self.whole(begin, part, is_huge=is_huge) for begin, part in parts)
                    return [row for rows_of_half in halves for row in rows_of_half]
        raise _too_slow(self._listing.table)

    def _column(self, column: str, *, is_huge: bool) -> str:
        if column in self._listing.plain:
            return self._database.quoted(column)
        whole = self._database.text(self._listing.table, column)
        return f"substr({whole}, 1, {LARGEST_ROW})" if is_huge else whole

    def _where(self, after: Row | None, until: Row | None) -> tuple[str, list[object]]:
        mark = self._database.mark
        terms = [
            f"{self._database.quoted(one)} {'is null' if value is None else f'= {mark}'}"
            for one, value in zip(self._listing.fixed, self._fixed, strict=True)
        ]
        parameters: list[object] = [value for value in self._fixed if value is not None]
        marks = ", ".join(mark for _ in self._listing.keys)
        for limit, comparison in ((after, ">"), (until, "<=")):
            if limit is not None:
                terms.append(f"({self._keys}) {comparison} ({marks})")
                parameters += limit
        return (" where " + " and ".join(terms) if terms else ""), parameters


def _groups(heads: list[Row]) -> Iterator[tuple[list[Row], int]]:
    """Cut a batch where its bytes become too many."""
    group: list[Row] = []
    size = 0
    for *keys, weight in heads:
        if group and size + weight > _BYTES:
            yield group, size
            group, size = [], 0
        group.append(tuple(keys))
        size += weight
    yield group, size


def distinct(
    database: Database,
    table: str,
    column: str,
    fixed: Sequence[tuple[str, object]] = (),
    *,
    after: object = None,
) -> Iterator[object]:
    """Give the values that a column has, smallest first, by leaps along its index."""
    mark, limit = database.mark, _DISTINCT
    name, source = database.quoted(column), database.named(table)
    terms = "".join(f" and {database.quoted(one)} = {mark}" for one, _ in fixed)
    values = [value for _, value in fixed]
    while True:
        begin = "" if after is None else f" and {name} > {mark}"
        statement = (
            f"with recursive leap(x) as (select * from (select {name} from {source} where"  # noqa: S608 - the same
            f" {name} is not null{terms}{begin} order by {name} limit 1) t"
            f" union all select (select {name} from {source} where {name} > leap.x{terms}"
            f" order by {name} limit 1) from leap where leap.x is not null)"
            f" select x from leap where x is not null limit {limit}"
        )
        parameters = [*values, *([] if after is None else [after]), *values]
        try:
            found = database.fetch(statement, parameters)
        except Cancelled:
            if limit == 1:
                raise _too_slow(table) from None
            limit //= 2
            continue
        yield from (row[0] for row in found)
        if len(found) < limit:
            return
        after = found[-1][0]


def asked(
    database: Database, statement: str, parameters: Sequence[object] = (), *, table: str
) -> list[Row]:
    """Run a statement that cannot be made smaller; again, where it was in somebody's way.

    Raises:
        StoreError: ``audit.too-slow``.
    """
    for _ in range(_TRIES):
        try:
            return database.fetch(statement, parameters)
        except Cancelled:
            continue
    raise _too_slow(table)


def count(database: Database, table: str) -> int:
    """Count the rows of a table."""
    statement = f"select count(*) from {database.named(table)}"  # noqa: S608 - the same
    return int(asked(database, statement, table=table)[0][0])


def _too_slow(table: str) -> StoreError:
    return StoreError(
        f"a read of a few rows of the table {table} was stopped again and again",
        code="audit.too-slow",
        hint="Try again when the database is less busy, or read a copy of it.",
        retryable=True,
    )
