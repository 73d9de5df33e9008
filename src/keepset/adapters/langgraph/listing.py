"""List checkpoints: chosen by their headers, then loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.address import Address, address
from keepset.adapters.langgraph.flows import STEP, as_tuple
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.codec import Withheld
from keepset.errors import PolicyError
from keepset.plan.headers import unpack_metadata
from keepset.plan.reads import ListRuns
from keepset.plan.requests import Flow
from keepset.plan.rows import LineRow, StepRow
from keepset.run.hosted import Spot, Trace, trace

PAGE = 32
"""How many checkpoints are loaded at a time."""

_RUNS = 200

Pick: TypeAlias = tuple[LineRow, StepRow]
"""A checkpoint that was chosen: the line that holds it, and its header."""


@dataclass(frozen=True, slots=True)
class Query:
    """Which checkpoints are asked for.

    Attributes:
        thread: Of which thread; None for all.
        namespace: Of which namespace; None for all.
        checkpoint: Only the one of this id, unless empty.
        before: Only those whose ids lie before this one, unless empty.
        having: What their metadata must say, by key.
    """

    thread: str | None
    namespace: str | None
    checkpoint: str
    before: str
    having: Mapping[str, Any]


def query(
    config: Mapping[str, Any] | None,
    having: Mapping[str, Any] | None,
    before: Mapping[str, Any] | None,
) -> Query:
    """Read the arguments of a listing."""
    until = str(((before or {}).get("configurable") or {}).get("checkpoint_id") or "")
    if config is None:
        return Query(None, None, "", until, having or {})
    to = address(config)
    every = config["configurable"].get("checkpoint_ns") is None
    return Query(to.thread, None if every else to.namespace, to.checkpoint, until, having or {})


def pages(threads: Threads, asked: Query, after: str) -> Flow[list[str]]:
    """Give the next threads that a listing looks at; none at the end."""
    if asked.thread is not None:
        return [] if after else [asked.thread]
    runs = yield ListRuns(threads.services.tenant, after=after, limit=_RUNS)
    return [summary.run.key.run_id for summary in runs]


def select(threads: Threads, thread: Thread, asked: Query, limit: int | None) -> Flow[list[Pick]]:
    """Choose checkpoints of a thread by their headers, the highest id first."""
    picks: list[Pick] = []
    most = None if asked.checkpoint or asked.before or asked.having else limit
    with thread.named(asked.namespace or ""):
        for line, rows in (yield from thread.reader.headers(asked.namespace, most)):
            codec = threads.surface(thread, line.namespace).guard.codec
            for row in rows:
                outside = asked.before and row.checkpoint >= asked.before
                other = asked.checkpoint and row.checkpoint != asked.checkpoint
                if outside or other or not row.name.startswith(STEP):
                    continue
                if asked.having:
                    said = {**unpack_metadata(row, codec), "thread_id": thread.id}
                    if not _says(said, asked.having):
                        continue
                picks.append((line, row))
    return sorted(picks, key=lambda pick: pick[1].checkpoint, reverse=True)[:limit]


def _says(metadata: Mapping[str, Any], having: Mapping[str, Any]) -> bool:
    try:
        return all(
            not isinstance(metadata.get(key), Withheld) and metadata.get(key) == value
            for key, value in having.items()
        )
    except PolicyError:  # a marker inside what is compared
        return False


def states(threads: Threads, thread: Thread, picks: Sequence[Pick]) -> Flow[list[CheckpointTuple]]:
    """Load what was chosen; what has gone meanwhile is left out."""
    found: list[CheckpointTuple] = []
    near: dict[tuple[LineRow, int], Mapping[str, Any]] = {}
    for line, row in picks:
        with thread.named(line.namespace):
            surface = threads.surface(thread, line.namespace)
            stored = yield from thread.reader.on((line, row.seq), surface, near)
            if stored is not None and stored.header.checkpoint == row.checkpoint:
                near = {(line, row.seq): stored.values}
                name = row.checkpoint
                own = Address(thread.id, line.namespace, name, loop=False, addressed=False)
                found.append(as_tuple(threads, own, stored, surface))
    return found


def channel_history(
    threads: Threads, config: Mapping[str, Any], channels: Sequence[str]
) -> Flow[dict[str, Any]]:
    """Give what was written to channels since they last had values, and these values.

    LangGraph puts a DeltaChannel together from that.
    """
    to = address(config)
    thread = threads.thread(to.thread)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        spot: Spot | None
        if to.checkpoint:
            spot = yield from thread.reader.find(to.namespace, to.checkpoint)
        else:
            spot = yield from thread.reader.end(to.namespace)
        if spot is None:
            return {channel: {"writes": []} for channel in channels}
        traces = yield from trace(thread.reader, spot, channels, surface)
    return {channel: _told(found) for channel, found in traces.items()}


def _told(found: Trace) -> dict[str, Any]:
    writes = [(write.task, write.channel, write.value) for write in found.writes]
    return {"writes": writes, **({"seed": found.seeds[0]} if found.seeds else {})}
