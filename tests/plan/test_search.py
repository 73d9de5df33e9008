"""A checkpoint is found by its id, and headers are read, in few and small requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest

from keepset.backends.driver import drive
from keepset.backends.sqlite.backend import SQLiteBackend
from keepset.backends.sqlite.connecting import Place
from keepset.errors import IntegrityError
from keepset.plan.digests import step_digest
from keepset.plan.headers import PackedHeaders
from keepset.plan.reads import ReadHeaderPage, ReadHeaderSegments
from keepset.plan.requests import Plan
from keepset.plan.rows import SegmentRow, StepRow
from keepset.plan.search import PARTS, locate, newest_headers
from keepset.testing.contract.base import Scribe

R = TypeVar("R")

STEPS, EACH, LOOSE = 2_000, 20, 5
"""Steps of the line, how many share a segment, and how many are not packed."""

ORDERS: dict[str, Callable[[int], str]] = {
    "rising": lambda n: f"id-{n:05}",
    "by length": str,
    "falling": lambda n: f"id-{STEPS - n:05}",
    "mixed": lambda n: f"id-{n * 7919 % 10_007:05}",
}


class Counted(SQLiteBackend):
    """A backend that counts its requests, and the segments of headers that it gives."""

    asked = 0
    given = 0

    def execute(self, plan: Plan[R]) -> R:
        result = super().execute(plan)
        self.asked += 1
        if isinstance(plan, ReadHeaderSegments):
            self.given += len(result)  # type: ignore[arg-type] # R is a tuple here
        elif isinstance(plan, ReadHeaderPage):
            self.given += len(result.segments)  # type: ignore[attr-defined] # R is a HeaderPage
        return result


def rows_of(ids: Sequence[str]) -> list[StepRow]:
    rows = []
    for seq, (before, own) in enumerate(zip(["", *ids], ids, strict=False), 1):
        row = StepRow(seq, own, before, "step", "running", 1000 + seq, b"", b"", b"")
        rows.append(row._replace(digest=step_digest(row)))
    return rows


def segments_of(rows: Sequence[StepRow]) -> list[SegmentRow]:
    return [
        PackedHeaders.of(rows[at : at + EACH], {}).pack(compressed=False)
        for at in range(0, len(rows), EACH)
    ]


def written(order: str, *, changed: bool = False) -> tuple[Counted, Scribe, list[str]]:
    """Write a line; where it is to be damaged, other names stand in the headers."""
    ids = [ORDERS[order](n) for n in range(1, STEPS + 1)]
    rows = rows_of(ids)
    backend = Counted(Place(None, "full", 1.0))
    scribe = Scribe(backend)
    packed = len(rows) - LOOSE
    segments = segments_of(rows[:packed])
    if changed:
        rows = [row._replace(name="other") for row in rows]
        segments = [replace(one, data=one.data.replace(b"step", b"pets")) for one in segments]
    scribe.save(rows[packed - 1])
    scribe.save(rows[packed], segments=tuple(segments), packed=packed)
    for row in rows[packed + 1 :]:
        scribe.save(row)
    backend.asked = backend.given = 0
    return backend, scribe, ids


@pytest.fixture(params=ORDERS)
def line(request: pytest.FixtureRequest) -> Iterator[tuple[Counted, Scribe, list[str]]]:
    made = written(request.param)
    yield made
    made[0].close()


Line = tuple[Counted, Scribe, list[str]]


def test_a_checkpoint_is_found_in_whatever_order_the_ids_are(line: Line) -> None:
    backend, scribe, ids = line
    for seq in (1, 2, EACH, EACH + 1, 777, STEPS - LOOSE, STEPS - LOOSE + 1, STEPS):
        found = drive(locate(scribe.key, "", ids[seq - 1]), backend)
        assert found is not None
        assert found.line == scribe.line
        assert (found.row.seq, found.row.checkpoint) == (seq, ids[seq - 1])
        assert found.row.parent == (ids[seq - 2] if seq > 1 else "")


def test_an_id_that_is_not_there_is_not_found(line: Line) -> None:
    backend, scribe, _ = line
    for own in ("", "id-00000x", "zzz", "id-01000a"):
        assert drive(locate(scribe.key, "", own), backend) is None
    assert drive(locate(scribe.key, "inner", "id-00001"), backend) is None


def test_where_ids_rise_a_few_segments_of_many_are_read() -> None:
    backend, scribe, ids = written("rising")
    for seq in (1, STEPS // 2, STEPS - LOOSE):
        backend.asked = backend.given = 0
        assert drive(locate(scribe.key, "", ids[seq - 1]), backend) is not None
        assert backend.asked <= 4
        assert backend.given <= 3 * PARTS
    backend.close()


def test_every_header_comes_once_the_newest_first(line: Line) -> None:
    backend, scribe, ids = line
    rows = drive(newest_headers(scribe.line_id, None), backend)
    assert [row.checkpoint for row in rows] == ids[::-1]
    assert [row.seq for row in rows] == list(range(STEPS, 0, -1))
    assert [row.parent for row in rows] == ["", *ids[:-1]][::-1]


@pytest.mark.parametrize("until", [None, 0, 1, EACH, 999, STEPS - LOOSE, STEPS - 1])
@pytest.mark.parametrize("limit", [1, LOOSE, LOOSE + 1, EACH, 500, None])
def test_headers_are_read_up_to_a_position_and_no_more_than_are_asked_for(
    until: int | None, limit: int | None
) -> None:
    backend, scribe, ids = written("mixed")
    rows = drive(newest_headers(scribe.line_id, until, limit), backend)
    expected = ids[:until][::-1][:limit]
    assert [row.checkpoint for row in rows] == expected
    if limit is not None:
        assert backend.given <= limit // EACH + 2
    backend.close()


def test_a_header_that_was_changed_is_not_believed() -> None:
    backend, scribe, ids = written("rising", changed=True)
    for seq in (1, STEPS // 2, STEPS - LOOSE, STEPS - 1):
        for flow in (locate(scribe.key, "", ids[seq - 1]), newest_headers(scribe.line_id, seq, 1)):
            with pytest.raises(IntegrityError) as caught:
                drive(flow, backend)
            assert caught.value.code == "integrity.digest"
    backend.close()
