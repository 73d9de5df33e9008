"""Bytes are those of real files, and the floor is what xz makes of all that changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from keepset.backends.sqlite.network import file_system
from keepset.cli.bench import sizes
from keepset.cli.bench.machine import IN_MEMORY
from keepset.cli.bench.workload import lean
from keepset.codec import Codec

XZ = shutil.which("xz")
LINUX = sys.platform.startswith("linux")


def _database(path: Path, rows: int) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("CREATE TABLE t (data BLOB)")
    db.executemany("INSERT INTO t VALUES (?)", [(bytes(3_000),)] * rows)
    return db


@pytest.mark.skipif(XZ is None, reason="there is no xz to compare with")
def test_the_floor_is_what_the_command_xz_9e_makes_of_it() -> None:
    history = lean(20)
    everything = b"".join(sizes.changed(history))
    packed = subprocess.run([str(XZ), "-9e"], input=everything, capture_output=True, check=True)
    assert sizes.floor(history) == (len(everything), len(packed.stdout))


def test_the_floor_is_taken_of_the_whole_history_and_of_nothing_else() -> None:
    history = lean(12)
    start, *changes = map(Codec().unpack, sizes.changed(history))
    assert start == history.start
    assert changes == [dict(change) for change in history.changes]
    changed_bytes, floor = sizes.floor(history)
    assert changed_bytes == sum(map(len, sizes.changed(history)))
    assert changed_bytes / 5 < floor < changed_bytes / 2


def test_a_store_is_measured_with_every_file_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(_database(path, 10)):
        files = list(tmp_path.iterdir())
        assert len(files) == 3
        assert sizes.size(path) == sum(file.stat().st_size for file in files)


def test_a_settled_store_has_its_log_in_the_database_and_its_free_pages_still(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    with closing(_database(path, 100)) as db:
        settled = sizes.settle(path)
        assert (tmp_path / "store.db-wal").stat().st_size == 0
        db.execute("DELETE FROM t")
    assert sizes.settle(path) == path.stat().st_size >= settled - 2 * 32_768
    assert path.stat().st_size > 300_000


@pytest.mark.skipif(not LINUX, reason="only Linux counts bytes")
def test_bytes_to_the_disk_are_those_of_what_is_written(tmp_path: Path) -> None:
    if file_system(tmp_path) in IN_MEMORY:
        pytest.skip("the folder for tests lies in memory")
    before = sizes.written()
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
    after = sizes.written()
    assert before is not None
    assert after is not None
    assert 1 << 20 <= after[0] - before[0] < 3 << 20
    assert after[1] in {"/proc/self/io", "getrusage"}
