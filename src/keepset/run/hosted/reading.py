"""Read a host's checkpoints: by id, the newest of a namespace, the headers of all."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

from keepset.codec import Codec
from keepset.errors import NotFoundError
from keepset.plan.bundled import writes_at
from keepset.plan.headers import all_headers, find_header
from keepset.plan.reads import FindRun, Found, Headers, Loaded, ReadHeaders, ReadWrites
from keepset.plan.rebuild import header_at, remember
from keepset.plan.requests import Flow, Request
from keepset.plan.rows import LineRow, StepRow
from keepset.run.hosted.known import Known, Stored, Surface
from keepset.run.pending import unpack_writes
from keepset.run.reader import Reader

Spot: TypeAlias = tuple[LineRow, int]
"""Where a checkpoint lies: the line that holds it, and its seq."""


class HostReader:
    """Reads one run; nothing is restored."""

    def __init__(self, known: Known) -> None:
        """Take what is known of the run."""
        self._known = known

    def values(self, namespace: str, codec: Codec) -> Reader:
        """A reader of the values of one namespace."""
        known = self._known
        return Reader(known.services, known.key.run_id, codec, namespace)

    def look(self) -> Generator[Request, Any, Found]:
        """See what there is of the run."""
        found: Found = yield FindRun(self._known.key, self._known.mark)
        self._known.see(found.run, found.deletions)
        return found

    def headers(self, namespace: str | None) -> Flow[list[tuple[LineRow, list[StepRow]]]]:
        """The headers of all lines, or of those of one namespace; none where there is no run."""
        rows = yield from self.rows(namespace)
        return [(one.line, all_headers(one.steps, one.segments)) for one in rows]

    def rows(self, namespace: str | None) -> Generator[Request, Any, tuple[Headers, ...]]:
        """The rows that hold the headers."""
        try:
            run, rows = yield ReadHeaders(self._known.key, namespace)
        except NotFoundError:
            return ()
        self._known.see(run)
        headers: tuple[Headers, ...] = rows
        return headers

    def newest(self, namespace: str, surface: Surface, *, keep: bool) -> Flow[Stored | None]:
        """The checkpoint of a namespace with the highest id among those that end a line.

        Args:
            namespace: The namespace.
            surface: What its values go through.
            keep: Whether its line is remembered, for a writer that goes on from there.
        """
        codec = surface.guard.codec
        reader = self.values(namespace, codec)
        loaded, chains, values = yield from reader.load()
        self._known.see(loaded.found.run, loaded.found.deletions)
        if sum(row.namespace == namespace for row in loaded.found.lines) > 1:
            heads = [one for one in (yield from self.headers(namespace)) if one[1]]
            line, rows = max(heads, key=lambda one: one[1][-1].checkpoint, default=(None, []))
            if line is None:
                return None
            if line != loaded.line or loaded.seq != rows[-1].seq:
                loaded, chains, values = yield from reader.load(line.branch, seq=rows[-1].seq)
        if keep and loaded.line is not None and loaded.seq > loaded.line.parent_seq:
            self._known.keep(remember(loaded, chains, values, codec), loaded.line)
        return (yield from self._stored(loaded, values, codec))

    def at(self, namespace: str, checkpoint: str, surface: Surface) -> Flow[Stored | None]:
        """One checkpoint by its id; None where there is none."""
        spot = yield from self.find(namespace, checkpoint)
        if spot is None:
            return None
        return (yield from self.on(spot, surface))

    def on(self, spot: Spot, surface: Surface) -> Flow[Stored | None]:
        """The checkpoint at a spot; None where it is gone."""
        line, seq = spot
        reader = self.values(line.namespace, surface.guard.codec)
        try:
            loaded, _, values = yield from reader.load(line.branch, seq=seq)
        except NotFoundError:  # pruned or deleted since
            self._known.forget()
            return None
        return (yield from self._stored(loaded, values, surface.guard.codec))

    def find(self, namespace: str, checkpoint: str) -> Generator[Request, Any, Spot | None]:
        """Find where a checkpoint lies; None where there is none of this id."""
        spot = self._known.places.get((namespace, checkpoint))
        if spot is not None:
            return spot
        for one in (yield from self.rows(namespace)):
            row = find_header(one.steps, one.segments, checkpoint)
            if row is not None:
                self._known.place(checkpoint, one.line, row.seq)
                return one.line, row.seq
        return None

    def _stored(
        self, loaded: Loaded, values: Mapping[str, Any], codec: Codec
    ) -> Generator[Request, Any, Stored | None]:
        header, run = header_at(loaded), loaded.found.run
        if header is None or run is None:
            return None
        line = next(past.line for past in loaded.pasts if past.line.parent_seq < loaded.seq)
        rows = writes_at(loaded.seq, (yield ReadWrites(line.id, loaded.seq)))

        def later(gap: int) -> Flow[Mapping[str, Any]]:
            reader = self.values(line.namespace, codec)
            _, _, others = yield from reader.load(line.branch, seq=loaded.seq + gap)
            return others

        writes = yield from unpack_writes(rows, codec, run.id, later)
        self._known.place(header.checkpoint, line, loaded.seq)
        return Stored(line, header, values, writes)
