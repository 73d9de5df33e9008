"""The reader of LangGraph's savers, on SQLite and PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keepset.readers.databases.pages import count, distinct, rows
from keepset.readers.databases.port import Database, Row
from keepset.readers.decoding.entries import as_bytes
from keepset.readers.decoding.tagged import encoding_of
from keepset.readers.langgraph import stored, threads
from keepset.readers.langgraph.edges import field_of
from keepset.readers.langgraph.layout import Layout
from keepset.readers.langgraph.names import surface
from keepset.readers.langgraph.split import Split
from keepset.readers.langgraph.standing import nodes_run
from keepset.readers.ports import Item, Overview, RunFacts
from keepset.readers.times import time_of


class LangGraphReader:
    """Reads what LangGraph's savers and stores have written to a database.

    A namespace of LangGraph's store is given as a run, ``store:`` and its name.

    Args:
        database: The database, open to read.
        layout: Where in it things are.
    """

    def __init__(self, database: Database, layout: Layout) -> None:
        """Read nothing yet."""
        self._database = database
        self._layout = layout

    @property
    def kind(self) -> str:
        """LangGraph on the database that it is on."""
        return f"langgraph-{self._database.dialect}"

    def overview(self) -> Overview:
        """Count rows and runs."""
        database, layout = self._database, self._layout
        return Overview(
            kind=self.kind,
            version=layout.version,
            size=database.size(),
            rows={table: count(database, table) for table in layout.tables},
            runs=sum(1 for _ in self._ids()),
            notes=(*database.notes(), *self._missing()),
            free=database.free(),
        )

    def _ids(self) -> Iterator[str]:
        yield from threads.every_value(self._database, self._layout, "thread_id")
        if (store := self._layout.store) is not None:
            for prefix in distinct(self._database, store.table, "prefix"):
                yield f"{stored.PREFIX}{prefix}"

    def _missing(self) -> Iterator[str]:
        if self._layout.checkpoints is not None and self._layout.writes is None:
            yield "There is no table of pending writes: what tasks wrote is not looked at."

    def runs(self) -> Iterator[RunFacts]:
        """Give every thread, then every namespace of the store."""
        for thread in threads.every_value(self._database, self._layout, "thread_id"):
            yield threads.facts(self._database, self._layout, thread)
        if self._layout.store is not None:
            yield from stored.namespaces(self._database, self._layout.store)

    def items(self, run: str) -> Iterator[Item]:
        """Give all values of a thread, one graph of it after the other, each as it was written."""
        if self._layout.store is not None and run.startswith(stored.PREFIX):
            prefix = run.removeprefix(stored.PREFIX)
            yield from stored.documents(self._database, self._layout.store, prefix)
        fixed = (("thread_id", run),)
        for namespace in threads.every_value(self._database, self._layout, "checkpoint_ns", fixed):
            yield from _Graph(self._database, self._layout, run, namespace).items()

    def orphans(self) -> Mapping[str, int]:
        """Count pending writes without a checkpoint, and channels that no checkpoint names."""
        return threads.orphans(self._database, self._layout)


class _Graph:
    """One graph of a thread: the outer one, or one inside."""

    def __init__(self, database: Database, layout: Layout, run: str, namespace: str) -> None:
        self._database = database
        self._layout = layout
        self._run = run
        self._namespace = namespace
        self._split = Split()

    def items(self) -> Iterator[Item]:
        """Give channels that lie by themselves, then checkpoints, each with what tasks wrote."""
        yield from self._blobs()
        writes = self._rows("writes")
        write = next(writes, None)
        for row in self._rows("checkpoints"):
            yield from self._checkpoint(row)
            while write is not None and str(write[0]) <= str(row[0]):
                yield self._write(write)
                write = next(writes, None)
        while write is not None:
            yield self._write(write)
            write = next(writes, None)

    def _rows(self, name: str) -> Iterator[Row]:
        listing = getattr(self._layout, name)
        if listing is None:
            return iter(())
        return rows(self._database, listing, (self._run, self._namespace))

    def _blobs(self) -> Iterator[Item]:
        if self._layout.blobs is None:
            return
        nodes = nodes_run(self._database, self._layout, self._run, self._namespace)
        for channel, version, tag, data in self._rows("blobs"):
            yield Item(
                run=self._run,
                namespace=self._namespace,
                step=str(version),
                surface=surface(str(channel), "state"),
                field=field_of(str(channel), nodes),
                size=len(as_bytes(data)),
                encoding=encoding_of(tag),
                value=self._split.value(tag, data),
            )

    def _checkpoint(self, row: Row) -> Iterator[Item]:
        listing = self._layout.checkpoints
        assert listing is not None  # noqa: S101 - the row is of it
        named = dict(zip(listing.columns, row[1:], strict=True))
        written, pieces = self._split.checkpoint(named.get("type"), named["checkpoint"])
        for piece in (*pieces, *self._split.metadata(named.get("metadata"))):
            yield Item(
                run=self._run,
                namespace=self._namespace,
                step=str(row[0]),
                surface=piece.surface,
                field=piece.field,
                size=piece.size,
                encoding=piece.encoding,
                value=piece.value,
                written=written if written is not None else time_of(row[0]),
            )

    def _write(self, row: Row) -> Item:
        checkpoint_id, _, _, channel, tag, data = row
        return Item(
            run=self._run,
            namespace=self._namespace,
            step=str(checkpoint_id),
            surface=surface(str(channel), "write"),
            field=str(channel),
            size=len(as_bytes(data)),
            encoding=encoding_of(tag),
            value=self._split.value(tag, data),
            written=time_of(checkpoint_id),
        )
