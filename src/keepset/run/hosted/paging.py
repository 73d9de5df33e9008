"""Read many of a host's checkpoints at once: states that follow each other share their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepset.codec import Codec
from keepset.errors import IntegrityError, NotFoundError
from keepset.plan.blobs import Blobs
from keepset.plan.bundled import link_of, writes_at
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.reads import Load, Loaded, ReadWrites
from keepset.plan.requests import Flow
from keepset.plan.rows import LineRow, RunRow, StepRow, WriteRow
from keepset.plan.spans import Span
from keepset.run.hosted.known import Known, Stored, Surface
from keepset.run.pending import unpack_writes

_FEW = 2
"""So few checkpoints are read one by one."""


def page(
    known: Known, run: RunRow, line: LineRow, rows: Sequence[StepRow], surface: Surface
) -> Flow[dict[int, Stored]]:
    """Read checkpoints of one line whose headers were read; nothing is restored.

    Args:
        known: What is known of the run.
        run: The run as it was before the headers were read.
        line: The line that holds them.
        rows: Their headers.
        surface: What their values go through.

    Returns:
        Those checkpoints by seq; none where they are few, or where the run's rows were written
        anew meanwhile, so that each has to be looked for by itself.
    """
    if len(rows) <= _FEW:
        return {}
    written: dict[int, list[WriteRow]] = {}
    for row in rows:
        written[row.seq] = writes_at(row.seq, (yield ReadWrites(line.id, row.seq)))
    links = {seq: map(link_of, writes) for seq, writes in written.items()}
    seqs = {*written, *(seq + one.gap for seq, of in links.items() for one in of if one)}
    try:
        states = yield from _states(known, run, line, sorted(seqs), surface.guard.codec)
    except NotFoundError:  # pruned or deleted since
        return {}
    found: dict[int, Stored] = {}
    for row in rows if states else ():
        later = _Later(states, row.seq)
        try:
            writes = yield from unpack_writes(written[row.seq], surface.guard.codec, run.id, later)
        except IntegrityError as error:
            if (yield from went_meanwhile(error, known.key, known.mark, run)):
                return {}
            raise
        found[row.seq] = Stored(line, row, states[row.seq], writes)
    return found


def _states(
    known: Known, run: RunRow, line: LineRow, seqs: Sequence[int], codec: Codec
) -> Flow[dict[int, dict[str, Any]]]:
    """Load states of a line; none where the run's rows are others by now."""
    states: dict[int, dict[str, Any]] = {}
    while seqs:
        load = Load(known.key, known.mark, line.namespace, branch=line.branch, seq=seqs[-1])
        loaded: Loaded = yield load
        now = loaded.found.run
        if now is None or (now.incarnation, now.layout) != (run.incarnation, run.layout):
            return {}
        span = Span(loaded, seqs, codec)
        blobs = Blobs(now.id, codec)
        try:
            yield from blobs.fetch(span.refs())
        except IntegrityError as error:
            if (yield from went_meanwhile(error, known.key, known.mark, run)):
                return {}
            raise
        states |= span.states(blobs)
        seqs = seqs[: len(seqs) - len(span.seqs)]
    return states


class _Later:
    """Gives the values of a step that is so many seqs later."""

    __slots__ = ("_seq", "_states")

    def __init__(self, states: Mapping[int, Mapping[str, Any]], seq: int) -> None:
        self._states = states
        self._seq = seq

    def __call__(self, gap: int) -> Flow[Mapping[str, Any]]:
        yield from ()
        return self._states[self._seq + gap]
