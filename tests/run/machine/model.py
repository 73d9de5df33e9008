"""What a store ought to hold, as plain lists and mappings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import keepset as ks

Key = tuple[str, str]
Writes = dict[tuple[str, int], tuple[str, str, str]]


@dataclass(slots=True)
class Kept:
    """One checkpoint: what was said of it, its fields as pictures, and its pending writes."""

    checkpoint: ks.Checkpoint
    token: str
    fields: dict[str, str]
    writes: Writes = field(default_factory=dict)


@dataclass(slots=True)
class Line:
    """One line: where it was forked from, and its own checkpoints."""

    branch: int
    parent: int | None = None
    point: int = 0
    steps: list[Kept] = field(default_factory=list)


@dataclass(slots=True)
class Book:
    """One incarnation of a run."""

    life: int
    token: int = 0
    lines: list[Line] = field(default_factory=list)

    def all(self) -> Iterator[tuple[Line, Kept]]:
        """Every checkpoint with its line."""
        for line in self.lines:
            for kept in line.steps:
                yield line, kept

    def find(self, checkpoint: str) -> tuple[Line, Kept] | None:
        """The checkpoint of an id, with its line."""
        found = (pair for pair in self.all() if pair[1].checkpoint.id == checkpoint)
        return next(found, None)

    def point(self, line: Line) -> Kept | None:
        """The checkpoint that a line was forked from, where it is still there."""
        if line.parent is None:
            return None
        steps = self.lines[line.parent].steps
        return next((kept for kept in steps if kept.checkpoint.seq == line.point), None)

    def head(self, line: Line) -> str:
        """The id of the newest checkpoint of a line and its past."""
        newest = line.steps[-1] if line.steps else self.point(line)
        return newest.checkpoint.id if newest else ""

    def history(self, branch: int) -> list[Kept]:
        """A line's checkpoints and those of its past, newest first."""
        line: Line | None = self.lines[branch]
        found: list[Kept] = []
        until: int | None = None
        while line is not None:
            own = [k for k in line.steps if until is None or k.checkpoint.seq <= until]
            found += reversed(own)
            until = line.point
            line = None if line.parent is None else self.lines[line.parent]
        return found

    def parent(self, line: Line, kept: Kept) -> str:
        """The id of the checkpoint before one."""
        at = line.steps.index(kept)
        before = line.steps[at - 1] if at else self.point(line)
        return before.checkpoint.id if before else ""

    def prune(self, latest: int | None, every: int | None, older: int | None = None) -> list[Kept]:
        """Let go of what a policy lets go of; give that."""
        pinned = {(line.parent, line.point) for line in self.lines if not line.steps}
        gone: list[Kept] = []
        for line in self.lines:
            newest = {kept.checkpoint.seq for kept in line.steps[-(latest or 1) :]}
            stay = [
                kept
                for kept in line.steps
                if kept.checkpoint.seq in newest
                or (every is not None and kept.checkpoint.seq % every == 0)
                or (older is not None and kept.checkpoint.at >= older)
                or (line.branch, kept.checkpoint.seq) in pinned
            ]
            gone += [kept for kept in line.steps if kept not in stay]
            line.steps = stay
        for line in self.lines:
            if gone and line.parent is not None and self.point(line) is None:
                line.parent = None
        return gone

    def shape(self) -> tuple[Any, ...]:
        """What is there, by ids: to be compared with what a crash has left."""
        return tuple(
            (
                line.branch,
                tuple(kept.checkpoint.id for kept in self.history(line.branch)),
                tuple((k.checkpoint.id, listed(k.writes)) for k in line.steps if k.writes),
            )
            for line in self.lines
        )


def listed(writes: Writes) -> tuple[tuple[str, str, int, str, str], ...]:
    """Pending writes in their order: path, task, index, channel, value."""
    rows = [(w[0], task, index, w[1], w[2]) for (task, index), w in writes.items()]
    return tuple(sorted(rows))


@dataclass(slots=True)
class Handle:
    """A run as one of its users holds it.

    Attributes:
        run: The run.
        key: Tenant and run id.
        state: The live state, changed in place.
        loaded: Whether it has read the run.
        life: The incarnation that it has read; None where there was none.
        deletions: How many deletions there had been.
        token: Its claim; None where it has none.
        branch: The line that it writes to.
        head: The newest checkpoint that it knows.
        blind: Whether its state was made up and not read, so that it does not know what only grows.
    """

    run: ks.Run
    key: Key
    state: dict[str, Any]
    loaded: bool = False
    life: int | None = None
    deletions: int = 0
    token: int | None = None
    branch: int | None = None
    head: str = ""
    blind: bool = True


@dataclass(slots=True)
class Model:
    """All runs of a store."""

    books: dict[Key, Book] = field(default_factory=dict)
    deletions: dict[Key, int] = field(default_factory=dict)
    lives: int = 0

    def load(self, handle: Handle) -> None:
        """Let a handle read its run, where it has not."""
        if handle.loaded or self.is_missing(handle):
            return
        book = self.books.get(handle.key)
        handle.loaded = True
        handle.deletions = self.deletions.get(handle.key, 0)
        handle.life = book.life if book else None
        if book:
            handle.branch = len(book.lines) - 1 if handle.branch is None else handle.branch
            handle.head = book.head(book.lines[handle.branch])

    def is_missing(self, handle: Handle) -> bool:
        """Tell whether a handle is about to look for a line that is not there."""
        book = self.books.get(handle.key)
        there = len(book.lines) if book else 0
        return not handle.loaded and handle.branch is not None and handle.branch >= there

    def may_claim(self, handle: Handle) -> bool:
        """Tell whether the store takes something from a handle."""
        if self.is_missing(handle):
            return False
        self.load(handle)
        book = self.books.get(handle.key)
        if handle.token is not None:
            return book is not None and (book.life, book.token) == (handle.life, handle.token)
        if book is None:
            seen = self.deletions.get(handle.key, 0)
            return handle.life is None and handle.deletions == seen
        return book.life == handle.life

    def is_newest(self, handle: Handle) -> bool:
        """Tell whether a handle knows the newest checkpoint of its line."""
        book = self.books.get(handle.key)
        if book is None or handle.branch is None:
            return book is None
        return book.head(book.lines[handle.branch]) == handle.head

    def claim(self, handle: Handle) -> Book:
        """Make a handle the newest writer of its run, which begins where there is none."""
        book = self.books.get(handle.key)
        if book is None:
            self.lives += 1
            book = self.books[handle.key] = Book(self.lives, lines=[Line(0)])
            handle.life, handle.branch = book.life, 0
        if handle.token is None:
            book.token += 1
            handle.token = book.token
        return book

    def shape(self) -> tuple[Any, ...]:
        """What is there, by ids."""
        return tuple(sorted((key, book.shape()) for key, book in self.books.items()))
