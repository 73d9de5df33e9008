"""Find a checkpoint by its id, and read headers from the newest on, in as few rows as that takes.

Ids that rise, as those of keepset itself and of most hosts do, are searched by ranges: each request
cuts what is left to a ninth. Ids in any other order are looked for from the newest on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from keepset.plan.digests import check_step
from keepset.plan.headers import end_ids, unpack_headers
from keepset.plan.packing import STEPS_PER_HEADERS
from keepset.plan.reads import HeaderPage, ReadHeaderPage, ReadHeaderSegments, Seek, Sought
from keepset.plan.requests import Request
from keepset.plan.rows import LineRow, RunKey, RunRow, SegmentRow, StepRow

PARTS = 8
"""How many segments a request asks for to narrow a search."""

HEADERS_PER_PAGE = 1024
"""How many headers are read at a time, nearly."""

_SEGMENTS_PER_PAGE = HEADERS_PER_PAGE // STEPS_PER_HEADERS


@dataclass(frozen=True, slots=True)
class Located:
    """A checkpoint that was found.

    Attributes:
        run: The run.
        line: The line that it lies on.
        row: Its header.
    """

    run: RunRow
    line: LineRow
    row: StepRow


def locate(key: RunKey, namespace: str, checkpoint: str) -> Generator[Request, Any, Located | None]:
    """Find a checkpoint of a namespace by its id; None where there is none.

    A run that is pruned meanwhile is searched once more: what was packed may not be so any more.

    Raises:
        NotFoundError: There is no such run.
        IntegrityError: A row that was looked at is not what its digest says.
        DecodeError: A segment of headers cannot be read.
    """
    sought: Sought = yield Seek(key, namespace, checkpoint)
    while True:
        located = yield from _located(sought, checkpoint)
        if located is not None or not sought.packed:
            return located
        before, sought = sought, (yield Seek(key, namespace, checkpoint))
        if _written(before) == _written(sought):
            return None


def _written(sought: Sought) -> tuple[int, int] | None:
    """Tell one writing of a run's rows from another."""
    run = sought.found.run
    return None if run is None else (run.id, run.layout)


def _located(sought: Sought, checkpoint: str) -> Generator[Request, Any, Located | None]:
    run, lines = sought.found.run, {row.id: row for row in sought.found.lines}
    if run is None:
        return None
    if sought.step is not None:
        line, row = sought.step
        check_step(row)
        return Located(run, lines[line], row)
    for search in (_search, _scan):
        for line, last in sought.packed:
            found = yield from search(line, last, checkpoint)
            if found is not None:
                return Located(run, lines[line], found)
    return None


def _search(line: int, last: int, checkpoint: str) -> Generator[Request, Any, StepRow | None]:
    """Search the packed headers of a line as if the ids rise."""
    low, high = 1, last
    while low <= high:
        span = high - low
        seqs = sorted({low + span * part // PARTS for part in range(1, PARTS + 1)})
        segments: Sequence[SegmentRow] = yield ReadHeaderSegments(line, tuple(seqs))
        segments = [segment for segment in segments if segment.last >= low]
        if not segments:
            return None
        after = bisect_right(segments, checkpoint, key=lambda segment: end_ids(segment)[0])
        if after < len(segments):
            high = segments[after].first - 1
        if after:
            pivot = segments[after - 1]
            if checkpoint <= end_ids(pivot)[1]:
                return _named(pivot, checkpoint)
            low = pivot.last + 1
    return None


def _scan(line: int, last: int, checkpoint: str) -> Generator[Request, Any, StepRow | None]:
    """Look at all packed headers of a line, from the newest on."""
    while last > 0:
        page: HeaderPage = yield ReadHeaderPage(line, last, 0, _SEGMENTS_PER_PAGE)
        for segment in page.segments:
            found = _named(segment, checkpoint)
            if found is not None:
                return found
        last = page.segments[-1].first - 1 if page.segments else 0
    return None


def _named(segment: SegmentRow, checkpoint: str) -> StepRow | None:
    rows = unpack_headers(segment)
    return next((row for row in rows if row.checkpoint == checkpoint), None)


def newest_headers(
    line: int, until: int | None, limit: int | None = None
) -> Generator[Request, Any, list[StepRow]]:
    """Read the headers of a line from a position back, the newest first.

    Args:
        line: The line.
        until: The position; None for the newest.
        limit: How many at the most; None for all.

    Raises:
        IntegrityError: A row is not what its digest says.
        DecodeError: A segment of headers cannot be read.
    """
    found: list[StepRow] = []
    more = until is None or until > 0
    while more and (limit is None or len(found) < limit):
        wanted = HEADERS_PER_PAGE if limit is None else min(limit - len(found), HEADERS_PER_PAGE)
        segments = -(-wanted // STEPS_PER_HEADERS)
        page: HeaderPage = yield ReadHeaderPage(line, until, wanted, segments)
        for step in page.steps:
            check_step(step)
        packed = [row for one in page.segments for row in reversed(unpack_headers(one))]
        found += [*page.steps, *(row for row in packed if until is None or row.seq <= until)]
        more = len(page.segments) == segments or len(page.steps) == wanted
        until = found[-1].seq - 1 if found else 0
    return found[:limit]
