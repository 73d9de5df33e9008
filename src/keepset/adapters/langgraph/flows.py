"""What a saver does with one thread, each written once as a flow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.address import Address, address, config_of, told
from keepset.adapters.langgraph.admitting import Admission
from keepset.adapters.langgraph.checkpoints import (
    ASKED,
    GRAPH,
    STEP,
    as_text,
    batch_of,
    checkpoint_of,
    fields_of,
    metadata_of,
    small_parts,
    source_of,
    status_of,
)
from keepset.adapters.langgraph.continuing import is_resuming
from keepset.adapters.langgraph.executing import execution_of
from keepset.adapters.langgraph.handed import Handed, by_node
from keepset.adapters.langgraph.leases import begin, begin_unbound, holding_of
from keepset.adapters.langgraph.restoring import START
from keepset.adapters.langgraph.running import begin_in
from keepset.adapters.langgraph.swapped import require_same_kind
from keepset.adapters.langgraph.taking import stored_at, take_over
from keepset.adapters.langgraph.threads import Threads
from keepset.errors import KeepsetError
from keepset.plan.headers import unpack_metadata
from keepset.plan.record import Header
from keepset.plan.requests import Flow
from keepset.run.hosted import HostStep, Stored, Surface
from keepset.run.metadata import pack_metadata

_BRANCHING = frozenset({"fork", "update"})
_REMOVED = "removed_channels"
"""What the metadata says of the first checkpoint in which channels are gone with their values."""


def put(
    threads: Threads,
    config: Mapping[str, Any],
    checkpoint: Mapping[str, Any],
    metadata: Mapping[str, Any],
    keys: Collection[str],
) -> Flow[dict[str, Any]]:
    """Store a checkpoint, and give the config that names it.

    A call of a bound graph that hands over one that is refused is stopped before its next node.
    """
    asked = address(config)
    try:
        yield from _put(threads, config, asked, checkpoint, metadata, keys=keys)
    except KeepsetError as error:
        execution = execution_of(config)
        if execution is not None:
            execution.refuse(asked, error)
        raise
    return config_of(asked.thread, asked.namespace, checkpoint["id"])


def _put(  # noqa: PLR0913 - what LangGraph hands over, and who asks
    threads: Threads,
    config: Mapping[str, Any],
    asked: Address,
    checkpoint: Mapping[str, Any],
    metadata: Mapping[str, Any],
    *,
    keys: Collection[str],
) -> Flow[None]:
    to, thread = threads.located(asked), threads.thread(asked.thread)
    yield from take_over(threads, thread)
    threads.tell_if_inexact(config)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        source = source_of(metadata, threads.services.scanner)
        written, removed = _graphs(threads, asked)
        said = {**told(config, keys), **metadata, **removed}
        packed, findings = pack_metadata(surface.guard, said, small_parts(checkpoint))
        thread.report.add(source, findings)
        values = {**fields_of(checkpoint), **written}
        if threads.binding is not None and to.namespace:
            # A graph that is bound by itself does not know what those around it leave out.
            values |= threads.binding.left_out(to.namespace, values)
        header = Header(
            checkpoint["id"],
            STEP + source,
            status_of(checkpoint["channel_values"]),
            threads.services.now(),
            packed,
        )
        follows = to.loop and not to.addressed and source not in _BRANCHING
        holding, first = holding_of(threads, thread, config), thread.beginnings.take(config)
        place = (to.namespace, to.checkpoint)
        step = HostStep(*place, header, values, follows, holding or first, bool(first))
        yield from thread.writer.append(step, surface)


def _graphs(threads: Threads, to: Address) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what a checkpoint says of the graph that wrote it, and of what that has removed."""
    if threads.binding is None:
        return {}, {}
    written = threads.binding.graphs.written(to.namespace)
    removed = threads.binding.graphs.removed(to)
    return {GRAPH: written} if written else {}, {_REMOVED: removed} if removed else {}


