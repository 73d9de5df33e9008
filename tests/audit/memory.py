"""Reads what LangGraph's own saver in memory holds, as data; and makes graphs that fill it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import ormsgpack
from langgraph.checkpoint.memory import InMemorySaver

from keepset.readers.ports import Encoding, Foreign, Item, Overview, RunFacts, Surface, Unreadable

SURFACES: dict[str, Surface] = {
    "__error__": "error",
    "__interrupt__": "interrupt",
    "__resume__": "resume",
    "__start__": "input",
}
_PARTS = 2


class MemoryReader:
    """Gives each checkpoint with all of its channels, as the SQLite saver stores them."""

    kind = "langgraph-memory"

    def __init__(self, saver: InMemorySaver) -> None:
        self._saver = saver

    def overview(self) -> Overview:
        runs = list(self.runs())
        rows = {"checkpoints": sum(run.checkpoints for run in runs), "writes": len(self._writes())}
        return Overview(self.kind, "4", sum(run.size for run in runs), rows, len(runs))

    def runs(self) -> Iterator[RunFacts]:
        for thread in sorted(self._saver.storage):
            items = list(self.items(thread))
            times = [item.written for item in items if item.written is not None]
            checkpoints = sum(len(rows) for rows in self._saver.storage[thread].values())
            yield RunFacts(
                thread,
                checkpoints,
                sum(item.size for item in items),
                min(times, default=None),
                max(times, default=None),
                any(item.surface in {"interrupt", "error"} for item in items),
            )

    def items(self, run: str) -> Iterator[Item]:
        for namespace, rows in self._saver.storage[run].items():
            for step in sorted(rows):
                packed, metadata, _ = rows[step]
                checkpoint = taken(*packed)
                assert isinstance(checkpoint, dict)
                written = datetime.fromisoformat(checkpoint["ts"]).timestamp()

                def item(
                    surface: Surface,
                    field: str,
                    stored: tuple[str, bytes],
                    at: tuple[str, str, float] = (namespace, step, written),
                ) -> Item:
                    inside, number, when = at
                    encoding: Encoding = "msgpack" if stored[0] == "msgpack" else "null"
                    size, value = len(stored[1]), taken(*stored)
                    return Item(run, inside, number, surface, field, size, encoding, value, when)

                for channel, version in checkpoint["channel_versions"].items():
                    blob = self._saver.blobs.get((run, namespace, channel, version))
                    if blob and blob[0] != "empty":
                        yield item(SURFACES.get(channel, "state"), channel, blob)
                for name, value in self._metadata(metadata).items():
                    data = ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)
                    yield item("metadata", name, ("msgpack", data))
                for _, channel, stored, _ in self._saver.writes[run, namespace, step].values():
                    yield item(SURFACES.get(channel, "write"), channel, stored)

    def orphans(self) -> Mapping[str, int]:
        return {"writes": 0}

    def _metadata(self, stored: tuple[str, bytes]) -> dict[str, Any]:
        value = taken(*stored)
        assert isinstance(value, dict)
        return value

    def _writes(self) -> list[object]:
        return [one for writes in self._saver.writes.values() for one in writes.values()]


def taken(tag: str, data: bytes) -> object:
    """Take a value apart; nothing is called."""
    if tag != "msgpack":
        return None
    try:
        return ormsgpack.unpackb(data, ext_hook=_foreign, option=ormsgpack.OPT_NON_STR_KEYS)
    except ormsgpack.MsgpackDecodeError:
        return Unreadable("damaged msgpack")


def _foreign(code: int, data: bytes) -> object:
    inner = ormsgpack.unpackb(data, ext_hook=_foreign, option=ormsgpack.OPT_NON_STR_KEYS)
    if not isinstance(inner, list) or len(inner) <= _PARTS:
        return Foreign(f"ext.{code}", inner)
    return Foreign(f"{inner[0]}.{inner[1]}", inner[_PARTS])
