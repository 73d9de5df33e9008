"""What every reader gives: rows of a store, one after the other, taken apart as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

Surface = Literal["state", "input", "write", "metadata", "error", "interrupt", "resume", "store"]
"""Where in a host a value was let into the store."""

Encoding = Literal["msgpack", "json", "pickle", "text", "bytes", "encrypted", "null", "ours"]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value that its host would make by calling something; here it is data, and stays so.

    Attributes:
        type: What would be imported and called: ``module.qualified_name``, or ``(no name)`` where
            the bytes give none. Empty for an object that stands at an earlier place of the value.
        parts: What it would be made of, taken apart the same way. None where nothing would be
            called: a name that is only looked up.
    """

    type: str
    parts: object = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes that could not be taken apart.

    Attributes:
        why: What is the matter, without any value.
    """

    why: str


@dataclass(frozen=True, slots=True)
class Item:
    """One value in a store.

    Attributes:
        run: The run (a thread, a session, a workflow id).
        namespace: Of the graph inside that it belongs to; empty for the outer one.
        step: Id or number of the checkpoint, event or row; sorts as written within a run.
        surface: Where the host let it in.
        field: The channel, field or column.
        size: Bytes that the value takes in the store.
        encoding: How it is stored.
        value: The value as data: None, bool, int, float, str, bytes, list, dict, `Foreign`,
            `Unreadable`. Nothing of it was run, whatever the bytes say. It may be nested some
            thousand levels deep, so that it has to be walked without recursion; it never holds
            itself. Of an encrypted value it is None.
        written: Seconds since 1970 at which it was written, where the store says so.
    """

    run: str
    namespace: str
    step: str
    surface: Surface
    field: str
    size: int
    encoding: Encoding
    value: object
    written: float | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run as its store tells of it.

    Attributes:
        run: Its id.
        checkpoints: How many it has.
        size: Bytes of all of its rows, values and keys.
        first: Seconds since 1970 of the oldest; None where the store does not say.
        last: The same of the newest.
        is_unfinished: Whether something is left to do in it; None where the store does not say.
    """

    run: str
    checkpoints: int
    size: int
    first: float | None = None
    last: float | None = None
    is_unfinished: bool | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """A store as a whole, counted and not read.

    Attributes:
        kind: What wrote it, such as ``langgraph-sqlite``.
        version: What is known of the release or the layout.
        size: Bytes that it takes where it lies; 0 where that is not known.
        rows: Rows by table.
        runs: Runs.
        notes: What a person should know, such as tables that are missing.
        free: Bytes of deleted data that still lie in the store; 0 where that is not known.
        unversioned: Names of contracts without a version number, where a store has contracts.
        personal: Fields that its contracts declare to be personal data.
    """

    kind: str
    version: str
    size: int
    rows: Mapping[str, int]
    runs: int
    notes: tuple[str, ...] = field(default=())
    free: int = 0
    unversioned: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()


class Reader(Protocol):
    """Reads one store; nothing in it is changed, and nothing that it holds is run.

    It streams: what it keeps in memory does not grow with the store.
    """

    @property
    def kind(self) -> str:
        """What wrote the store."""
        ...

    def overview(self) -> Overview:
        """Count what is there."""
        ...

    def runs(self) -> Iterator[RunFacts]:
        """Give every run once, in an order that stays the same while nothing is written."""
        ...

    def items(self, run: str) -> Iterator[Item]:
        """Give all values of a run.

        Those of one field stand in the order in which its steps were written, one namespace after
        the other. Values are shared between items that hold the same bytes: do not change them.
        """
        ...

    def orphans(self) -> Mapping[str, int]:
        """Count rows that belong to nothing: by table, those whose run or checkpoint is gone."""
        ...


class Opener(Protocol):
    """Recognises stores of one kind, from their content and not from their name."""

    def recognises(self, place: str) -> bool:
        """Tell whether a store is of this kind; False for what cannot be read at all."""
        ...

    def open(self, place: str) -> AbstractContextManager[Reader]:
        """Open it to read."""
        ...
