"""Threads into a PostgreSQL database of LangGraph's `PostgresSaver`."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from keepset.adapters.langgraph.exporting_sqlite import scratch
from keepset.adapters.langgraph.exporting_targets import Measured, Turn, Unfit, translated
from keepset.codec import Path
from keepset.errors import StoreError
from keepset.readers.databases.postgres import split_schema

_CONNECT_SECONDS: Final = 10
_COUNT: Final = "select count(*) as n from checkpoints where thread_id = %s"
_IS_THERE: Final = "select to_regclass('checkpoints') is not null as there"
_VERSION: Final = "select coalesce(max(v), -1) as v from checkpoint_migrations"
_ALONE: Final = "select pg_advisory_xact_lock(hashtextextended(%s, 1802724724))"
_TRY_ALONE: Final = "select pg_try_advisory_lock(1802724724, 1) as mine"
_NOT_ALONE: Final = "select pg_advisory_unlock(1802724724, 1)"
_MOMENT: Final = 0.05
_NOT_FOR_LONG: Final = "select set_config('lock_timeout', '60s', false)"
_PATH: Final = "select set_config('search_path', %s, false)"


class PostgresTarget:
    """A database that is written to."""

    def __init__(self, connection: Any, serde: Measured) -> None:
        """Take a connection, and make LangGraph's tables where they are missing or old."""
        self._connection = connection
        self._saver = PostgresSaver(connection, serde=serde)
        while not _is_current(connection):
            if self._set_up() and not _is_current(connection):
                raise _not_made()

    def _set_up(self) -> bool:
        """Make or mend the tables, unless another export is at it; tell whether it was done.

        Who waits for a lock in a statement would hold up the making of an index, so nobody does.
        """
        if not self._connection.execute(_TRY_ALONE).fetchone()["mine"]:
            time.sleep(_MOMENT)
            return False
        try:
            self._saver.setup()
        finally:
            self._connection.execute(_NOT_ALONE)
        return True

    @contextmanager
    def turn(self, thread: str) -> Iterator[Turn]:
        """Do one thread in one transaction; two exports of one thread wait for each other."""
        mapped = translated((psycopg.Error, UnicodeEncodeError), _meaning)
        with mapped, self._connection.transaction():
            self._connection.execute(_ALONE, (thread,))
            there = self._connection.execute(_COUNT, (thread,)).fetchone()["n"]
            yield Turn(there, self._saver, self._saver)

    def unfit(self, value: Any, path: Path) -> tuple[Path, str] | None:
        """See `Target`."""
        return unfit(value, path)


class PostgresTrial:
    """A database that is only looked at: threads are written to a database in memory."""

    def __init__(self, connection: Any, serde: Measured) -> None:
        """Take a connection that only reads."""
        self._connection = connection
        connection.execute(_NOT_FOR_LONG)
        there = connection.execute(_IS_THERE).fetchone()["there"]
        self._saver = PostgresSaver(connection, serde=serde) if there else None
        self._serde = serde

    @contextmanager
    def turn(self, thread: str) -> Iterator[Turn]:
        """Try one thread."""
        mapped = translated((psycopg.Error, UnicodeEncodeError), _meaning)
        with mapped, scratch(self._serde) as saver:
            there = 0
            if self._saver is not None:
                there = self._connection.execute(_COUNT, (thread,)).fetchone()["n"]
            wary: Any = _Wary(saver)
            yield Turn(there, self._saver, wary)

    def unfit(self, value: Any, path: Path) -> tuple[Path, str] | None:
        """See `Target`."""
        return unfit(value, path)


class _Wary:
    """A saver in memory that refuses what PostgreSQL would refuse."""

    def __init__(self, saver: Any) -> None:
        self._saver = saver

    def put(self, config: Any, checkpoint: Any, metadata: Any, new: Any) -> Any:
        inline = {n: v for n, v in checkpoint["channel_values"].items() if is_inline(v)}
        if unfit([inline, metadata], ()) is not None:
            raise Unfit("PostgreSQL would refuse it")
        return self._saver.put(config, checkpoint, metadata, new)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._saver, name)


def is_inline(value: Any) -> bool:
    """Tell whether the saver writes a channel's value as JSON."""
    return value is None or isinstance(value, str | int | float | bool)


def unfit(value: Any, path: Path) -> tuple[Path, str] | None:
    """Find what PostgreSQL does not take in JSON."""
    why = ""
    if isinstance(value, str):
        why = _unfit_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        why = "a float that JSON does not have"
    elif isinstance(value, dict):
        return next(_unfit_parts(((key, [key, one]) for key, one in value.items()), path), None)
    elif isinstance(value, list | tuple):
        return next(_unfit_parts(enumerate(value), path), None)
    return (path, f"{why}, which PostgreSQL cannot hold") if why else None


def _unfit_parts(parts: Iterable[tuple[Any, Any]], path: Path) -> Iterator[tuple[Path, str]]:
    for key, part in parts:
        found = unfit(part, (*path, key if isinstance(key, int) else str(key)))
        if found is not None:
            yield found


def _unfit_text(value: str) -> str:
    if "\0" in value:
        return "a text with a NUL"
    if not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value):
        return "a text with a lone surrogate"
    return ""


@contextmanager
def postgres_target(place: str, serde: Measured, *, is_applied: bool) -> Iterator[Any]:
    """Open the database that threads go to.

    Args:
        place: ``postgresql://…``; with ``schema=`` in its query the tables are those of a schema.
        serde: The savers' serializer.
        is_applied: Whether it is written to.

    Raises:
        StoreError: ``export.target``: there is no such server, or it refuses.
    """
    address, schema = split_schema(place)
    with translated(psycopg.Error, _meaning):
        connection: Any = psycopg.connect(
            address,
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            application_name="keepset export",
            prepare_threshold=0,
            row_factory=dict_row,
        )
    with closing(connection):
        with translated(psycopg.Error, _meaning):
            if schema is not None:
                connection.execute(_PATH, (f'"{schema.replace(chr(34), chr(34) * 2)}"',))
            connection.read_only = not is_applied
            kind = PostgresTarget if is_applied else PostgresTrial
            target = kind(connection, serde)
        yield target


def _is_current(connection: Any) -> bool:
    """Tell whether LangGraph's tables are there as this release of the saver makes them."""
    if not connection.execute(_IS_THERE).fetchone()["there"]:
        return False
    newest = connection.execute(_VERSION).fetchone()["v"]
    return bool(newest >= len(PostgresSaver.MIGRATIONS) - 1)


def _not_made() -> StoreError:
    return StoreError(
        "the target has no table of checkpoints, and its table of migrations says that it was made",
        code="export.target",
        hint="Somebody dropped some of LangGraph's tables: drop checkpoint_migrations and what is "
        "left of the others as well, or name another schema.",
    )


def _meaning(error: Exception) -> Exception:
    if isinstance(error, psycopg.DataError | UnicodeEncodeError | psycopg.NotSupportedError):
        return Unfit(f"PostgreSQL refuses it with {type(error).__name__}")
    state = getattr(error, "sqlstate", None)
    code = f" ({state})" if state else ""
    return StoreError(
        f"the target refuses with {type(error).__name__}{code}",
        code="export.target",
        hint="Nothing is half there: see to the server and to your rights on it, and run the same "
        "command again.",
    )
