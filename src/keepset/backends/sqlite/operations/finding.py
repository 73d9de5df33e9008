"""Find runs, load what a state is rebuilt from, read headers."""

from __future__ import annotations

from collections.abc import Mapping

from keepset.backends.sqlite import queries
from keepset.backends.sqlite.operations.rows import (
    need_run,
    no_checkpoint,
    no_run,
    read_deletions,
    read_lines,
    read_newest,
    read_run,
    segment_rows,
    step_rows,
)
from keepset.backends.sqlite.statements import LARGEST_SEQ, Statement, Steps, step_id
from keepset.plan.lines import parent_of
from keepset.plan.reads import (
    FindRun,
    Found,
    HeaderPage,
    Load,
    Loaded,
    ReadHeaderPage,
    ReadHeaderSegments,
    Seek,
    Sought,
)
from keepset.plan.rows import LineRow, Past, RunKey, SegmentRow, StepRow


def find_run(plan: FindRun) -> Steps[Found]:
    """Find a run and its lines."""
    return (yield from _find(plan.key, plan.mark))


def _find(key: RunKey, mark: bytes) -> Steps[Found]:
    run = yield from read_run(key)
    deletions = yield from read_deletions(mark)
    lines = (yield from read_lines(run.id)) if run else ()
    return Found(run, deletions, lines)


def load(plan: Load) -> Steps[Loaded]:
    """Load what the state at one checkpoint is rebuilt from.

    Raises:
        NotFoundError: The run, branch or seq was asked for and is not there.
    """
    found = yield from _find(plan.key, plan.mark)
    line = _asked(plan, found)
    if line is None:
        return Loaded(found, None, 0, None, ())
    seq = plan.seq if plan.seq is not None else (yield from _position(line))
    if seq == 0:
        return Loaded(found, line, 0, None, ())
    by_id = {row.id: row for row in found.lines}
    way = _way(line, seq, by_id)
    pasts = [Past(before, (), ()) for before in way[:-1]]
    own = yield from _past(way[-1], seq)
    pasts.append(own)
    header, headers = None, None
    if own.steps and own.steps[-1].seq == seq:
        header = own.steps[-1]._replace(changes=b"")
    else:
        found_in = {"line": own.line.id, "seq": seq}
        headers = segment_rows((yield Statement(queries.HEADER_SEGMENT, found_in)))
        if not headers or headers[0].last < seq:
            raise no_checkpoint(seq)
    for line_before, until in _before(own.line, by_id):
        pasts.append((yield from _past(line_before, until)))
    return Loaded(found, line, seq, header, tuple(pasts), headers[0] if headers else None)


def _asked(plan: Load, found: Found) -> LineRow | None:
    """The line that a plan asks for; None where it asks for the newest and there is none."""
    exact = plan.branch is not None or plan.seq is not None
    if found.run is None and exact:
        raise no_run(plan.key)
    lines = [row for row in found.lines if row.namespace == plan.namespace]
    if plan.branch is not None:
        lines = [row for row in lines if row.branch == plan.branch]
    if not lines and exact:
        raise no_checkpoint(plan.seq or 0)
    return lines[-1] if lines else None


def _position(line: LineRow) -> Steps[int]:
    """The newest position of a line: its own newest checkpoint, else its fork point, else 0."""
    own = yield from read_newest(line.id)
    return own or (line.parent_seq if line.parent is not None else 0)


def _way(line: LineRow, seq: int, by_id: Mapping[int, LineRow]) -> list[LineRow]:
    """The lines from the one that was asked for to the one that holds a position."""
    way = [line]
    while seq <= line.parent_seq and (above := parent_of(line, by_id)):
        line = above
        way.append(line)
    return way


def _before(line: LineRow, by_id: Mapping[int, LineRow]) -> list[tuple[LineRow, int]]:
    """The lines that a line's state stands on, each with its last seq that belongs to the past."""
    before = []
    while line.depth and (above := parent_of(line, by_id)):
        before.append((above, line.parent_seq))
        line = above
    return before


def _past(line: LineRow, seq: int) -> Steps[Past]:
    bounds = {"low": line.id << 32, "until": step_id(line.id, seq)}
    steps = yield Statement(queries.STEPS, bounds)
    segments = yield Statement(queries.CHAINS, {"line": line.id, "seq": seq})
    return Past(line, step_rows(steps), segment_rows(segments))


def seek(plan: Seek) -> Steps[Sought]:
    """Look for a checkpoint among the unpacked steps of a namespace.

    Raises:
        NotFoundError: ``run.not-found``.
    """
    run = yield from need_run(plan.key)
    found = Found(run, 0, (yield from read_lines(run.id)))
    where = {"run": run.id, "namespace": plan.namespace}
    steps = yield Statement(queries.SEEK, {**where, "checkpoint": plan.checkpoint})
    if steps:
        line, *step = steps[0]
        return Sought(found, (line, StepRow(*step)), ())
    packed = yield Statement(queries.LAST_PACKED, where)
    return Sought(found, None, tuple((line, last) for line, last in packed))


def read_header_segments(plan: ReadHeaderSegments) -> Steps[tuple[SegmentRow, ...]]:
    """Read the segments of headers that some positions lie in."""
    segments: list[SegmentRow] = []
    for seq in plan.seqs:
        if segments and seq <= segments[-1].last:
            continue
        where = {"line": plan.line, "seq": seq}
        for row in segment_rows((yield Statement(queries.HEADER_SEGMENT, where))):
            if not segments or row.first > segments[-1].first:
                segments.append(row)
    return tuple(segments)


def read_header_page(plan: ReadHeaderPage) -> Steps[HeaderPage]:
    """Read the newest headers of a line up to a position."""
    until = LARGEST_SEQ if plan.until is None else plan.until
    if until < 1:
        return HeaderPage((), ())
    steps: tuple[StepRow, ...] = ()
    if plan.steps:
        wanted = {"low": plan.line << 32, "until": step_id(plan.line, until), "limit": plan.steps}
        steps = step_rows((yield Statement(queries.NEWEST_STEPS, wanted)))
        if len(steps) == plan.steps:
            return HeaderPage(steps, ())
    where = {"line": plan.line, "seq": until, "limit": plan.segments}
    return HeaderPage(steps, segment_rows((yield Statement(queries.NEWEST_HEADERS, where))))
