"""What a reader needs of a database, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

Row = tuple[Any, ...]

Dialect = Literal["sqlite", "postgresql"]


class Cancelled(Exception):  # noqa: N818 - what became of a statement, and no fault
    """A statement took too long, or stood in the way of a standby; a smaller one may pass."""


class Database(Protocol):
    """One database, open to read.

    Each call of `fetch` is a statement and a snapshot of its own: none is held in between.
    """

    @property
    def dialect(self) -> Dialect:
        """Whose SQL it speaks."""
        ...

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """Declared types by column, by table; views and virtual tables are left out."""
        ...

    @property
    def mark(self) -> str:
        """What stands for a parameter in a statement."""
        ...

    def row_key(self, table: str) -> tuple[str, ...]:
        """Give the columns that name a row of a table: its primary key, or what takes its place."""
        ...

    def named(self, table: str) -> str:
        """Give the name of a table as it stands in a statement, with its schema."""
        ...

    def quoted(self, column: str) -> str:
        """Give the name of a column as it stands in a statement."""
        ...

    def weight(self, table: str, column: str, /) -> str:
        """Give an expression for the bytes of a value that does not read it, where that can be."""
        ...

    def text(self, table: str, column: str, /) -> str:
        """Give an expression for a value as text or bytes, whatever the column's type is."""
        ...

    def fetch(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one short SELECT.

        Raises:
            Cancelled: The statement was stopped; ask for less.
            StoreError: ``audit.cannot-read``: the database refuses.
        """
        ...

    def size(self) -> int:
        """Count the bytes that it takes where it lies; 0 where that is not known."""
        ...

    def free(self) -> int:
        """Count the bytes of deleted data that still lie in it; 0 where that is not known."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Tell what a person should know of how it is read."""
        ...
