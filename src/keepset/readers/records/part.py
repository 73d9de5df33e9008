"""Where in a host's tables the values of a run are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keepset.readers.databases.pages import Listing
from keepset.readers.decoding.guessed import guessed
from keepset.readers.ports import Encoding, Surface

Read = Callable[[object], tuple[Encoding, object]]


@dataclass(frozen=True, slots=True)
class Value:
    """One column with values.

    Attributes:
        column: Its name.
        surface: Where the host let them in.
        named_by: The column that names the field; empty for the name of the column itself.
        is_spread: Whether a JSON object is given entry by entry.
        read: Takes a value apart.
    """

    column: str
    surface: Surface
    named_by: str = ""
    is_spread: bool = False
    read: Read = guessed


@dataclass(frozen=True, slots=True)
class Part:
    """One table with values of runs.

    Attributes:
        table: Its name.
        run: The columns that make the id of a run.
        keys: The columns that order the rows of a run, none of which is ever missing.
        values: The columns with values.
        written: The column with the time; empty where there is none.
        has_runs: Whether the table says which runs there are.
    """

    table: str
    run: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[Value, ...]
    written: str = ""
    has_runs: bool = False

    def listing(self) -> Listing:
        """Say which columns are read, in which order."""
        columns = [one.column for one in self.values]
        columns += [one.named_by for one in self.values if one.named_by]
        columns += [self.written] if self.written else []
        return Listing(self.table, self.keys, tuple(dict.fromkeys(columns)), self.run)


@dataclass(frozen=True, slots=True)
class Host:
    """What a host leaves in a database.

    Attributes:
        kind: Its name.
        version: What is known of the release.
        parts: Its tables; those that say which runs there are come first.
        status: The column, in the first table, that says how a run stands; empty for none.
        unfinished: The statuses of runs in which something is left to do.
        first: The column, in the first table, with the time at which a run began.
        last: The same of its last change.
    """

    kind: str
    version: str
    parts: tuple[Part, ...]
    status: str = ""
    unfinished: frozenset[str] = frozenset()
    first: str = ""
    last: str = ""
