"""Whether something is left to do in a thread, by its newest checkpoint and its writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from keepset.readers.databases.pages import asked
from keepset.readers.databases.port import Database
from keepset.readers.decoding import from_json, from_msgpack, from_tagged
from keepset.readers.decoding.entries import as_bytes, raws
from keepset.readers.decoding.tagged import encoding_of
from keepset.readers.langgraph.edges import nodes_of
from keepset.readers.langgraph.layout import Layout
from keepset.readers.langgraph.names import SENDS, is_next, is_unsettled
from keepset.readers.langgraph.split import Split, channels
from keepset.readers.ports import Foreign, Unreadable

_JOIN: Final = "join:"
_INBOX: Final = ":inbox"  # what starts a node, before 0.0.30; it stays when the node has run


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
    if values is None or any(name.endswith(_INBOX) for name, _ in values):
        return None
    if any(is_next(name) or (_may_wait(name) and _is_there(value)) for name, value in values):
        return True
    parts = _parts(tag, data)
    waiting = {name: version for name, version in parts[0].items() if _may_wait(name)}
    if any(map(_is_there, _beside(database, layout, thread, waiting))):
        return True
    left = dict(_left_by_nodes(*parts))
    lie = {name for name, _ in values if name in left}
    beside = {name: parts[0][name] for name in left.keys() - lie}
    lie |= {name for name in beside if any(_beside(database, layout, thread, {name: beside[name]}))}
    return True if any(left[name] for name in lie) else None if lie else False


def nodes_run(database: Database, layout: Layout, thread: str, namespace: str) -> frozenset[str]:
    """Name the nodes of a graph that have run in a thread, by its newest checkpoint."""
    newest = _newest(database, layout, thread, namespace)
    return frozenset() if newest is None else nodes_of(_parts(*newest[1:])[1])


def _newest(
    database: Database, layout: Layout, thread: str, namespace: str = ""
) -> tuple[object, str | None, object] | None:
    table = layout.checkpoints
    if table is None:
        return None
    tag = database.quoted("type") if "type" in table.columns else "null"
    statement = (
        f"select checkpoint_id, {tag}, {database.text(table.table, 'checkpoint')} from"  # noqa: S608 - names are ours
        f" {database.named(table.table)} where thread_id = {database.mark}"
        f" and checkpoint_ns = {database.mark} order by checkpoint_id desc limit 1"
    )
    found = asked(database, statement, (thread, namespace), table=table.table)
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


def _parts(tag: str | None, data: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the versions of a checkpoint's channels, and by node those that it has seen."""
    found = []
    encoding = encoding_of(tag)
    parts = raws(encoding, as_bytes(data))
    whole = from_tagged(tag, as_bytes(data)) if parts is None else {}
    read = from_msgpack if encoding == "msgpack" else from_json
    for name in ("channel_versions", "versions_seen"):
        if parts is None:
            value = whole.get(name) if isinstance(whole, dict) else None
        else:
            value = read(bytes(parts[name])) if name in parts else None
        found.append(value if isinstance(value, dict) else {})
    return found[0], found[1]


def _left_by_nodes(versions: dict[str, Any], seen: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Give the channels that a node has written to start the next one, and no node has seen.

    Before 0.3 an edge was a channel with the name of the node that it comes from. One that has
    started a node before waits for it to run again; of another it cannot be told whether there is a
    node behind it, or the end of the graph.
    """
    for name in nodes_of(seen) & versions.keys():
        by_node = [one[name] for one in seen.values() if isinstance(one, dict) and name in one]
        if versions[name] not in by_node:
            yield name, bool(by_node)


def _beside(
    database: Database, layout: Layout, thread: str, versions: dict[str, Any]
) -> Iterator[object]:
    """Give the values of channels, where they lie in a table of their own."""
    if layout.blobs is None:
        return
    mark, table = database.mark, layout.blobs.table
    statement = (
        f"select type, blob from {database.named(table)} where thread_id = {mark}"  # noqa: S608 - the same
        f" and checkpoint_ns = '' and channel = {mark} and version = {mark}"
    )
    for name, version in versions.items():
        for tag, blob in asked(database, statement, (thread, name, str(version)), table=table):
            yield from_tagged(tag, bytes(blob) if blob is not None else None)
