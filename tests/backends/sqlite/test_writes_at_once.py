"""Pending writes that find nobody else at work are stored by their own thread, as one statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepset.backends.outcome import Outcome
from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.backends.sqlite.jobs import Job
from keepset.errors import KeepsetError
from keepset.plan.digests import write_digest
from keepset.plan.reads import ReadWrites
from keepset.plan.rows import WriteRow
from keepset.plan.writes import Delete, PutWrites
from keepset.testing.contract.base import Scribe, headers, mark
from tests.backends.sqlite.resting import rest


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SQLiteBackend]:
    opened = open_sqlite(tmp_path / "runs.db", durability="normal", timeout=5)
    yield opened
    opened.close()


def _row(index: int, value: bytes = b"\xc3", *, replaces: bool = False) -> WriteRow:
    row = WriteRow("task", "path", index, f"channel {index}", value, replace=replaces)
    return replace(row, digest=write_digest(row))


def _plan(scribe: Scribe, *rows: WriteRow, seq: int = 1) -> PutWrites:
    assert scribe.line is not None
    return PutWrites(scribe.fence, scribe.line.id, seq, rows)


def _settled(backend: SQLiteBackend, plan: PutWrites) -> Any:
    outcome = Outcome()
    try:
        backend.settle(plan, outcome)
    except KeepsetError as error:
        return error
    return outcome.error


def _stored(backend: SQLiteBackend, scribe: Scribe, seq: int = 1) -> dict[int, bytes]:
    assert scribe.line is not None
    return {row.index: row.value for row in backend.execute(ReadWrites(scribe.line.id, seq))}


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_lone_writes_need_no_other_thread(
    backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    scribe = Scribe(backend).save_many(1)

    def refuse(job: Job) -> None:
        raise AssertionError(job)

    with monkeypatch.context() as alone:
        alone.setattr(rest(backend)._writer, "_hand_over", refuse)
        assert _settled(backend, _plan(scribe, *map(_row, range(count)))) is None
    assert _stored(backend, scribe) == dict.fromkeys(range(count), b"\xc3")


def test_writes_that_came_before_stay_whichever_way_the_others_go(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(1)
    for rows in ((_row(0),), (_row(0, b"\x01"), _row(1)), (_row(1, b"\x02"), _row(0, b"\x03"))):
        assert _settled(backend, _plan(scribe, *rows)) is None
    assert _stored(backend, scribe) == {0: b"\xc3", 1: b"\xc3"}
    assert _settled(backend, _plan(scribe, _row(1, b"\x04", replaces=True), _row(2))) is None
    assert _stored(backend, scribe) == {0: b"\xc3", 1: b"\x04", 2: b"\xc3"}


def test_writes_of_a_checkpoint_that_is_packed_are_stored(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(3)
    scribe.pack(headers(1, 3))
    assert _settled(backend, _plan(scribe, _row(0))) is None
    assert _stored(backend, scribe) == {0: b"\xc3"}


def test_lone_writes_are_refused_as_any_others_are(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(2)
    plan = _plan(scribe, _row(0))
    stale = {
        "conflict.token": replace(plan, fence=replace(scribe.fence, token=7)),
        "conflict.layout": replace(plan, fence=replace(scribe.fence, layout=7)),
        "conflict.deleted": replace(plan, fence=replace(scribe.fence, incarnation=b"other")),
        "conflict.head": replace(plan, line=plan.line + 1),
        "checkpoint.not-found": replace(plan, seq=9),
    }
    assert {code: _settled(backend, one).code for code, one in stale.items()} == {
        code: code for code in stale
    }
    assert _stored(backend, scribe) == {}


def test_lone_writes_never_bring_back_what_was_deleted(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(1)
    backend.execute(Delete(scribe.key, mark(scribe.key), at=1))
    assert _settled(backend, _plan(scribe, _row(0))).code == "conflict.deleted"
    assert _stored(backend, scribe) == {}