def put_writes(
    threads: Threads,
    config: Mapping[str, Any],
    writes: Sequence[tuple[str, Any]],
    task_id: str,
    task_path: str,
) -> Flow[None]:
    """Store what a task wrote after a checkpoint."""
    to = threads.located(address(config))
    thread = threads.thread(to.thread)
    yield from take_over(threads, thread)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        given = [(channel, as_text(channel, value)) for channel, value in writes]
        handed = _handed(config)
        given = handed.taken(task_id, given)
        if threads.binding is not None:
            if any(channel == START for channel, _ in given):  # as of `update_state`: no channel
                admit = Admission(surface.contract, {}).input
                given = [(name, admit(one) if name == START else one) for name, one in given]
            given = list(threads.binding.outgoing(to.namespace, given))
            given += threads.binding.questions.stored(to.thread, task_id, given, surface)
        batch = batch_of(task_id, given, task_path)
        where, holding = (to.namespace, to.checkpoint), holding_of(threads, thread, config)
        with by_node(handed.node(task=task_id)):
            yield from thread.writer.write(*where, batch, surface, early=to.loop, holding=holding)


def _handed(config: Mapping[str, Any]) -> Handed:
    """Give what the tasks of a call have handed over; nothing where no bound graph was called."""
    execution = execution_of(config)
    return Handed() if execution is None else execution.handed


def get_tuple(threads: Threads, config: Mapping[str, Any]) -> Flow[CheckpointTuple | None]:
    """Give the checkpoint that a config names, or the newest; None where there is none."""
    asked = address(config)
    to, thread = threads.located(asked), threads.thread(asked.thread)
    own = partial(threads.surface, thread, to.namespace)
    begin_in(thread.named, to.namespace, config, own)
    with thread.named(to.namespace):
        surface = threads.surface(thread, to.namespace)
        holding = None
        if to.loop:
            yield from begin(threads, thread, config)
            holding = holding_of(threads, thread, config)
        stored = yield from stored_at(threads, thread, to, surface, holding)
        if stored is None:
            yield from begin_unbound(threads, thread, to, config)
            if to.loop and threads.binding is not None:
                threads.binding.questions.expect(asked.thread, asked.namespace, (), surface)
            return None
        if to.loop and threads.binding is not None:
            require_sound(stored, surface)
            threads.binding.graphs.check(config, asked, stored)
            if is_resuming(config):
                yield from require_same_kind(threads, thread, asked, stored, surface)
            stored = yield from threads.binding.resumed(config, to, stored, surface)
        found = as_tuple(threads, asked, stored, surface)
        return found._replace(config=config) if to.checkpoint else found  # type: ignore[arg-type] # LangGraph's own


def require_sound(stored: Stored, surface: Surface) -> None:
    """Refuse a checkpoint that LangGraph could not go on with; see `checkpoint_of`.

    Raises:
        DecodeError: ``langgraph.damaged`` or ``langgraph.other-run``.
    """
    header = stored.header
    checkpoint_of(header.checkpoint, stored.values, unpack_metadata(header, surface.guard.codec))


def as_tuple(threads: Threads, asked: Address, stored: Stored, surface: Surface) -> CheckpointTuple:
    """Turn what is stored into what LangGraph reads.

    Args:
        threads: All threads.
        asked: Who asks, and what the namespace is called there.
        stored: The checkpoint.
        surface: What the values of the namespace go through.
    """
    header, namespace = stored.header, asked.namespace
    said = unpack_metadata(header, surface.guard.codec)
    own: Any = config_of(asked.thread, namespace, header.checkpoint)
    parent: Any = config_of(asked.thread, namespace, header.parent) if header.parent else None
    checkpoint: Any = checkpoint_of(header.checkpoint, stored.values, said)
    metadata: Any = metadata_of(said)
    writes = [(write.task, write.channel, write.value) for write in stored.writes]
    found = CheckpointTuple(own, checkpoint, metadata, parent, writes)
    if threads.binding is not None:
        found = threads.binding.graphs.shown(found, asked, stored)
        if asked.loop:
            given = found.pending_writes or []
            threads.binding.questions.expect(asked.thread, namespace, given, surface)
    kept = [write for write in found.pending_writes or [] if write[1] != ASKED]
    return found._replace(pending_writes=kept)
