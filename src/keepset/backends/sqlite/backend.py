"""The SQLite backend: one file, or one private database in memory."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from keepset.backends.outcome import Outcome
from keepset.backends.port import Settings
from keepset.backends.sqlite import queries
from keepset.backends.sqlite.connecting import Durability, Place, open_store, open_viewer
from keepset.backends.sqlite.failures import DAMAGED, READ_ONLY, failure
from keepset.backends.sqlite.files import file_sizes, locate
from keepset.backends.sqlite.forks import GATE, watch
from keepset.backends.sqlite.operations import ERASING, operation
from keepset.backends.sqlite.operations.at_once import AtOnce, at_once
from keepset.backends.sqlite.reading import Readers
from keepset.backends.sqlite.settings import read_settings
from keepset.backends.sqlite.statements import interpret
from keepset.backends.sqlite.writing import Writer
from keepset.plan.reads import ReadSizes
from keepset.plan.requests import Plan, Read, Write

R = TypeVar("R")

TIMEOUT = 30.0
"""Seconds that a write waits for another process before it is refused."""


def open_sqlite(
    path: str | os.PathLike[str],
    *,
    durability: Durability = "full",
    timeout: float = TIMEOUT,
    readonly: bool = False,
    still: bool = False,
) -> SQLiteBackend:
    """Open the store in a SQLite file; one that is not there yet is made.

    Args:
        path: The database's path.
        durability: ``full``: what was saved survives a loss of power. ``normal``: it survives the
            end of the process; a loss of power may take the last saves, each of them whole.
        timeout: Seconds to wait for another process's lock.
        readonly: Only look: the file has to be there, nothing in it is changed, and every write is
            refused with ``store.read-only``. SQLite itself may put an empty log and its index
            beside a file that nobody has open.
        still: The caller has seen that the file has no log and looks again after each read; then
            SQLite puts nothing beside it. It goes with `readonly`.

    Raises:
        UsageError: No file can have this path.
        NotFoundError: ``store.not-found``: there is nothing to look at.
        StoreError: The place cannot hold a store, or the file is not ours to write to.
        IntegrityError: The file is damaged.
    """
    return SQLiteBackend(Place(locate(path), durability, timeout, readonly, still and readonly))


def open_memory() -> SQLiteBackend:
    """Open a fresh store that lives in this process's memory and ends with it."""
    return SQLiteBackend(Place(None, "full", TIMEOUT))


class SQLiteBackend:
    """Executes plans on SQLite; see `keepset.backends.port.Backend`.

    Writes go through one thread, which commits together those that wait; a save that finds nobody
    else at work is made by its own thread. Reads run on connections of their own, each on one
    snapshot; in memory there is one connection for everything.
    """

    def __init__(self, place: Place) -> None:
        """Open the store; see `open_sqlite`."""
        self._place = place
        with GATE.mine():
            seen = open_viewer(place) if place.readonly else None
            self._readers = Readers(place, seen)
            self._writer = Writer(place, None if place.readonly else open_store(place))
            watch(self)
        self._finish = weakref.finalize(self, _finish, self._writer, self._readers)

    def execute(self, plan: Plan[R]) -> R:
        """Execute a plan; a write is durable when this returns.

        Raises:
            KeepsetError: What the plan, or SQLite, raises.
        """
        work = partial(_run, plan, at_once(plan))
        if self._in_caller(plan):
            return self._measured(plan, self._readers.read(work))
        self._require_writer()
        result: R = self._writer.execute(work, erases=isinstance(plan, ERASING))
        return result

    def settle(self, plan: Write[Any], outcome: Outcome) -> None:
        """Execute a write and put what comes of it into `outcome`, interrupted or not.

        Raises:
            KeepsetError: The write was not even begun.
        """
        self._require_writer()
        usual = at_once(plan)
        if usual and self._writer.add_at_once(usual.statement, usual.rows):
            outcome.value = usual.result
            outcome.settled = True
            return
        self._writer.settle(partial(_run, plan, usual), outcome, erases=isinstance(plan, ERASING))

    async def aexecute(self, plan: Plan[R]) -> R:
        """Execute a plan without blocking the event loop.

        A write that was begun goes on to its end when the awaiting task is cancelled.

        Raises:
            KeepsetError: What the plan, or SQLite, raises.
        """
        work = partial(_run, plan, at_once(plan))
        if self._in_caller(plan):
            return self._measured(plan, await asyncio.to_thread(self._readers.read, work))
        self._require_writer()
        future = self._writer.submit(work, erases=isinstance(plan, ERASING))
        result: R = await asyncio.shield(asyncio.wrap_future(future))
        return result

    def _require_writer(self) -> None:
        if self._place.readonly:
            raise failure(READ_ONLY, str(self._place), "it was opened to look only")

    def _in_caller(self, plan: Plan[Any]) -> bool:
        return isinstance(plan, Read) and self._place.path is not None

    def _measured(self, plan: Plan[R], result: R) -> R:
        """Put the size of the files in place of that of the pages."""
        if isinstance(plan, ReadSizes) and self._place.path is not None:
            size = sum(size for _, size, _ in file_sizes(self._place.path))
            return replace(result, file_bytes=size)  # type: ignore[type-var] # R is Sizes here
        return result

    def settings(self) -> Settings:
        """Read which settings are in force on the connection that writes, or else that reads.

        Raises:
            StoreError: The store is closed.
        """
        work = partial(read_settings, place=self._place)
        settings: Settings
        settings = self._readers.read(work) if self._place.readonly else self._writer.execute(work)
        return settings

    def knows_key(self, check: Callable[[bytes], bytes], *, replace_it: bool = False) -> bool:
        """Tell whether the store's keyed hashes were made with a key.

        The first key that a writer brings is recorded by its check value, as is one that replaces
        another.

        Args:
            check: Gives the key's check value for the store's own id.
            replace_it: Whether the key takes the place of the one that is recorded.

        Raises:
            IntegrityError: The store's own row is missing.
        """
        own = self._place.path is not None
        rows = self._readers.read(_own_row) if own else self._writer.execute(_own_row)
        if not rows:
            raise failure(DAMAGED, str(self._place), "its own row is missing")
        ((store, known),) = rows
        mine = check(store)
        if self._place.readonly or (known is not None and not replace_it):
            return known in (None, mine)
        if known != mine:
            self._writer.execute(lambda c: c.execute(queries.SET_KEY_CHECK, (mine,)).rowcount)
        return True

    def close(self) -> None:
        """Finish the writes that wait, then let go of files and threads; may be called again."""
        _finish(self._writer, self._readers)
        self._finish.detach()

    def before_fork(self) -> None:
        """Close the connections, so that a child inherits no state of locks."""
        self._readers.before_fork()
        self._writer.before_fork()

    def after_fork(self) -> None:
        """Go on in a child process with connections and a thread of its own."""
        self._readers.after_fork()
        self._writer.after_fork()


def _run(plan: Plan[R], usual: AtOnce | None, connection: sqlite3.Connection) -> R:
    """Execute a plan, by one statement if that does what is usual."""
    if usual:
        sql, parameters, _ = usual.statement
        if connection.execute(sql, parameters).rowcount == usual.rows:
            result: R = usual.result
            return result
    return interpret(connection, operation(plan))


def _own_row(connection: sqlite3.Connection) -> list[tuple[bytes, bytes | None]]:
    return connection.execute(queries.STORE).fetchall()


def _finish(writer: Writer, readers: Readers) -> None:
    readers.close()
    writer.close()
