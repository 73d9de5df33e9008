"""The store under a machine: opened, copied as a crash leaves it, and compared with a model."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import keepset as ks
from tests.run.machine.model import Book, Kept, Key, Model, listed
from tests.run.machine.values import SECRET, World, picture, shown

START = 1_800_000_000_000
TICK = 1_000


@dataclass(slots=True)
class Bench:
    """A store on disk or in memory, under a clock of its own.

    Attributes:
        durability: ``full`` or ``normal``.
        compression: Whether old steps are compressed.
        memory: Whether it lies in memory.
        limit: How many bytes its runs may remember; None for what is usual.
    """

    durability: Literal["full", "normal"] = "normal"
    compression: bool = True
    memory: bool = False
    limit: int | None = None
    folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)
    clock: Iterator[int] = field(default_factory=lambda: itertools.count(START, TICK))
    store: ks.Store = field(init=False)
    copies: int = 0

    def __post_init__(self) -> None:
        """Open the store."""
        self.path = self.root / "runs.db"
        self.store = self.opened(self.path)

    path: Path = field(init=False)

    @property
    def root(self) -> Path:
        """Where all files lie."""
        return Path(self.folder.name)

    def opened(self, path: Path) -> ks.Store:
        """Open a store, for as many uses as there are tenants."""
        url = "memory:" if self.memory else f"sqlite:///{path}"
        store = ks.open(url, durability=self.durability, compression=self.compression)
        store.services = replace(store.services, now=lambda: next(self.clock))
        if self.limit is not None:
            store.services.retention._limit = self.limit
        return store

    def reopen(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.store = self.opened(self.path)

    def crashed(self) -> Path:
        """Copy the files as they lie while the store is open; its index is lost with the memory."""
        self.copies += 1
        there = self.root / f"crash {self.copies}"
        there.mkdir()
        for end in ("", "-wal", ".key"):
            file = self.path.with_name(self.path.name + end)
            if file.exists():
                shutil.copyfile(file, there / file.name)
        (there / "runs.db.key").chmod(0o600)
        return there / self.path.name

    def go_on_with(self, path: Path) -> None:
        """Leave the store, and go on with a copy of it."""
        self.store.close()
        self.path = path
        self.store = self.opened(path)

    def holds(self, text: str) -> bool:
        """Tell whether a file of the store holds a text as it is."""
        log = self.path.with_name(self.path.name + "-wal")
        data = log.read_bytes() if log.exists() else b""
        return text.encode() in data or text.encode() in self.path.read_bytes()

    def close(self) -> None:
        """Close the store and remove the files."""
        self.store.close()
        self.folder.cleanup()


def compare(store: ks.Store, model: Model, keys: list[Key]) -> None:
    """Compare all that some runs hold with the model."""
    for key in keys:
        book = model.books.get(key)
        tenant = store.for_tenant(key[0])
        listing = {row.run.key.run_id: row for row in tenant.runs()}
        assert (key[1] in listing) == (book is not None)
        if book is None:
            assert tenant.run(World, key[1]).state is None
            continue
        verified = tenant.verify(key[1])
        assert verified.problems == ()
        assert verified.checkpoints == sum(1 for _ in book.all())
        assert listing[key[1]].checkpoints == verified.checkpoints
        assert listing[key[1]].checkpoint == book.head(book.lines[-1])
        look = tenant.inspect(key[1])
        assert look.branches() == [line.branch for line in book.lines]
        for line in book.lines:
            _compare_line(tenant.run(World, key[1], branch=line.branch), look, book, line.branch)
        for _, kept in book.all():
            compare_one(tenant.run(World, key[1]), kept)


def _compare_line(run: ks.Run, look: Any, book: Book, branch: int) -> None:
    expected = book.history(branch)
    history = look.history(branch=branch)
    assert [c.id for c in history] == [kept.checkpoint.id for kept in expected]
    for line, kept in book.all():
        if line.branch == branch:
            told = next(c for c in history if c.id == kept.checkpoint.id)
            assert told == replace(kept.checkpoint, parent=book.parent(line, kept))
    state = run.state
    assert picture(state) == (expected[0].fields if expected else {})
    assert run.history() == history


def compare_one(run: ks.Run, kept: Kept) -> None:
    """Compare one checkpoint's values and pending writes with the model."""
    view = run.at(kept.checkpoint.id)
    found = picture(view.values)
    for name in sorted(found.keys() | kept.fields.keys()):
        assert found.get(name) == kept.fields.get(name), name
    assert stored_writes(run, kept.checkpoint.id) == listed(kept.writes)


def stored_writes(run: ks.Run, checkpoint: str) -> tuple[tuple[str, str, int, str, str], ...]:
    """The pending writes of a checkpoint, in the order in which they are given."""
    return tuple(
        (w.path, w.task, w.index, w.channel, shown(w.value, (w.channel,)))
        for w in run.writes(checkpoint)
    )


def shape_of(store: ks.Store, keys: list[Key]) -> tuple[Any, ...]:
    """What a store holds, by ids, as `Model.shape` gives it."""
    found = []
    for key in sorted(keys):
        tenant = store.for_tenant(key[0])
        if key[1] not in [row.run.key.run_id for row in tenant.runs()]:
            continue
        run, look = tenant.run(World, key[1]), tenant.inspect(key[1])
        lines = []
        for branch in look.branches():
            history = look.history(branch=branch)
            own = [c.id for c in reversed(history) if c.branch == branch]
            writes = tuple((one, stored_writes(run, one)) for one in own)
            kept = tuple(pair for pair in writes if pair[1])
            lines.append((branch, tuple(c.id for c in history), kept))
        found.append((key, tuple(lines)))
    return tuple(found)


def no_secret(bench: Bench) -> bool:
    """Tell whether no file holds the secret; only a store without compression can tell."""
    return bench.compression or bench.memory or not bench.holds(SECRET)
