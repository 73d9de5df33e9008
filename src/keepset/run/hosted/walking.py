"""All checkpoints of a run in the order in which they were made, as they were at one moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from keepset.errors import ConflictError
from keepset.plan.requests import Flow
from keepset.plan.rows import LineRow, RunRow, StepRow
from keepset.run.hosted.known import Stored, Surface
from keepset.run.hosted.reading import HostReader

Pick: TypeAlias = tuple[LineRow, StepRow]
"""A checkpoint: the line that holds it, and its header."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What a run had when it was looked at.

    Attributes:
        run: The run.
        picks: Its checkpoints, each after its parent, and else by their ids.
    """

    run: RunRow
    picks: tuple[Pick, ...]

    def parts(self, size: int) -> Iterator[Sequence[Pick]]:
        """Give the checkpoints a few at a time."""
        for at in range(0, len(self.picks), size):
            yield self.picks[at : at + size]


def walk(reader: HostReader) -> Flow[Walk | None]:
    """Look at all headers of a run; None where there is no run.

    What is saved while the lines are read one after the other is left out, so that no line is ahead
    of those that it depends on.
    """
    found = yield from reader.look()
    if found.run is None:
        return None
    heads = yield from reader.headers_of(found, None, 1)
    until = max((row.checkpoint for _, rows in heads for row in rows), default="")
    headers = yield from reader.headers_of(found, None)
    kept = [
        (line, [row for row in reversed(rows) if row.checkpoint <= until]) for line, rows in headers
    ]
    return Walk(found.run, tuple(_in_order(kept)))


def _in_order(headers: Sequence[tuple[LineRow, Sequence[StepRow]]]) -> Iterator[Pick]:
    """Give checkpoints by their ids, but none before the one that its line goes on from."""
    return _Order(headers).picks()


class _Order:
    """Lines of which the next checkpoint is to be given, or which wait for another line."""

    def __init__(self, headers: Sequence[tuple[LineRow, Sequence[StepRow]]]) -> None:
        self._rows = {line.id: (line, rows) for line, rows in headers}
        self._waiting: defaultdict[int, list[LineRow]] = defaultdict(list)
        self._ready: list[tuple[str, int, int]] = []
        free = []
        for line, _ in headers:
            if line.parent in self._rows and line.parent_seq:
                self._waiting[line.parent].append(line)
            else:
                free.append(line)
        for line in free:
            self._begin(line)

    def picks(self) -> Iterator[Pick]:
        while self._ready:
            _, name, at = heappop(self._ready)
            line, rows = self._rows[name]
            yield line, rows[at]
            if at + 1 < len(rows):
                self._passed(name, rows[at].seq)
                heappush(self._ready, (rows[at + 1].checkpoint, name, at + 1))
            else:
                self._passed(name, None)

    def _begin(self, line: LineRow) -> None:
        rows = self._rows[line.id][1]
        if rows:
            heappush(self._ready, (rows[0].checkpoint, line.id, 0))
        else:
            self._passed(line.id, None)

    def _passed(self, line: int, seq: int | None) -> None:
        """Let lines begin that go on from a position, or from any where that line has ended."""
        held = self._waiting.pop(line, [])
        later = [child for child in held if seq is not None and child.parent_seq > seq]
        if later:
            self._waiting[line] = later
        for child in held:
            if child not in later:
                self._begin(child)


def loaded(
    reader: HostReader, run: RunRow, picks: Sequence[Pick], surface: Callable[[str], Surface]
) -> Flow[list[Stored]]:
    """Load checkpoints with what tasks wrote after them, in order.

    Args:
        reader: Reads the run.
        run: The run as it was when it was looked at.
        picks: Which checkpoints.
        surface: Gives what the values of a namespace go through.

    Raises:
        ConflictError: ``run.changed``: one of them is gone by now.
    """
    found: dict[tuple[int, int], Stored] = {}
    for line in dict.fromkeys(line for line, _ in picks):
        rows = [row for own, row in picks if own == line]
        for row, one in zip(
            rows,
            (yield from reader.several(run, line, rows, surface(line.namespace))),
            strict=True,
        ):
            if one is None:
                raise ConflictError(
                    f"checkpoint {row.checkpoint} is gone since the run was looked at",
                    code="run.changed",
                    hint="The run was deleted or shortened meanwhile: do the same again.",
                    retryable=True,
                )
            found[line.id, row.seq] = one
    return [found[line.id, row.seq] for line, row in picks]
