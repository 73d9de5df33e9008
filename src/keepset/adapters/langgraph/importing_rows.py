"""The rows of LangGraph's savers on SQLite and PostgreSQL, thread by thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from keepset.errors import DecodeError
from keepset.readers.databases.pages import Listing, asked, distinct
from keepset.readers.databases.port import Database
from keepset.readers.decoding.entries import as_bytes
from keepset.readers.langgraph.layout import Layout

_PAGE: Final = 1_000
_SPOT: Final = ("thread_id", "checkpoint_ns", "checkpoint_id")


class Spot(NamedTuple):
    """Where a checkpoint lies in a thread; they sort in the order in which they were made."""

    checkpoint: str
    namespace: str


class CheckpointRow(NamedTuple):
    """A checkpoint as it lies in its table.

    Attributes:
        parent: Id of its parent; empty where it has none.
        tag: How it is stored; None for JSON.
        data: Its bytes.
        metadata: The bytes of its metadata, which are JSON.
    """

    parent: str
    tag: str | None
    data: bytes
    metadata: bytes


class WriteRow(NamedTuple):
    """A pending write as it lies in its table; they sort as LangGraph applies them."""

    path: str
    task: str
    place: int
    channel: str
    tag: str | None
    data: bytes | None


class Rows:
    """Reads the tables of one database, in short statements.

    Args:
        database: The database, open to read.
        layout: Where in it things are; it has a table of checkpoints.
    """

    def __init__(self, database: Database, layout: Layout) -> None:
        """Make the statements."""
        assert layout.checkpoints is not None  # noqa: S101 - as promised
        self._database = database
        self._layout = layout
        self._listing = layout.checkpoints
        self._spots = self._select(layout.checkpoints, _SPOT[1:], _SPOT[:1])
        known = layout.checkpoints.columns
        columns = ("parent_checkpoint_id", *(one for one in ("type",) if one in known))
        self._columns = (*columns, "checkpoint", *(one for one in ("metadata",) if one in known))
        self._checkpoint = self._select(layout.checkpoints, self._columns, _SPOT)

    def _select(self, listing: Listing, columns: Sequence[str], fixed: Sequence[str]) -> str:
        database, table = self._database, listing.table
        named = ", ".join(database.text(table, one) for one in columns)
        terms = " and ".join(f"{database.quoted(one)} = {database.mark}" for one in fixed)
        return f"select {named} from {database.named(table)} where {terms}"  # noqa: S608 - names are quoted

    def _ask(self, statement: str, parameters: Sequence[object], table: str) -> list[Any]:
        return asked(self._database, statement, parameters, table=table)

    def threads(self) -> Iterator[str]:
        """Give the ids of all threads that have checkpoints."""
        table = self._listing.table
        yield from (str(one) for one in distinct(self._database, table, _SPOT[0]))

    def spots(self, thread: str) -> list[Spot]:
        """Give where the checkpoints of a thread lie, the oldest first: ids go by time."""
        found: list[Spot] = []
        database, table = self._database, self._listing.table
        keys = ", ".join(database.quoted(one) for one in _SPOT[1:])
        end = f" order by {keys} limit {_PAGE}"
        page = self._ask(f"{self._spots}{end}", (thread,), table)
        while page:
            found += [Spot(str(checkpoint), str(namespace)) for namespace, checkpoint in page]
            if len(page) < _PAGE:
                break
            more = f" and ({keys}) > ({database.mark}, {database.mark})"
            page = self._ask(f"{self._spots}{more}{end}", (thread, *page[-1]), table)
        return sorted(found)

    def checkpoint(self, thread: str, spot: Spot) -> CheckpointRow | None:
        """Read one checkpoint; None where there is none."""
        key = (thread, spot.namespace, spot.checkpoint)
        rows = self._ask(self._checkpoint, key, self._listing.table)
        if not rows:
            return None
        named = dict(zip(self._columns, rows[0], strict=True))
        return CheckpointRow(
            str(named["parent_checkpoint_id"] or ""),
            named.get("type") if self._layout.blobs is None else None,
            as_bytes(named["checkpoint"]),
            as_bytes(named.get("metadata")),
        )

    def writes(self, thread: str, spot: Spot) -> list[WriteRow]:
        """Read the pending writes of a checkpoint, in the order in which LangGraph applies them."""
        listing = self._layout.writes
        if listing is None:
            return []
        has_path = "task_path" in self._database.tables[listing.table]
        columns = ("task_id", "idx", *listing.columns, *(("task_path",) if has_path else ()))
        database, table = self._database, listing.table
        named = ", ".join(
            database.quoted(one) if one == "idx" else database.text(table, one) for one in columns
        )
        terms = " and ".join(f"{database.quoted(one)} = {database.mark}" for one in _SPOT)
        statement = f"select {named} from {database.named(table)} where {terms}"  # noqa: S608 - names are quoted
        rows = self._ask(statement, (thread, spot.namespace, spot.checkpoint), table)
        found = (
            WriteRow(
                str(path[0] or "") if path else "",
                str(task),
                _number(index),
                str(channel),
                tag,
                None if data is None else as_bytes(data),
            )
            for task, index, channel, tag, data, *path in rows
        )
        return sorted(found, key=lambda row: row[:4])

    def blobs(
        self, thread: str, namespace: str, wanted: Mapping[str, str]
    ) -> dict[str, tuple[str, bytes]]:
        """Read channels that lie beside their checkpoints, by name and version.

        Args:
            thread: The thread.
            namespace: The namespace.
            wanted: The version of each channel.
        """
        listing = self._layout.blobs
        if listing is None or not wanted:
            return {}
        statement = self._select(listing, ("channel", "type", "blob"), _SPOT[:2])
        mark, quoted = self._database.mark, self._database.quoted
        pairs = ", ".join([f"({mark}, {mark})"] * len(wanted))
        statement += f" and ({quoted('channel')}, {quoted('version')}) in ({pairs})"
        key = [part for pair in wanted.items() for part in pair]
        rows = self._ask(statement, (thread, namespace, *key), listing.table)
        return {str(channel): (str(tag), as_bytes(data)) for channel, tag, data in rows}

    @property
    def has_blobs(self) -> bool:
        """Whether channels lie beside their checkpoints."""
        return self._layout.blobs is not None


def _number(index: object) -> int:
    """Give the place of a write among those of its task: SQLite's columns hold anything.

    Raises:
        DecodeError: ``decode.malformed``.
    """
    if isinstance(index, int):
        return index
    raise DecodeError(
        f"the place of a pending write is a {type(index).__name__}, and no whole number",
        code="decode.malformed",
        hint="The row is damaged, or something else wrote it.",
    )
