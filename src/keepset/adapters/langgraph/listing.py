"""List checkpoints: chosen by their headers, then loaded."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.address import Address, address
from keepset.adapters.langgraph.checkpoints import STEP
from keepset.adapters.langgraph.elsewhere import Fallback
from keepset.adapters.langgraph.flows import as_tuple
from keepset.adapters.langgraph.taking import is_elsewhere
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.codec import Withheld
from keepset.errors import PolicyError
from keepset.plan.headers import unpack_metadata
from keepset.plan.reads import Found, ListRuns
from keepset.plan.requests import Flow
from keepset.plan.rows import LineRow, RunRow, StepRow
from keepset.run.hosted import Spot, Stored, Trace, trace

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


class Listing:
    """A listing that is read page by page, thread by thread."""

    def __init__(self, threads: Threads, asked: Query, limit: int | None) -> None:
        """Begin before the first page.

        Args:
            threads: All threads.
            asked: Which checkpoints.
            limit: How many at the most; None for all.
        """
        self._threads = threads
        self._asked = asked
        self._left = limit
        self._picks: list[Pick] = []
        self._run: RunRow | None = None
        self._thread: Thread | None = None
        self._names: deque[str] = deque()
        self._listed: set[str] = set()
        self._after: str | None = ""

    def page(self) -> Flow[list[CheckpointTuple] | None]:
        """Give the next checkpoints, of one thread; None at the end."""
        while True:
            if self._thread is not None and self._run is not None and self._picks:
                part, self._picks = self._picks[:PAGE], self._picks[PAGE:]
                return (yield from states(self._threads, self._thread, self._run, part))
            if self._left == 0:
                return None
            while not self._names:
                if not (yield from self._more()):
                    return None
            self._thread = thread = self._threads.thread(self._names.popleft())
            if (yield from is_elsewhere(self._threads, thread)):
                shown = yield from listed(self._threads, thread, self._asked, self._left)
                self._took(len(shown))
                return shown
            found = yield from thread.reader.look()
            self._run = found.run
            self._picks = yield from select(self._threads, thread, found, self._asked, self._left)
            self._took(len(self._picks))

    def _took(self, number: int) -> None:
        self._left = None if self._left is None else self._left - number

    def _more(self) -> Flow[bool]:
        """Look for threads that come next, those that are here first; False at the end."""
        if self._after is None:
            return False
        if self._asked.thread is not None:
            self._names.append(self._asked.thread)
            self._after = None
            return True
        tenant = self._threads.services.tenant
        runs = yield ListRuns(tenant, after=self._after, limit=_RUNS, aside=False)
        names = [summary.run.key.run_id for summary in runs]
        self._listed.update(names)
        self._names.extend(names)
        self._after = names[-1] if names else None
        if not names:
            found = yield from others(self._threads, self._asked, self._left, self._listed)
            self._names.extend(found)
        return bool(names) or bool(self._names)


def select(
    threads: Threads, thread: Thread, found: Found, asked: Query, limit: int | None
) -> Flow[list[Pick]]:
    """Choose checkpoints of a thread that was looked at, by their headers, the highest id first."""
    picks: list[Pick] = []
    most = None if asked.checkpoint or asked.before or asked.having else limit
    with thread.named(asked.namespace or ""):
        for line, rows in (yield from thread.reader.headers_of(found, asked.namespace, most)):
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


def states(
    threads: Threads, thread: Thread, run: RunRow, picks: Sequence[Pick]
) -> Flow[list[CheckpointTuple]]:
    """Load what was chosen of a run as it was then; what has gone meanwhile is left out."""
    found: dict[tuple[int, int], Stored] = {}
    for line in dict.fromkeys(line for line, _ in picks):
        with thread.named(line.namespace):
            surface = threads.surface(thread, line.namespace)
            rows = [row for own, row in picks if own == line]
            loaded = yield from thread.reader.several(run, line, rows, surface)
            found |= {(line.id, row.seq): one for row, one in zip(rows, loaded, strict=True) if one}
    shown: list[CheckpointTuple] = []
    for line, row in picks:
        stored = found.get((line.id, row.seq))
        if stored is not None:
            with thread.named(line.namespace):
                surface = threads.surface(thread, line.namespace)
                name = row.checkpoint
                own = Address(thread.id, line.namespace, name, loop=False, addressed=False)
                shown.append(as_tuple(threads, own, stored, surface))
    return shown


def listed(
    threads: Threads, thread: Thread, asked: Query, limit: int | None
) -> Flow[list[CheckpointTuple]]:
    """List a thread that lies elsewhere."""
    fallback, found = threads.fallback, []
    if fallback is None:
        return []
    with thread.named(asked.namespace or ""):

        def take(one: CheckpointTuple) -> bool:
            found.append(one)
            return True

        yield from fallback.collect(take, _config(thread.id, asked), **_options(asked, limit))
        shown: list[CheckpointTuple] = []
        for one in found:
            namespace = str(one.config["configurable"].get("checkpoint_ns") or "")
            surface = threads.surface(thread, namespace)
            own = Address(thread.id, namespace, one.checkpoint["id"], loop=False, addressed=False)
            shown.append(as_tuple(threads, own, fallback.stored(one, surface), surface))
    return shown


def others(
    threads: Threads, asked: Query, limit: int | None, here: Collection[str]
) -> Flow[list[str]]:
    """Give the threads that lie elsewhere only, as many as it takes to fill a listing."""
    passed = set(here)
    while threads.fallback is not None:
        names = yield from _named(threads.fallback, asked, limit, passed)
        gone = set()
        for name in names:
            if not (yield from is_elsewhere(threads, threads.thread(name))):
                gone.add(name)  # it is here, or was deleted here
        if not gone:
            return names
        passed |= gone
    return []


def _named(
    fallback: Fallback, asked: Query, limit: int | None, passed: Collection[str]
) -> Flow[list[str]]:
    names: dict[str, None] = {}
    seen = 0

    def take(one: CheckpointTuple) -> bool:
        nonlocal seen
        name = str(one.config["configurable"]["thread_id"])
        if name not in passed:
            names[name] = None
            seen += 1
        return limit is None or seen < limit

    yield from fallback.collect(take, None, **_options(asked, None))
    return list(names)


def _config(thread: str, asked: Query) -> dict[str, Any]:
    named = {"thread_id": thread}
    if asked.namespace is not None:
        named["checkpoint_ns"] = asked.namespace
    if asked.checkpoint:
        named["checkpoint_id"] = asked.checkpoint
    return {"configurable": named}


def _options(asked: Query, limit: int | None) -> dict[str, Any]:
    before = {"configurable": {"checkpoint_id": asked.before}} if asked.before else None
    return {"filter": dict(asked.having) or None, "before": before, "limit": limit}


def channel_history(
    threads: Threads, config: Mapping[str, Any], channels: Sequence[str]
) -> Flow[dict[str, Any]]:
    """Give what was written to channels since they last had values, and these values.

    LangGraph puts a DeltaChannel together from that.
    """
    to = threads.located(address(config))
    thread = threads.thread(to.thread)
    if threads.fallback is not None and (yield from is_elsewhere(threads, thread)):
        history: dict[str, Any] = yield from threads.fallback.channel_history(config, channels)
        return history
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
