"""The rows of `SQLiteSession` and `SQLAlchemySession`: items as JSON, in the order of their ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from keepset.readers.databases.pages import distinct, rows
from keepset.readers.databases.port import Database
from keepset.readers.decoding.entries import as_bytes
from keepset.readers.records.part import Host, Part
from keepset.readers.times import time_in

KIND: Final = "openai-agents"
_SEALED: Final = "__enc__"


class ItemRow(NamedTuple):
    """One item.

    Attributes:
        name: Its id; ids of later ones sort behind it.
        item: What it holds; None where that cannot be told.
        why: What is the matter with it; empty where nothing is.
        size: Its bytes.
        at: When it was added, milliseconds; None where that is not said.
    """

    name: str
    item: object
    why: str
    size: int
    at: int | None


class SessionRows:
    """Reads sessions.

    Args:
        database: The database, open to read.
        host: Where in it sessions are.
    """

    def __init__(self, database: Database, host: Host) -> None:
        """Read nothing yet."""
        self._database = database
        self._messages: Part = host.parts[-1]

    def sessions(self) -> Iterator[str]:
        """Give the ids of all sessions that have items."""
        part = self._messages
        yield from (str(one) for one in distinct(self._database, part.table, part.run[0]))

    def items(self, session: str) -> Iterator[ItemRow]:
        """Give the items of a session, the oldest first."""
        listing = self._messages.listing()
        for row in rows(self._database, listing, (session,)):
            named = dict(zip(("id", *listing.columns), row, strict=True))
            raw = as_bytes(named["message_data"])
            item, why = _item(raw)
            at = time_in(named.get("created_at"))
            milliseconds = None if at is None else int(at * 1000)
            yield ItemRow(f"{int(row[0]):020}", item, why, len(raw), milliseconds)


def _item(raw: bytes) -> tuple[object, str]:
    try:
        item = json.loads(raw)
    except (ValueError, RecursionError):
        return None, "no whole JSON"
    if isinstance(item, dict) and _SEALED in item:
        return None, "it is encrypted"
    return item, ""
