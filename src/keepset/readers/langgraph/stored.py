"""LangGraph's store: documents under namespaces, beside the checkpoints or by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keepset.readers.databases.pages import Listing, asked, distinct, rows
from keepset.readers.databases.port import Database
from keepset.readers.decoding import from_json
from keepset.readers.decoding.entries import as_bytes, entries
from keepset.readers.ports import Item, RunFacts
from keepset.readers.times import time_from

PREFIX: Final = "store:"
"""What the id of a namespace begins with, among those of threads."""


def namespaces(database: Database, listing: Listing) -> Iterator[RunFacts]:
    """Tell of each namespace as of a run: what is in it has no run that it ends with."""
    columns = ("prefix", "key", "value")
    each = "+".join(f"coalesce({database.weight(listing.table, one)},0)" for one in columns)
    for prefix in distinct(database, listing.table, "prefix"):
        times = ", ".join(
            f"{function}({database.quoted(column)})"
            for column, function in (("created_at", "min"), ("updated_at", "max"))
            if column in listing.columns
        )
        statement = (
            f"select coalesce(sum({each}),0){', ' if times else ''}{times}"  # noqa: S608 - names are ours
            f" from {database.named(listing.table)} where prefix = {database.mark}"
        )
        (size, *found) = asked(database, statement, (prefix,), table=listing.table)[0]
        first, last = (time_from(str(one)) for one in found) if times else (None, None)
        yield RunFacts(f"{PREFIX}{prefix}", 0, int(size), first, last)


def documents(database: Database, listing: Listing, prefix: str) -> Iterator[Item]:
    """Give the entries of each document of a namespace; the document's key is the step."""
    for key, value, *times in rows(database, listing, (prefix,)):
        written = time_from(str(times[-1])) if times else None
        for name, part in entries(value) or [("value", as_bytes(value))]:
            yield Item(
                run=f"{PREFIX}{prefix}",
                namespace="",
                step=str(key),
                surface="store",
                field=name,
                size=len(part),
                encoding="json",
                value=from_json(part),
                written=written,
            )
