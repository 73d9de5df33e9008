"""The least that a durable save can be: one INSERT of what changed, in its own transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from keepset.cli.bench.sizes import changed
from keepset.cli.bench.system import Begin, Loaded, Save, Written
from keepset.cli.bench.workload import Change, History, State
from keepset.codec import Codec

_TABLE = "CREATE TABLE step (id INTEGER PRIMARY KEY, run TEXT, data BLOB)"
_INSERT = "INSERT INTO step (run, data) VALUES (?, ?)"
_PATIENCE = 30.0


class Measured:
    """Appends packed changes to a table; nothing is compared, checked or compressed."""

    refusals = (sqlite3.Error,)

    def create(self, path: Path) -> None:
        """See `System.create`."""
        with closing(_connect(path, "full")) as db:
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            db.execute(_TABLE)

    def write(self, path: Path, history: History, durability: str) -> Written:
        """See `System.write`; packing is not part of what is timed."""
        start, *changes = changed(history)
        took = []
        with closing(_connect(path, durability)) as db:
            db.execute(_INSERT, ("run", start))
            for data in changes:
                begun = perf_counter_ns()
                db.execute(_INSERT, ("run", data))
                took.append(perf_counter_ns() - begun)
        return Written(took, list(range(1, len(took) + 1)))

    def load(self, path: Path, history: History, mark: Any | None) -> Loaded:
        """See `System.load`: every change up to the step is read and applied."""
        begun = perf_counter_ns()
        with closing(_connect(path, "full")) as db:
            opened = perf_counter_ns()
            limit = -1 if mark is None else mark + 1
            rows = db.execute("SELECT data FROM step ORDER BY id LIMIT ?", (limit,)).fetchall()
            codec = Codec()
            state, *changes = (codec.unpack(data) for (data,) in rows)
            for change in changes:
                history.apply(state, change)
            return Loaded(opened - begun, perf_counter_ns() - opened, state)

    @contextmanager
    def open(self, path: Path) -> Iterator[Begin]:
        """See `Concurrent.open`: each run has a connection of its own."""
        opened: list[sqlite3.Connection] = []
        guard = threading.Lock()
        codec = Codec()

        def begin(run_id: str) -> Save:
            db = _connect(path, "full")
            with guard:
                opened.append(db)

            def save(_: State, change: Change) -> None:
                db.execute(_INSERT, (run_id, codec.pack(dict(change))))

            return save

        try:
            yield begin
        finally:
            for db in opened:
                db.close()


def _connect(path: Path, durability: str) -> sqlite3.Connection:
    """Open a connection on which each statement is a transaction of its own."""
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    db.execute(f"PRAGMA synchronous = {durability.upper()}")
    return db
