"""Whether something is left to do in a thread, by its newest checkpoint and its writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keepset.readers.databases.pages import asked
from keepset.readers.databases.port import Database
from keepset.readers.decoding import from_json, from_msgpack, from_tagged
from keepset.readers.decoding.entries import as_bytes, raws
from keepset.readers.decoding.tagged import encoding_of
from keepset.readers.langgraph.layout import Layout
from keepset.readers.langgraph.names import SENDS, is_next, is_unsettled
from keepset.readers.langgraph.split import Split, channels
from keepset.readers.ports import Foreign, Unreadable

_JOIN: Final = "join:"


def is_unfinished(database: Database, layout: Layout, thread: str) -> bool | None:
    """Tell whether a thread waits, failed, or has a node to run; None where it cannot be told.

    It is finished when its newest checkpoint starts no node and holds neither question nor error.
    """
    newest = _newest(database, layout, thread)
    if newest is None:
        return None
    checkpoint_id, tag, data = newest
    if any(is_unsettled(one) for one in _written(database, layout, thread, checkpoint_id)):
        return True
    values = _values(tag, data)
    if values is None:
        return None
    if any(is_next(name) or (_may_wait(name) and _is_there(value)) for name, value in values):
        return True
    return any(_is_there(value) for value in _beside(database, layout, thread, data))


def _newest(
    database: Database, layout: Layout, thread: str
) -> tuple[object, str | None, object] | None:
    table = layout.checkpoints
    if table is None:
        return None
    tag = database.quoted("type") if "type" in table.columns else "null"
    statement = (
        f"select checkpoint_id, {tag}, {database.text(table.table, 'checkpoint')} from"  # noqa: S608 - names are ours
        f" {database.named(table.table)} where thread_id = {database.mark} and checkpoint_ns = ''"
        " order by checkpoint_id desc limit 1"
    )
    found = asked(database, statement, (thread,), table=table.table)
    return (found[0][0], found[0][1], found[0][2]) if found else None


def _written(
    database: Database, layout: Layout, thread: str, checkpoint_id: object
) -> Iterator[str]:
    """Give the channels of what was written to a checkpoint of the outer graph."""
    if layout.writes is None:
        return
    mark, table = database.mark, layout.writes.table
    statement = (
        f"select distinct channel from {database.named(table)} where thread_id = {mark}"  # noqa: S608 - the same
        f" and checkpoint_ns = '' and checkpoint_id = {mark}"
    )
    for (channel,) in asked(database, statement, (thread, checkpoint_id), table=table):
        yield str(channel)


def _values(tag: str | None, data: object) -> list[tuple[str, object]] | None:
    """Give the channels of a checkpoint; of most of them not more is needed than the name."""
    found = channels(tag, data)
    if found is None:
        _, pieces = Split().checkpoint(tag, data)
        if any(isinstance(one.value, Unreadable) or one.encoding == "encrypted" for one in pieces):
            return None
        return [(one.field, one.value) for one in pieces]
    read = from_msgpack if encoding_of(tag) == "msgpack" else from_json
    return [(name, read(raw) if _may_wait(name) else None) for name, raw in found]


def _may_wait(channel: str) -> bool:
    """Tell whether a channel is one that waits as long as there is something in it."""
    return channel == SENDS or channel.startswith(_JOIN)


def _is_there(value: object) -> bool:
    """Tell whether something is in a list or a set; what cannot be read is not said to wait."""
    content = value.parts if isinstance(value, Foreign) else value
    return bool(content) and not isinstance(content, Unreadable)


def _beside(database: Database, layout: Layout, thread: str, data: object) -> Iterator[object]:
    """Give those channels that may wait, where they lie in a table of their own."""
    if layout.blobs is None:
        return
    parts = raws("json", as_bytes(data)) or {}
    versions = from_json(bytes(parts.get("channel_versions", b"{}")))
    if not isinstance(versions, dict):
        return
    mark, table = database.mark, layout.blobs.table
    statement = (
        f"select type, blob from {database.named(table)} where thread_id = {mark}"  # noqa: S608 - the same
        f" and checkpoint_ns = '' and channel = {mark} and version = {mark}"
    )
    for name, version in versions.items():
        if _may_wait(name):
            for tag, blob in asked(database, statement, (thread, name, str(version)), table=table):
                yield from_tagged(tag, bytes(blob) if blob is not None else None)
