"""Rows that somebody has written by hand, digests and all, end in our errors and in bounds."""

from __future__ import annotations

import hashlib
import sqlite3
import tracemalloc
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard

import keepset as ks
from keepset.codec import BlobRef, Codec
from keepset.errors import KeepsetError, PolicyError
from keepset.plan import steps
from keepset.plan.digests import segment_digest, step_digest, write_digest
from keepset.plan.rows import BUNDLE, SegmentRow, StepRow, WriteRow
from keepset.plan.steps import Difference, frame, join_changes
from tests.run.hosts import Host
from tests.run.states import Chat

PLAIN = Codec()
DRAFT = "draft " * 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a host's run: 30 checkpoints, each with a pending write."""
    path = tmp_path / "a.db"
    with ks.open(f"sqlite:///{path}") as store:
        host, parent = Host(store), ""
        for number in range(30):
            if parent:
                task = f"00000000-0000-0000-0000-{number:012}"
                host.write(parent, task, [("draft", DRAFT)])
            host.append(f"c{number:02}", parent, {"count": number, "draft": DRAFT})
            parent = f"c{number:02}"
    return path


def execute(path: Path, statement: str, *values: Any) -> Any:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchone()


def refused(path: Path, checkpoint: str) -> str:
    with ks.open(f"sqlite:///{path}") as store, pytest.raises(KeepsetError) as error:
        Host(store).at(checkpoint)
    return error.value.code


@pytest.mark.parametrize("task", [b"", b"short", b"longer than any", 7, None])
def test_a_bundled_write_of_no_task_is_damage(path: Path, task: Any) -> None:
    value = frame(PLAIN.pack([[1, task, "", 0, "draft", b"\xc0"]]), compressed=True)
    row = WriteRow("", "", BUNDLE, "", value)
    digest = write_digest(row)
    execute(path, "update write set value=?, digest=? where ordinal=?", value, digest, BUNDLE)
    assert refused(path, "c00") == "integrity.write"


@pytest.mark.parametrize("parts", [[], [1, 2, 3, 4], ["1"], [0], [-1], [1, 7, 1], {"a": 1}, None])
def test_a_write_whose_value_lies_nowhere_is_damage(path: Path, parts: Any) -> None:
    value = b"\xc1\xc1" + PLAIN.pack(parts)
    entry = [1, "task", "", 0, "draft", value]
    framed = frame(PLAIN.pack([entry]), compressed=True)
    digest = write_digest(WriteRow("", "", BUNDLE, "", framed))
    execute(path, "update write set value=?, digest=? where ordinal=?", framed, digest, BUNDLE)
    assert refused(path, "c00") == "integrity.write"


@pytest.mark.parametrize("missing", ["lease_by", "lease_number", "lease_until"])
def test_a_lease_of_which_a_part_is_missing_is_none(path: Path, missing: str) -> None:
    there: dict[str, Any] = {
        "lease_by": "host\n\n1\n\nx",
        "lease_number": 7,
        "lease_until": 1 << 60,
    }
    there[missing] = None
    execute(path, "update run set lease_by=?, lease_number=?, lease_until=?", *there.values())
    with ks.open(f"sqlite:///{path}") as store:
        host = Host(store)
        host.take()
        host.append("c30", "c29", {"count": 30}, leased=True)
        host.give_back()
        assert not store.break_lease("r")


def test_a_line_that_begins_after_its_own_checkpoints_is_damage(path: Path) -> None:
    execute(path, "update line set parent_seq = 1000")
    assert refused(path, "c29") == "integrity.history"


def test_lines_that_go_round_in_a_circle_are_damage(path: Path) -> None:
    with ks.open(f"sqlite:///{path}") as store:
        Host(store).append("f1", "c05", {"count": 1})
        Host(store).append("f2", "f1", {"count": 2})
        Host(store).append("g1", "f1", {"count": 3})
    for line, parent in ((2, 2), (2, 3), (1, 3)):
        execute(path, "update line set parent = ?, depth = 1 where id = ?", parent, line)
        assert refused(path, "g1") == "integrity.history"
        with ks.open(f"sqlite:///{path}") as store:
            for name in ("c00", "f2"):
                with suppress(KeepsetError):
                    Host(store).at(name)
            assert store.verify().problems
        execute(path, "update line set parent = null, depth = 0 where id = 1")


@pytest.mark.parametrize("base", [18, 1 << 40])
def test_a_segment_whose_whole_value_comes_after_it_is_damage(path: Path, base: int) -> None:
    found = execute(
        path,
        "select field, first, last, base, start, data from segment where field=?"
        " order by first desc limit 1",
        "count",
    )
    field, first, last, _, start, data = found
    row = SegmentRow(field, first, last, base, start, data, b"")
    execute(
        path,
        "update segment set base=?, digest=? where field=? and first=?",
        *(base, segment_digest(row), row.field, row.first),
    )
    assert refused(path, "c20") == "integrity.digest"


def test_a_small_blob_that_says_it_is_huge_takes_no_memory(path: Path) -> None:
    size = 3 << 30
    huge = zstandard.ZstdCompressor(write_checksum=True).compressobj(size=size)
    data = huge.compress(b"\0" * (1 << 20)) + huge.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    data += b"\2\0\20" * 100_000  # blocks of 128 KiB, each one byte again and again
    digest = hashlib.sha256(b"nobody gets that far").digest()
    found = execute(
        path,
        "select id & 4294967295, checkpoint, parent, name, status, at, metadata"
        " from step order by id desc limit 1",
    )
    op = b"\x92\x07" + PLAIN.pack(BlobRef(digest, size))
    changes = join_changes(found[0], {"draft": Difference(op, found[0], 0)}, compressed=True)
    seq, checkpoint, parent, name, status, at, metadata = found
    row = StepRow(seq, checkpoint, parent, name, status, at, metadata, changes, b"")
    execute(
        path,
        "update step set changes=?, digest=? where id = (select max(id) from step)",
        *(changes, step_digest(row)),
    )
    run = execute(path, "select id from run")[0]
    execute(
        path,
        "insert into blob (run, digest, size, data) values (?, ?, ?, ?)",
        run,
        digest,
        size,
        data,
    )
    tracemalloc.start()
    try:
        assert refused(path, "c29") == "decode.too-large"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 30


def test_what_could_never_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LARGEST", 200_000)
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        for state in ({"draft": "x" * 200_001}, {"messages": [{"n": n} for n in range(50_000)]}):
            with pytest.raises(PolicyError) as refusal:
                run.save("step", state)
            assert refusal.value.code == "store.too-large"
        run.save("step", {"draft": "x" * 199_000})
        assert store.run(Chat, "r").state == {"draft": "x" * 199_000}
