"""The tables of LangGraph's savers and stores, as their releases laid them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keepset.readers.databases.pages import Listing
from keepset.readers.databases.port import Database
from keepset.readers.langgraph.older import is_older

_THREAD: Final = ("thread_id", "checkpoint_ns")
_NEEDED: Final = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint"})
_TAG: Final = frozenset({"type", "channel"})

STORE: Final = "store"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a database has what LangGraph stored; None for what is not there.

    Attributes:
        version: Which releases lay it out so, as far as can be told.
        checkpoints: The table of checkpoints.
        writes: The table of pending writes.
        blobs: The table of channels, where they lie beside the checkpoints (PostgreSQL).
        store: The table of LangGraph's store.
    """

    version: str
    checkpoints: Listing | None
    writes: Listing | None
    blobs: Listing | None
    store: Listing | None

    @property
    def tables(self) -> tuple[str, ...]:
        """Their names."""
        every = (self.checkpoints, self.writes, self.blobs, self.store)
        return tuple(one.table for one in every if one is not None)


def layout_of(database: Database) -> Layout | None:
    """Tell how a database is laid out; None where LangGraph did not write it.

    Args:
        database: The database, as `older.of_today` gives it.
    """
    has = {table: frozenset(columns) for table, columns in database.tables.items()}
    checkpoints = writes = blobs = None
    if has.get("checkpoints", frozenset()) >= _NEEDED:
        columns = [one for one in ("type", "checkpoint", "metadata") if one in has["checkpoints"]]
        checkpoints = Listing("checkpoints", ("checkpoint_id",), tuple(columns), _THREAD, _TAG)
        writes = _writes(has)
    if checkpoints and has.get("checkpoint_blobs", frozenset()) >= {*_THREAD, "channel", "blob"}:
        blobs = Listing("checkpoint_blobs", ("channel", "version"), ("type", "blob"), _THREAD, _TAG)
    store = None
    if has.get(STORE, frozenset()) >= {"prefix", "key", "value"}:
        times = [one for one in ("created_at", "updated_at") if one in has[STORE]]
        store = Listing(STORE, ("key",), ("value", *times), ("prefix",))
    if checkpoints is None and store is None:
        return None
    version = "of LangGraph before 0.2" if is_older(database) else _version(has)
    return Layout(version, checkpoints, writes, blobs, store)


def _writes(has: dict[str, frozenset[str]]) -> Listing | None:
    for table, value in (("writes", "value"), ("checkpoint_writes", "blob")):
        if has.get(table, frozenset()) >= {*_THREAD, "checkpoint_id", "task_id", "idx", value}:
            keys = ("checkpoint_id", "task_id", "idx")
            return Listing(table, keys, ("channel", "type", value), _THREAD, _TAG)
    return None


def _version(has: dict[str, frozenset[str]]) -> str:
    """Name what the tables tell: the columns that came with a release."""
    writes = has.get("writes") or has.get("checkpoint_writes") or frozenset()
    if not has.get("checkpoints"):
        return "a store without checkpoints"
    return "since 2.0.12, with task paths" if "task_path" in writes else "before 2.0.12"
