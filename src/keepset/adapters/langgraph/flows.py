"""What a saver does with one thread, each written once as a flow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple

from keepset.adapters.langgraph.address import address, config_of, told
from keepset.adapters.langgraph.checkpoints import (
    checkpoint_of,
    fields_of,
    metadata_of,
    small_parts,
    status_of,
)
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.codec import Codec
from keepset.plan.headers import unpack_metadata
from keepset.plan.record import Header
from keepset.plan.requests import Flow
from keepset.run.hosted import HostStep, Stored
from keepset.run.metadata import pack_metadata
from keepset.run.pending import Batch

_ERROR = "__error__"
STEP = "langgraph:"
"""What the names of steps begin with; the source of the checkpoint follows."""

_BRANCHING = frozenset({"fork", "update"})


def put(
    threads: Threads,
    config: Mapping[str, Any],
    checkpoint: Mapping[str, Any],
    metadata: Mapping[str, Any],
    keys: Collection[str],
) -> Flow[dict[str, Any]]:
    """Store a checkpoint, and give the config that names it."""
    to = address(config)
    thread = threads.thread(to.thread)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        source = str(metadata.get("source") or "checkpoint")
        said = {**told(config, keys), **metadata, **small_parts(checkpoint)}
        packed, findings = pack_metadata(surface.guard, said)
        thread.report.add(source, findings)
        values = fields_of(checkpoint)
        header = Header(
            checkpoint["id"],
            STEP + source,
            status_of(checkpoint["channel_values"]),
            threads.services.now(),
            packed,
        )
        follows = to.loop and not to.addressed and source not in _BRANCHING
        step = HostStep(to.namespace, to.checkpoint, header, values, follows)
        yield from thread.writer.append(step, surface)
    return config_of(to.thread, to.namespace, checkpoint["id"])


def put_writes(
    threads: Threads,
    config: Mapping[str, Any],
    writes: Sequence[tuple[str, Any]],
    task_id: str,
    task_path: str,
) -> Flow[None]:
    """Store what a task wrote after a checkpoint."""
    to = address(config)
    thread = threads.thread(to.thread)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        if threads.binding is not None:
            writes = threads.binding.outgoing(to.namespace, writes)
        given = [(channel, _as_text(channel, value)) for channel, value in writes]
        batch = Batch(task_id, given, task_path, special=WRITES_IDX_MAP, admitted=True)
        yield from thread.writer.write(to.namespace, to.checkpoint, batch, surface, early=to.loop)


def _as_text(channel: str, value: Any) -> Any:
    """A task's error as the text that other savers make of it, which the detectors can read."""
    return repr(value) if channel == _ERROR and isinstance(value, BaseException) else value


def get_tuple(threads: Threads, config: Mapping[str, Any]) -> Flow[CheckpointTuple | None]:
    """Give the checkpoint that a config names, or the newest; None where there is none."""
    to = address(config)
    thread = threads.thread(to.thread)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        if to.checkpoint:
            stored = yield from thread.reader.at(to.namespace, to.checkpoint, surface)
        else:
            stored = yield from thread.reader.newest(to.namespace, surface, keep=to.loop)
        if stored is None:
            return None
        if to.loop and threads.binding is not None:
            stored = yield from threads.binding.resumed(config, to, stored, surface)
        return as_tuple(
            thread, stored, surface.guard.codec, asked=config if to.checkpoint else None
        )


def as_tuple(
    thread: Thread, stored: Stored, codec: Codec, *, asked: Mapping[str, Any] | None = None
) -> CheckpointTuple:
    """Turn what is stored into what LangGraph reads."""
    header, namespace = stored.header, stored.line.namespace
    said = unpack_metadata(header, codec)
    own: Any = asked or config_of(thread.id, namespace, header.checkpoint)
    parent: Any = config_of(thread.id, namespace, header.parent) if header.parent else None
    checkpoint: Any = checkpoint_of(header.checkpoint, stored.values, said)
    metadata: Any = metadata_of(said)
    writes = [(write.task, write.channel, write.value) for write in stored.writes]
    return CheckpointTuple(own, checkpoint, metadata, parent, writes)
