"""The write-ahead log grows while somebody looks at an older state, and is cut back afterwards."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import keepset as ks
from tests.run.states import Chat

LIMIT = 4 << 20


def _save(run: ks.Run, first: int, count: int) -> None:
    for number in range(first, first + count):
        draft = hashlib.shake_128(b"%d" % number).hexdigest(100_000)
        run.save("step", {"count": number, "draft": draft})


def test_a_log_that_a_long_reader_has_let_grow_is_cut_back(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.db", tmp_path / "runs.db-wal"
    with ks.open(f"sqlite:///{path}", durability="normal") as store:
        run = store.run(Chat, "r")
        _save(run, 0, 1)
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM run").fetchall() == [(1,)]
        _save(run, 1, 60)
        assert log.stat().st_size > 5 << 20
        reader.execute("ROLLBACK")
        reader.close()
        _save(run, 61, 3)
        assert log.stat().st_size <= LIMIT
        assert store.verify().checkpoints == 64
