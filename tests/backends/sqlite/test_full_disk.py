"""A disk that is full refuses saves by name, keeps what was saved, and takes saves again."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.backends.sqlite.committing import Work
from keepset.backends.sqlite.operations import operation
from keepset.backends.sqlite.statements import interpret
from keepset.backends.sqlite.writing import Writer
from keepset.errors import StoreError
from keepset.plan.reads import ReadEverything
from keepset.plan.rows import BlobRow
from keepset.testing.contract.base import Scribe, blob, step
from tests.backends.sqlite.disks import small_disk

BODY = bytes(range(256)) * 400


def _fill(scribe: Scribe) -> StoreError:
    """Save until the disk is full."""
    try:
        while True:
            scribe.save(step(scribe.seq + 1, changes=BODY))
    except StoreError as error:
        return error


def _seqs(backend: SQLiteBackend, run_id: str) -> list[int]:
    stored = backend.execute(ReadEverything(Scribe(backend, run_id).key))
    return [row.seq for row in stored.lines[0].steps]


@contextmanager
def _held_back(writer: Writer) -> Iterator[None]:
    """Keep a writer's thread busy until the block ends."""
    begun, go = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        begun.set()
        go.wait(10)

    writer.submit(hold)
    assert begun.wait(10)
    try:
        yield
    finally:
        go.set()


def test_a_full_disk_is_named_and_keeps_what_was_saved(tmp_path: Path) -> None:
    with small_disk(tmp_path, 3 << 20) as disk:
        backend = open_sqlite(disk / "runs.db")
        scribe = Scribe(backend)
        error = _fill(scribe)
        assert error.code == "store.full"
        assert error.hint
        assert _seqs(backend, "run") == [*range(1, scribe.head + 1)]
        backend.close()
        again = open_sqlite(disk / "runs.db")
        assert _seqs(again, "run") == [*range(1, scribe.head + 1)]
        again.close()


def test_saves_go_on_once_there_is_space(tmp_path: Path) -> None:
    with small_disk(tmp_path, 3 << 20) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * (1 << 20))
        backend = open_sqlite(disk / "runs.db")
        scribe = Scribe(backend)
        _fill(scribe)
        ballast.unlink()
        scribe.save()
        assert _seqs(backend, "run") == [*range(1, scribe.head + 1)]
        backend.close()


def test_a_save_that_does_not_fit_takes_no_other_with_it(tmp_path: Path) -> None:
    """Handed over together, the large one is refused and the small ones land."""
    with small_disk(tmp_path, 3 << 20) as disk:
        backend = open_sqlite(disk / "runs.db")
        scribes = [Scribe(backend, f"run-{number}") for number in range(3)]
        large = tuple(blob(bytes([number]) + BODY) for number in range(60))
        works = [_work(scribes[0], ()), _work(scribes[1], large), _work(scribes[2], ())]
        with _held_back(backend._writer):  # so that all three wait together
            futures = [backend._writer.submit(work) for work in works]
        for number in (0, 2):
            assert futures[number].result(30).line.branch == 0
            assert _seqs(backend, f"run-{number}") == [1]
        error = futures[1].exception(30)
        assert isinstance(error, StoreError)
        assert error.code == "store.full"
        assert backend.execute(scribes[1].find()).run is None
        backend.close()


def _work(scribe: Scribe, blobs: tuple[BlobRow, ...]) -> Work:
    plan = replace(scribe.plan(), blobs=blobs)
    return lambda connection: interpret(connection, operation(plan))


def test_a_disk_with_no_space_for_a_new_store_is_named(tmp_path: Path) -> None:
    with small_disk(tmp_path, 64 << 10) as disk:
        (disk / "ballast").write_bytes(b"x" * (40 << 10))
        with pytest.raises(StoreError) as caught:
            open_sqlite(disk / "runs.db")
        assert caught.value.code == "store.full"
        (disk / "ballast").unlink()
        with pytest.raises(StoreError):
            open_sqlite(disk / "runs.db")
        assert sum(file.stat().st_size for file in disk.iterdir()) < 64 << 10
