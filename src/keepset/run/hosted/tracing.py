"""What tasks wrote to a field since it last had a value of its own.

A host may leave a field out of most checkpoints and put it together from pending writes. Going back
checkpoint by checkpoint would load each of them whole; here the state is loaded where the way back
begins and where a field has a value, and in between only the writes are read.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepset.plan.bundled import writes_at
from keepset.plan.lines import parent_of
from keepset.plan.reads import ReadWrites
from keepset.plan.requests import Flow, Request
from keepset.plan.rows import LineRow, StepRow
from keepset.plan.search import newest_headers
from keepset.run.hosted.known import Surface
from keepset.run.hosted.reading import HostReader, Spot
from keepset.run.pending import PendingWrite, unpack_writes

_PAGE = 64


@dataclass(slots=True)
class Trace:
    """One field's past.

    Attributes:
        writes: What was written to it, the oldest first.
        seeds: The value that the oldest write stands on; empty where there is none.
        until: While the way leads back, where to look next: the field can have a value before this
            seq.
    """

    writes: list[PendingWrite] = field(default_factory=list)
    seeds: list[Any] = field(default_factory=list)
    until: int = 0


def trace(
    reader: HostReader, spot: Spot, names: Collection[str], surface: Surface
) -> Flow[dict[str, Trace]]:
    """Trace fields back from a checkpoint, whose own writes and values do not count.

    Args:
        reader: Reads the run.
        spot: Where the checkpoint lies.
        names: The fields.
        surface: What their values went through.
    """
    traces = {name: Trace(until=spot[1]) for name in names}
    open_names = set(traces)
    lines = {row.id: row for row in (yield from reader.look()).lines}
    line: LineRow | None = spot[0]
    until = spot[1] - 1
    while line is not None and open_names:
        rows: list[StepRow] = yield from newest_headers(line.id, until, _PAGE)
        for row in rows:
            yield from _writes(reader, (line, row.seq), {n: traces[n] for n in open_names}, surface)
            asked = [name for name in open_names if row.seq < traces[name].until]
            if asked:
                yield from _seed(reader, (line, row.seq), {n: traces[n] for n in asked}, surface)
            open_names -= {name for name in asked if traces[name].seeds}
            if not open_names:
                break
        more = len(rows) == _PAGE
        until = rows[-1].seq - 1 if more else line.parent_seq
        line = line if more else parent_of(line, lines)
    for found in traces.values():
        found.writes.reverse()
    return traces


def _writes(
    reader: HostReader, spot: Spot, traces: Mapping[str, Trace], surface: Surface
) -> Generator[Request, Any, None]:
    line, seq = spot
    rows = [
        row for row in writes_at(seq, (yield ReadWrites(line.id, seq))) if row.channel in traces
    ]
    if not rows:
        return
    codec = surface.guard.codec

    def later(gap: int) -> Flow[Mapping[str, Any]]:
        _, _, values = yield from reader.values(line.namespace, codec).load(
            line.branch, seq=seq + gap
        )
        return values

    run = (yield from reader.values(line.namespace, codec).row()).id
    for write in reversed((yield from unpack_writes(rows, codec, run, later))):
        traces[write.channel].writes.append(write)


def _seed(
    reader: HostReader, spot: Spot, traces: Mapping[str, Trace], surface: Surface
) -> Generator[Request, Any, None]:
    """Take the values that fields have at a checkpoint, or learn since when they have none."""
    line, seq = spot
    load = reader.values(line.namespace, surface.guard.codec).load(line.branch, seq=seq)
    _, chains, values = yield from load
    for name, found in traces.items():
        if name in values:
            found.seeds.append(values[name])
        else:
            found.until = chains.fields[name].last if name in chains.fields else 0
