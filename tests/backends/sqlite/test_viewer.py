"""A store that is only looked at: every read works, and nothing of it changes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite import open_sqlite
from keepset.backends.sqlite.migrations import newest_schema
from keepset.errors import IntegrityError, KeepsetError, NotFoundError, StoreError
from keepset.plan.reads import ListRuns, ReadEverything, ReadSizes
from keepset.testing.contract.base import TENANT, Scribe, step
from tests.backends.sqlite.disks import make_read_only, small_disk, unwritable

CHILDREN = Path(__file__).with_name("children.py")


def _store(folder: Path) -> Path:
    """A closed store with one run in it."""
    backend = open_sqlite(folder / "runs.db")
    Scribe(backend).save_many(3)
    backend.close()
    return folder / "runs.db"


def _refusal(path: Path) -> KeepsetError:
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(KeepsetError) as caught:
        open_sqlite(path, readonly=True, timeout=0.2)
    assert (path.read_bytes() if path.exists() else None) == before
    return caught.value


def test_a_viewer_reads_and_leaves_every_byte_and_permission_as_it_is(tmp_path: Path) -> None:
    path = _store(tmp_path)
    path.chmod(0o640)
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode
    backend = open_sqlite(path, readonly=True, durability="normal")
    assert len(backend.execute(ReadEverything(Scribe(backend).key)).lines[0].steps) == 3
    assert backend.execute(ReadSizes(TENANT)).runs == 1
    assert len(asyncio.run(backend.aexecute(ListRuns(TENANT)))) == 1
    settings = backend.settings()
    assert [setting.name for setting in settings.settings if not setting.good] == []
    backend.close()
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) == before


def test_a_viewer_is_told_the_settings_that_a_writer_has(tmp_path: Path) -> None:
    path = _store(tmp_path)
    writer, viewer = open_sqlite(path), open_sqlite(path, readonly=True)
    told = [
        {setting.name: setting.value for setting in backend.settings().settings}
        for backend in (writer, viewer)
    ]
    viewer.close()
    writer.close()
    assert told[0] == told[1]


def test_a_viewer_writes_nothing(tmp_path: Path) -> None:
    backend = open_sqlite(_store(tmp_path), readonly=True)
    scribe, outcome = Scribe(backend).look(), Outcome()
    ways: list[Callable[[], object]] = [
        lambda: backend.execute(scribe.plan()),
        lambda: asyncio.run(backend.aexecute(scribe.plan())),
        lambda: backend.settle(scribe.plan(), outcome),
    ]
    for write in ways:
        with pytest.raises(StoreError) as caught:
            write()
        assert caught.value.code == "store.read-only"
    assert not outcome.settled
    backend.close()


def test_a_viewer_sees_what_a_writer_saves_meanwhile(tmp_path: Path) -> None:
    path = _store(tmp_path)
    writer, viewer = open_sqlite(path), open_sqlite(path, readonly=True)
    Scribe(writer).look().save_many(2)
    assert viewer.execute(ListRuns(TENANT))[0].checkpoints == 5
    viewer.close()
    writer.close()


@pytest.mark.parametrize("content", [None, b""])
def test_a_viewer_makes_no_store(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "runs.db"
    if content is not None:
        path.write_bytes(content)
    error = _refusal(path)
    assert (type(error), error.code) == (NotFoundError, "store.not-found")


def test_a_viewer_refuses_what_a_writer_would(tmp_path: Path) -> None:
    path = _store(tmp_path)
    newest = newest_schema()
    for version in (9999, newest):
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        if version != newest:
            assert _refusal(path).code == "store.newer-format"
    os.truncate(path, 8192)
    assert isinstance(_refusal(path), IntegrityError)
    path.write_bytes(b"hello" * 1000)
    assert _refusal(path).code == "store.not-a-database"


def test_a_viewer_migrates_nothing(tmp_path: Path) -> None:
    path = _store(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    assert _refusal(path).code == "store.read-only"


def test_a_viewer_of_a_live_store_needs_no_right_to_write(tmp_path: Path) -> None:
    path = _store(tmp_path)
    writer = open_sqlite(path)
    Scribe(writer).look().save()
    with unwritable(tmp_path):
        viewer = open_sqlite(path, readonly=True)
        assert viewer.execute(ListRuns(TENANT))[0].checkpoints == 4
        viewer.close()
    writer.close()


def test_a_viewer_of_a_closed_store_where_no_index_can_be_made_is_told_so(tmp_path: Path) -> None:
    path = _store(tmp_path)
    with unwritable(tmp_path):
        error = _refusal(path)
    assert (type(error), error.code) == (StoreError, "store.cannot-open")
    assert "index" in error.hint


def test_a_viewer_of_a_store_on_a_read_only_disk_is_told_so(tmp_path: Path) -> None:
    with small_disk(tmp_path, 4 << 20) as disk:
        path = _store(disk)
        make_read_only(disk)
        assert _refusal(path).code == "store.cannot-open"


def test_a_viewer_goes_on_after_a_fork(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", str(CHILDREN), "view_after_fork"]
    done = subprocess.run(
        [*command, str(_store(tmp_path))], capture_output=True, check=True, text=True
    )
    assert done.stdout.split() == ["3", "3", "0"]


def test_a_viewer_reads_while_another_process_writes(tmp_path: Path) -> None:
    path = _store(tmp_path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    backend = open_sqlite(path, readonly=True)
    assert backend.execute(ReadEverything(Scribe(backend).key)).lines[0].steps[0] == step(1)
    backend.close()
    other.execute("ROLLBACK")
    other.close()
