"""Which checkpoints of a thread stay when it is shortened."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from keepset.codec import Codec
from keepset.delta import ABSENT
from keepset.plan.headers import unpack_metadata
from keepset.plan.replay import History, Replay
from keepset.plan.rows import StepRow

_COUNTERS = "counters_since_delta_snapshot"
_GONE = Codec().unpack(ABSENT.op)


@dataclass(frozen=True, slots=True)
class These:
    """Keeps the checkpoints of some ids."""

    ids: frozenset[str]

    def keeps(self, headers: Sequence[StepRow]) -> set[int]:
        """The seqs of a line that stay."""
        return {row.seq for row in headers if row.checkpoint in self.ids}


def without_runs(replay: Replay, gone: Collection[str], codec: Codec) -> These:
    """Keep all checkpoints but those of some executions, by the ``run_id`` of their metadata."""
    ids = {
        row.checkpoint
        for history in replay.histories
        for row in history.headers
        if _execution(unpack_metadata(row, codec)) not in gone
    }
    return These(frozenset(ids))


def _execution(metadata: Mapping[str, Any]) -> str | None:
    """Give the id of the execution that made a checkpoint; None where it is no id, or withheld."""
    found = metadata.get("run_id")
    return str(found) if isinstance(found, str | int | UUID) else None


def latest(replay: Replay, codec: Codec) -> These:
    """Keep the newest checkpoint of each namespace, and what its DeltaChannels are rebuilt from.

    A DeltaChannel has no value in most checkpoints: LangGraph puts it together from the pending
    writes of the checkpoints before, back to one that has the value.
    """
    newest: dict[str, tuple[History, StepRow]] = {}
    for history in replay.histories:
        if history.headers:
            namespace, row = history.past.line.namespace, history.headers[-1]
            if namespace not in newest or newest[namespace][1].checkpoint < row.checkpoint:
                newest[namespace] = (history, row)
    by_line = {history.past.line.id: history for history in replay.histories}
    ids: set[str] = set()
    for history, row in newest.values():
        counters = unpack_metadata(row, codec).get(_COUNTERS) or {}
        ids |= set(_needed(_way(history, by_line), row, tuple(counters)))
    return These(frozenset(ids))


def _way(history: History, by_line: dict[int, History]) -> list[tuple[StepRow, History]]:
    """The checkpoints that lead to the end of a line, from the first one on."""
    way = [(row, history) for row in history.headers]
    line = history.past.line
    while line.parent is not None:
        above = by_line[line.parent]
        way[:0] = [(row, above) for row in above.headers if row.seq <= line.parent_seq]
        line = above.past.line
    return way


def _needed(
    way: Sequence[tuple[StepRow, History]], newest: StepRow, channels: Iterable[str]
) -> list[str]:
    """The ids of the newest checkpoint and of those that channels without a value begin in."""
    first = len(way) - 1
    for channel in channels:
        valued, present = -1, False
        for position, (row, history) in enumerate(way):
            link = history.changes[row.seq].get(channel)
            if link is not None:
                present = link.op != _GONE
            if present:
                valued = position
        first = min(first, max(valued, 0))
    return [row.checkpoint for row, _ in way[first:]] or [newest.checkpoint]
