"""Read a host's checkpoints: by id, the newest of a namespace, the headers of all."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeAlias

from keepset.codec import Codec
from keepset.errors import IntegrityError, NotFoundError
from keepset.plan.bundled import writes_at
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.reads import FindRun, Found, Loaded, ReadWrites
from keepset.plan.rebuild import header_at, remember
from keepset.plan.requests import Flow, Request
from keepset.plan.rows import LineRow, RunRow, StepRow
from keepset.plan.search import locate, newest_headers
from keepset.run.holding import Holding
from keepset.run.hosted.known import Known, Stored, Surface
from keepset.run.hosted.paging import page
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

    def headers(
        self, namespace: str | None, limit: int | None = None
    ) -> Flow[list[tuple[LineRow, list[StepRow]]]]:
        """The headers of all lines, or of those of one namespace, the newest of each line first.

        Args:
            namespace: The namespace; None for all.
            limit: How many of each line at the most; None for all.
        """
        found = yield from self.look()
        return (yield from self.headers_of(found, namespace, limit))

    def headers_of(
        self, found: Found, namespace: str | None, limit: int | None = None
    ) -> Flow[list[tuple[LineRow, list[StepRow]]]]:
        """The same of a run that was just looked at."""
        headers: list[tuple[LineRow, list[StepRow]]] = []
        for line in found.lines:
            if namespace in (None, line.namespace):
                rows = yield from newest_headers(line.id, None, limit)
                headers.append((line, rows))
        return headers

    def newest(
        self, namespace: str, surface: Surface, *, keep: bool, holding: Holding | None = None
    ) -> Flow[Stored | None]:
        """The checkpoint of a namespace with the highest id among those that end a line.

        Args:
            namespace: The namespace.
            surface: What its values go through.
            keep: Whether its line is remembered, for a writer that goes on from there.
            holding: The lease of the execution that asks; None where it works without one.
        """
        if self._known.is_begun_by(holding):
            return None
        while True:
            loaded, stored = yield from self._newest(namespace, surface, keep=keep)
            if stored is not None or loaded is None or header_at(loaded) is None:
                return stored

    def _newest(
        self, namespace: str, surface: Surface, *, keep: bool
    ) -> Generator[Request, Any, tuple[Loaded | None, Stored | None]]:
        """Load it, and give it; None in its place where it has gone meanwhile or is none."""
        codec = surface.guard.codec
        reader = self.values(namespace, codec)
        loaded, chains, values = yield from reader.load()
        self._known.see(loaded.found.run, loaded.found.deletions)
        if sum(row.namespace == namespace for row in loaded.found.lines) > 1:
            spot = yield from self.end(namespace)
            if spot is None:
                return None, None
            if spot != (loaded.line, loaded.seq):
                loaded, chains, values = yield from reader.load(spot[0].branch, seq=spot[1])
        if keep and loaded.line is not None and loaded.seq > loaded.line.parent_seq:
            run = loaded.found.run
            layout = run.layout if run else 0
            self._known.keep(remember(loaded, chains, values, codec), loaded.line, layout)
        return loaded, (yield from self._stored(loaded, values, codec))

    def end(self, namespace: str) -> Generator[Request, Any, Spot | None]:
        """Where the newest checkpoint of a namespace lies; None where it has none."""
        heads = yield from self.headers(namespace, 1)
        ends = [(rows[0], line) for line, rows in heads if rows]
        if not ends:
            return None
        row, line = max(ends, key=lambda end: end[0].checkpoint)
        return line, row.seq

    def at(self, namespace: str, checkpoint: str, surface: Surface) -> Flow[Stored | None]:
        """One checkpoint by its id; None where there is none."""
        spot = yield from self.find(namespace, checkpoint)
        stored = spot and (yield from self.on(spot, surface))
        if spot and stored is None:  # it may lie elsewhere by now
            spot = yield from self.find(namespace, checkpoint)
            stored = spot and (yield from self.on(spot, surface))
        return stored

    def several(
        self, run: RunRow, line: LineRow, rows: Sequence[StepRow], surface: Surface
    ) -> Flow[list[Stored | None]]:
        """Checkpoints of a line by their headers; None in place of one that is gone.

        Args:
            run: The run as it was before the headers were read.
            line: The line that holds them.
            rows: Their headers.
            surface: What their values go through.
        """
        found = yield from page(self._known, run, line, rows, surface)
        stored: list[Stored | None] = []
        for row in rows:
            one = found.get(row.seq)
            if one is None:
                one = yield from self.on((line, row.seq), surface)
                one = one if one and one.header.checkpoint == row.checkpoint else None
            else:
                self._known.place(row.checkpoint, line, row.seq)
            stored.append(one)
        return stored

    def on(self, spot: Spot, surface: Surface) -> Flow[Stored | None]:
        """The checkpoint at a spot; None where it is gone."""
        line, seq = spot
        reader = self.values(line.namespace, surface.guard.codec)
        try:
            loaded, _, values = yield from reader.load(line.branch, seq=seq)
        except NotFoundError:  # pruned or deleted since
            self._known.forget()
            return None
        stored = None
        if any(past.line.id == line.id for past in loaded.pasts):  # else another run of this name
            stored = yield from self._stored(loaded, values, surface.guard.codec)
        if stored is None:
            self._known.forget()
        return stored

    def find(self, namespace: str, checkpoint: str) -> Generator[Request, Any, Spot | None]:
        """Find where a checkpoint lies; None where there is none of this id."""
        spot = self._known.places.get((namespace, checkpoint))
        if spot is not None:
            return spot
        try:
            located = yield from locate(self._known.key, namespace, checkpoint)
        except NotFoundError:  # there is no run
            return None
        if located is None:
            return None
        self._known.see(located.run)
        self._known.place(checkpoint, located.line, located.row.seq)
        return located.line, located.row.seq

    def _stored(
        self, loaded: Loaded, values: Mapping[str, Any], codec: Codec
    ) -> Generator[Request, Any, Stored | None]:
        """Read the pending writes beside it; None where it is none, or has gone meanwhile."""
        header, run = header_at(loaded), loaded.found.run
        if header is None or run is None:
            return None
        lines = (past.line for past in loaded.pasts if past.line.parent_seq < loaded.seq)
        line = next(lines, None)
        if line is None:
            raise IntegrityError(
                f"checkpoint {header.checkpoint} lies on a line that begins after it",
                code="integrity.history",
                hint="The run cannot be trusted: restore it from a backup.",
            )
        rows = writes_at(loaded.seq, (yield ReadWrites(line.id, loaded.seq)))

        def later(gap: int) -> Flow[Mapping[str, Any]]:
            reader = self.values(line.namespace, codec)
            _, _, others = yield from reader.load(line.branch, seq=loaded.seq + gap)
            return others

        try:
            writes = yield from unpack_writes(rows, codec, run.id, later)
        except (IntegrityError, NotFoundError) as error:
            if (yield from went_meanwhile(error, self._known.key, self._known.mark, run)):
                return None
            raise
        self._known.place(header.checkpoint, line, loaded.seq)
        return Stored(line, header, values, writes)
