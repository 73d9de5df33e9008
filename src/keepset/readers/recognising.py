"""Which kind of store a place is, told from what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from keepset.errors import KeepsetError, UsageError
from keepset.readers.databases.port import Database
from keepset.readers.langgraph.layout import layout_of
from keepset.readers.langgraph.older import of_today
from keepset.readers.langgraph.reader import LangGraphReader
from keepset.readers.ports import Opener, Reader
from keepset.readers.records.hosts import host_of
from keepset.readers.records.reader import RecordsReader
from keepset.readers.sources import databases_at, is_database, path_of, shown
from keepset.readers.table import Columns, TableReader
from keepset.readers.traces import JsonOpener

Maker = Callable[[Database], Reader | None]
"""Gives the reader of a database; None where it is of another kind."""

_MOST_NAMED: Final = 12


def _langgraph(database: Database) -> Reader | None:
    tables = of_today(database)
    layout = layout_of(tables)
    return None if layout is None else LangGraphReader(tables, layout)


def _records(database: Database) -> Reader | None:
    host = host_of(database)
    return None if host is None else RecordsReader(database, host)


MAKERS: Final[tuple[Maker, ...]] = (_langgraph, _records)
"""In the order in which they are tried."""


class DatabaseOpener:
    """Opens databases of one kind.

    Args:
        make: Gives the reader of one of them.
    """

    def __init__(self, make: Maker) -> None:
        """Take the kind."""
        self._make = make

    def recognises(self, place: str) -> bool:
        """Tell whether a place is a database of this kind."""
        try:
            if not is_database(place):
                return False
            with databases_at(place) as found:
                return any(self._make(one) is not None for one in found)
        except KeepsetError:
            return False

    @contextmanager
    def open(self, place: str) -> Iterator[Reader]:
        """Open a database to read.

        Raises:
            UsageError: ``audit.unknown-store``: it is of another kind.
        """
        with databases_at(place) as found:
            for one in found:
                if (reader := self._make(one)) is not None:
                    yield reader
                    return
            raise _unknown(place, found)


def recognise(place: str) -> Opener:
    """Tell what a place is, from its content.

    Args:
        place: A path, ``sqlite:///…``, or ``postgresql://…``, with ``?schema=`` if need be.

    Raises:
        NotFoundError: ``audit.not-found``: there is nothing there.
        UsageError: ``audit.unknown-store``: it is nothing that a reader knows; ``audit.empty``:
            there is nothing in it; ``audit.place``: it is no place; ``audit.not-installed``: a
            driver is missing.
        StoreError: ``audit.cannot-read``: it is damaged, locked, out of reach or forbidden.
    """
    if is_database(place):
        with databases_at(place) as found:
            for make in MAKERS:
                if any(make(one) is not None for one in found):
                    return DatabaseOpener(make)
            raise _unknown(place, found)
    opener = JsonOpener()
    if opener.recognises(str(path_of(place))):
        return opener
    raise UsageError(
        f"{shown(place)} is neither a SQLite database nor JSON",
        code="audit.unknown-store",
        hint="Name the file that the saver writes, or a file of JSON, one document on each line.",
    )


def table_opener(columns: Columns) -> Opener:
    """Give what opens any table, in which a person knows where the values are."""
    return DatabaseOpener(lambda database: TableReader(database, columns))


def _unknown(place: str, found: list[Database]) -> UsageError:
    if not any(one.tables for one in found):
        return UsageError(
            f"{shown(place)} has no tables: nothing was ever written to it, or nothing that this "
            "user may see",
            code="audit.empty",
            hint="Look at the path or the URL that the saver is given, and at the schema.",
        )
    names = sorted({table for one in found for table in one.tables})
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    told = ", ".join(names[:_MOST_NAMED]) or "none"
    return UsageError(
        f"{shown(place)} has no tables of a tool that is known; it has: {told}{more}",
        code="audit.unknown-store",
        hint="If the values are in one of them, say where: --table T --run COLUMN --step COLUMN "
        "--value COLUMN.",
    )
