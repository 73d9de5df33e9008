"""PostgreSQL databases of others, read in short read-only transactions; a hot standby will do."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from keepset.errors import StoreError, UsageError
from keepset.readers.databases.port import Cancelled, Dialect, Row

_SECONDS: Final = 20
_CONNECT_SECONDS: Final = 10
_TRIES: Final = 5
_SETTINGS: Final = (
    f"select set_config('statement_timeout', '{_SECONDS}s', true),"
    " set_config('lock_timeout', '5s', true), set_config('TimeZone', 'UTC', true)"
)
_STOPPED: Final = ("57014", "40001", "40P01", "55P03")  # time is up; in the way of a standby; locks
_TEXT: Final = ("text", "character varying", "character", "bytea")
_OF_SERVER: Final = (
    "select nspname from pg_catalog.pg_namespace"
    " where nspname !~ '^pg_' and nspname <> 'information_schema'"
)
_COLUMNS: Final = (
    "select c.relname, a.attname, format_type(a.atttypid, null) from pg_catalog.pg_class c"
    " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    " join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
    " where n.nspname = %s and c.relkind in ('r', 'p') order by c.relname, a.attnum"
)
_KEY: Final = (
    "select a.attname from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indrelid"
    " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    " join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)"
    " where i.indisprimary and n.nspname = %s and c.relname = %s"
    " order by array_position(i.indkey::int2[], a.attnum)"
)


@contextmanager
def opened(place: str) -> Iterator[list[PostgresDatabase]]:
    """Open a database to read, once for each schema that may hold a store.

    Args:
        place: ``postgresql://…``; with ``schema=`` in its query only that schema is looked at, and
            with a search path in its options those of the path.

    Raises:
        UsageError: ``audit.not-installed``: the driver is missing.
        StoreError: ``audit.cannot-read``: there is no such server, or it refuses.
    """
    psycopg = _driver()
    address, schema = split_schema(place)
    with closing(_Session(psycopg, address)) as session:
        yield [PostgresDatabase(session, one) for one in session.schemas(schema)]


def split_schema(place: str) -> tuple[str, str | None]:
    """Take the schema out of a URL: the driver does not know the word."""
    address, _, query = place.partition("?")
    if address.startswith("postgresql+psycopg://"):
        address = f"postgresql://{address.partition('://')[2]}"
    pairs = parse_qsl(query, keep_blank_values=True)
    schema = next((value for name, value in pairs if name == "schema"), None)
    rest = urlencode([pair for pair in pairs if pair[0] != "schema"])
    return f"{address}?{rest}" if rest else address, schema


def _driver() -> Any:
    try:
        return importlib.import_module("psycopg")
    except ImportError as error:
        raise UsageError(
            "to read PostgreSQL a driver is needed",
            code="audit.not-installed",
            hint='pip install "keepset[postgres]"',
        ) from error


class _Session:
    """One connection; every statement is a read-only transaction of its own.

    Settings are those of the transaction: behind a pooler, one of the connection would be found by
    whoever uses it next.

    Args:
        psycopg: The driver.
        address: Where the database is.
    """

    def __init__(self, psycopg: Any, address: str) -> None:
        self._psycopg = psycopg
        self._address = address
        self._connection = self._connected()

    def _connected(self) -> Any:
        try:
            return self._psycopg.connect(
                self._address,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                application_name="keepset audit",
                client_encoding="UTF8",
                prepare_threshold=None,
            )
        except self._psycopg.Error as error:
            raise _refused(error) from error

    def run(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one statement; of a connection that was lost, it is the next one that is used."""
        try:
            return self._transaction(statement, parameters)
        except self._psycopg.Error as error:
            with suppress(self._psycopg.Error):  # it may be lost only now
                self._connection.execute("rollback")
            if self._connection.closed:
                self._connection = self._connected()
                raise Cancelled from error
            if getattr(error, "sqlstate", None) in _STOPPED:
                raise Cancelled from error
            raise _refused(error) from error

    def surely(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run a statement that cannot be made smaller; again, where it was in somebody's way.

        Raises:
            StoreError: ``audit.too-slow``.
        """
        for _ in range(_TRIES):
            try:
                return self.run(statement, parameters)
            except Cancelled:
                continue
        raise StoreError(
            "PostgreSQL cannot be read: what the database holds was asked again and again, and the"
            " answer was stopped each time",
            code="audit.too-slow",
            hint="Somebody holds a lock on its tables, or the server is busy: try again later.",
            retryable=True,
        )

    def _transaction(self, statement: str, parameters: Sequence[object]) -> list[Row]:
        connection = self._connection
        with connection.pipeline():  # four statements, and one way to the server and back
            connection.execute("begin read only")
            connection.execute(_SETTINGS)
            cursor = connection.execute(statement, parameters)
            found = cursor.fetchall()
            connection.execute("commit")
        return list(found)

    def schemas(self, wanted: str | None) -> list[str]:
        """Give the schemas to look at: the one that was named, or all, the search path first."""
        if wanted is not None:
            return [wanted]
        path = [row[0] for row in self.surely("select unnest(current_schemas(false))")]
        others = sorted(row[0] for row in self.surely(_OF_SERVER))
        return [*path, *(one for one in others if one not in path)]

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


class PostgresDatabase:
    """One schema of a PostgreSQL database, open to read."""

    def __init__(self, session: _Session, schema: str) -> None:
        """Take the connection."""
        self._session = session
        self._schema = schema

    @property
    def dialect(self) -> Dialect:
        """PostgreSQL's."""
        return "postgresql"

    @property
    def mark(self) -> str:
        """What psycopg takes for a parameter."""
        return "%s"

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """Columns and their types, by table; a view could run anything that SQL can say."""
        found: dict[str, dict[str, str]] = {}
        for table, column, kind in self._session.surely(_COLUMNS, (self._schema,)):
            found.setdefault(str(table), {})[str(column)] = str(kind)
        return found

    def row_key(self, table: str) -> tuple[str, ...]:
        """The primary key; where a table has none, the place of the row."""
        found = self._session.surely(_KEY, (self._schema, table))
        return tuple(str(name) for (name,) in found) or ("ctid",)

    def named(self, table: str) -> str:
        """Quote a name, with its schema."""
        return f"{self.quoted(self._schema)}.{self.quoted(table)}"

    def quoted(self, column: str) -> str:
        """Quote a name; a percent sign in it is no parameter."""
        return '"' + column.replace('"', '""').replace("%", "%%") + '"'

    def weight(self, table: str, column: str) -> str:
        """The bytes of a text or of bytes; of all else those that it takes on the disk."""
        name = self.quoted(column)
        if self._is_text(table, column):
            return f"octet_length({name})"
        return f"pg_column_size({name})"

    def text(self, table: str, column: str) -> str:
        """As it is of text and bytes, else as PostgreSQL writes it."""
        name = self.quoted(column)
        return name if self._is_text(table, column) else f"{name}::text"

    def _is_text(self, table: str, column: str) -> bool:
        return self.tables[table].get(column) in _TEXT

    def fetch(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one statement, for 20 s at most, in a transaction of its own."""
        return self._session.run(statement, parameters)

    def size(self) -> int:
        """Count the bytes of the schema's tables with their indexes."""
        statement = (
            "select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_catalog.pg_class c"
            " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
            " where n.nspname = %s and c.relkind in ('r', 'm')"
        )
        return int(self._session.surely(statement, (self._schema,))[0][0])

    def free(self) -> int:
        """Not known: only the server's own statistics say something of it."""
        return 0

    def notes(self) -> tuple[str, ...]:
        """Say which schema is read, and whether on a standby."""
        ((standby,),) = self._session.surely("select pg_is_in_recovery()")
        notes = [] if self._schema == "public" else [f"It lies in the schema {self._schema}."]
        return (*notes, "A standby was read.") if standby else tuple(notes)


def _refused(error: Exception) -> StoreError:
    # The server's own text may quote values; its state does not
    state = getattr(error, "sqlstate", None)
    told = f"the server refuses, with the state {state}" if state else "the server is not reached"
    return StoreError(
        f"PostgreSQL cannot be read: {told} ({type(error).__name__})",
        code="audit.cannot-read",
        hint="Look at host, database, user and password; the user needs USAGE on the schema and "
        "SELECT on its tables, and nothing else.",
        retryable=state is None,
    )
