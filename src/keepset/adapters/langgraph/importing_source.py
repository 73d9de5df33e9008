"""Checkpoints of another saver, put together from its rows, with a list of what is wrong in them.

They are what that saver's own `get_tuple` would give, but that nothing is called for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.address import config_of
from keepset.adapters.langgraph.checkpoints import is_sound
from keepset.adapters.langgraph.importing_rows import CheckpointRow, Rows, Spot, WriteRow
from keepset.adapters.langgraph.vetting import MOST, Allowed, Vetting
from keepset.codec import Path
from keepset.readers.decoding import from_json, from_tagged
from keepset.readers.decoding.entries import raws
from keepset.readers.decoding.remembered import Remembered
from keepset.readers.decoding.tagged import encoding_of
from keepset.readers.langgraph.names import SENDS, surface
from keepset.readers.ports import Unreadable

_VALUES: Final = "channel_values"
_BEFORE_SENDS: Final = 4
"""The version of the layout since which a checkpoint holds itself what nodes are sent."""
ENCRYPTED: Final = "it is encrypted"
_COPIED: Final = frozenset({"thread_id", "writes"})
_COPIED_BEGIN: Final = ("langgraph_", "checkpoint_", "__")
"""What savers copy into metadata of the run's own address, and what LangGraph once told of it."""
_PICKLE: Final = "it is a pickle, and none is loaded"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value that cannot be taken over.

    Attributes:
        surface: Where it was let in.
        path: Where it lies.
        why: What is the matter with it.
    """

    surface: str
    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Read:
    """A checkpoint, without the values that cannot be taken over.

    Attributes:
        found: The checkpoint.
        paths: The path of each task that wrote something.
        size: Bytes that were read for it.
        wrong: Values that are not in it, some at most.
        more: How many there are beside those.
        is_broken: Whether the checkpoint itself, and not a value in it, cannot be read.
    """

    found: CheckpointTuple
    paths: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    wrong: Sequence[Wrong] = ()
    more: int = 0
    is_broken: bool = False


class ThreadSource:
    """Reads one namespace of a thread; values that stay the same from step to step are made once.

    Args:
        rows: The tables.
        allowed: What may be made of data.
        thread: The thread.
        keys: Keys of the metadata that are of use; others are not looked at.

    Attributes:
        unasked: Keys of the metadata that others have put there, as far as so many are told.
    """

    def __init__(self, rows: Rows, allowed: Allowed, thread: str, keys: Sequence[str]) -> None:
        """Read nothing yet."""
        self._rows = rows
        self._thread = thread
        self._keys = keys
        self._vetting = Vetting(allowed)
        self._remembered = Remembered()
        self._blobs: dict[str, tuple[str, object, int]] = {}
        self._wrong: list[Wrong] = []
        self._more = 0
        self.unasked: set[str] = set()

    def read(self, spot: Spot) -> Read | None:
        """Read one checkpoint; None where there is none any more."""
        row = self._rows.checkpoint(self._thread, spot)
        if row is None:
            return None
        self._wrong, self._more = [], 0
        self._vetting.begin()
        written = self._rows.writes(self._thread, spot)
        size = len(row.data) + len(row.metadata) + sum(len(one.data or b"") for one in written)
        checkpoint, beside = self._checkpoint(row, spot)
        self._add_sends(checkpoint, row, spot)
        writes = [(one.task, one.channel, value) for one in written for value in self._write(one)]
        at: Any = config_of(self._thread, spot.namespace, spot.checkpoint)
        parent: Any = config_of(self._thread, spot.namespace, row.parent) if row.parent else None
        metadata: Any = self._metadata(row.metadata)
        whole: Any = checkpoint or _EMPTY
        return Read(
            CheckpointTuple(at, whole, metadata, parent, writes),
            {one.task: one.path for one in written},
            size + beside,
            tuple(self._wrong),
            self._more,
            not checkpoint,
        )

    def _checkpoint(self, row: CheckpointRow, spot: Spot) -> tuple[dict[str, Any], int]:
        """Put the checkpoint itself together; an empty one where that cannot be."""
        parts = self._parts(row)
        if parts is None:
            return {}, 0
        values = parts.pop(_VALUES, None) or {}
        made: dict[str, Any] = {
            key: one[0] for key, given in parts.items() if (one := self._of(given, (key,), "state"))
        }
        named = made.get("id") == spot.checkpoint and isinstance(values, dict)
        if not named or not is_sound(made):
            self._report("state", ("checkpoint",), "it is no checkpoint of LangGraph's")
            return {}, 0
        beside = 0
        if self._rows.has_blobs:
            found, beside = self._beside(spot.namespace, made["channel_versions"])
            values = {**values, **found}
        made[_VALUES] = {
            name: one[0]
            for name, given in values.items()
            if (one := self._of(given, (str(name),), surface(str(name), "state")))
        }
        return made, beside

    def _parts(self, row: CheckpointRow) -> dict[str, Any] | None:
        """Take a checkpoint apart, each channel by itself where that can be; None: it cannot be."""
        encoding = encoding_of(row.tag)
        if encoding in ("encrypted", "pickle"):
            why = ENCRYPTED if encoding == "encrypted" else _PICKLE
            self._report("state", ("checkpoint",), why)
            return None
        cut = raws(encoding, row.data) if encoding == "msgpack" else None
        inner = raws(encoding, bytes(cut[_VALUES])) if cut and _VALUES in cut else None
        if cut is not None and inner is not None:
            take = self._remembered.take_apart
            parts: dict[str, Any] = {
                key: take(bytes(raw)) for key, raw in cut.items() if key != _VALUES
            }
            parts[_VALUES] = {name: take(bytes(raw)) for name, raw in inner.items()}
            return parts
        whole = from_tagged(row.tag, row.data)
        if isinstance(whole, dict) and all(isinstance(key, str) for key in whole):
            return dict(whole)
        why = whole.why if isinstance(whole, Unreadable) else "it is no checkpoint of LangGraph's"
        self._report("state", ("checkpoint",), why)
        return None

    def _beside(self, namespace: str, versions: Mapping[str, Any]) -> tuple[dict[str, object], int]:
        """Read the channels that lie beside a checkpoint; those of known versions are not read."""
        wanted = {str(name): str(version) for name, version in versions.items()}
        missing = {
            name: version
            for name, version in wanted.items()
            if name not in self._blobs or self._blobs[name][0] != version
        }
        read = 0
        there = self._rows.blobs(self._thread, namespace, missing)
        for name, version in missing.items():
            tag, data = there.get(name, ("empty", b""))
            self._blobs[name] = (version, _ABSENT if tag == "empty" else self._taken(tag, data), 0)
            read += len(data)
        known = {name: self._blobs[name][1] for name in wanted}
        return {name: one for name, one in known.items() if one is not _ABSENT}, read

    def _taken(self, tag: str | None, data: bytes | None) -> object:
        """Take a value apart by its tag."""
        encoding = encoding_of(tag)
        if encoding == "encrypted":
            return Unreadable(ENCRYPTED)
        if encoding == "pickle":
            return Unreadable(_PICKLE)
        if encoding == "msgpack" and data:
            return self._remembered.take_apart(data)
        found = from_tagged(tag, data)
        return bytearray(found) if tag == "bytearray" and isinstance(found, bytes) else found

    def _of(self, found: object, path: Path, where: str) -> tuple[object] | None:
        """Make a value; None where something of it cannot be made, which is noted."""
        vetting = self._vetting
        before, more = len(vetting.problems), vetting.more
        made = vetting.value(found, path)
        if len(vetting.problems) == before and vetting.more == more:
            return (made,)
        for path_of_it, why in vetting.problems[before:]:
            self._wrong.append(Wrong(where, path_of_it, why))
        self._more += vetting.more - more
        return None

    def _report(self, where: str, path: Path, why: str) -> None:
        self._wrong.append(Wrong(where, path, why))

    def _write(self, row: WriteRow) -> list[object]:
        """Make what was written: one value, or none where it cannot be taken over."""
        found = self._taken(row.tag, row.data)
        made = self._of(found, (row.channel,), surface(row.channel, "write"))
        return list(made or ())

    def _metadata(self, raw: bytes) -> dict[str, Any]:
        """Make those entries of the metadata that are of use."""
        found = from_json(raw) if raw else {}
        if not isinstance(found, dict):
            why = found.why if isinstance(found, Unreadable) else "it is no mapping"
            self._report("metadata", ("metadata",), why)
            return {}
        if len(self.unasked) < MOST:
            self.unasked |= {one for one in found if one not in self._keys and not _is_copied(one)}
        made = {
            key: self._of(found[key], ("metadata", key), "metadata")
            for key in self._keys
            if key in found
        }
        return {key: one[0] for key, one in made.items() if one}

    def _add_sends(self, checkpoint: dict[str, Any], row: CheckpointRow, spot: Spot) -> None:
        """Add what nodes are sent where an old release kept it with the parent's writes."""
        version = checkpoint.get("v")
        if not isinstance(version, int) or version >= _BEFORE_SENDS or not row.parent:
            return
        before = self._rows.writes(self._thread, Spot(row.parent, spot.namespace))
        sends = [value for one in before if one.channel == SENDS for value in self._write(one)]
        if sends:
            checkpoint[_VALUES][SENDS] = sends
            versions = checkpoint["channel_versions"]
            versions[SENDS] = max(versions.values()) if versions else 1


_ABSENT: Final = object()
_EMPTY: Final = {
    "v": 1, "id": "", "ts": "", _VALUES: {}, "channel_versions": {}, "versions_seen": {},
}  # fmt: skip


def _is_copied(key: str) -> bool:
    return key in _COPIED or key.startswith(_COPIED_BEGIN)
