"""A checkpoint as it left and as LangGraph's saver gives it back: where do they differ?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.address import config_of
from keepset.adapters.langgraph.elsewhere import parent_of
from keepset.adapters.langgraph.exporting_reading import Leaving
from keepset.adapters.langgraph.exporting_same import difference
from keepset.adapters.langgraph.exporting_targets import Measured, Target, Turn
from keepset.adapters.moved import LeftOut, Outcome
from keepset.codec import Path, format_path

STRUCTURE: Final = "checkpoint"
"""Surface of what no saver may change."""

_TABLES: Final = ("v", "id", "ts", "updated_channels", "channel_versions", "versions_seen")
_UNREADABLE: Final = (ValueError, TypeError, KeyError, AttributeError, NotImplementedError)
_INLINE: Final = (type(None), str, int, float, bool)
Write = tuple[str, str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of comparing a thread with the one of its name that is there.

    Attributes:
        outcome: `THERE`, `AHEAD`, `GROWN` or `DIFFERS`.
        left: Where they differ first; None where they do not.
    """

    outcome: Outcome
    left: LeftOut | None = None


def unlike(one: Leaving, got: CheckpointTuple | None) -> Iterator[LeftOut]:
    """Say where a checkpoint is not what it was."""
    yield from _unlike_but_writes(one, got)
    if got is not None:
        yield from _unlike_writes(one, _by_task(one.writes), _by_task(got.pending_writes))


def _unlike_but_writes(one: Leaving, got: CheckpointTuple | None) -> Iterator[LeftOut]:
    if got is None:
        yield _left(one, STRUCTURE, (), "it is not there")
        return
    there: Mapping[str, Any] = got.checkpoint
    for name in _TABLES:
        if one.checkpoint.get(name) != there.get(name):
            yield _left(one, STRUCTURE, (name,), "it is another one")
    if parent_of(got) != one.parent:
        yield _left(one, STRUCTURE, ("parent",), "it is another one")
    yield from _values(one, there["channel_values"])
    said: Mapping[str, Any] = got.metadata or {}
    for name, value in one.metadata.items():
        if name not in said:
            yield _left(one, "metadata", (name,), "it is not there")
            continue
        found = _no_json(value, (name,)) or _no_json(said[name], (name,))
        if found is None:
            found = difference(_plain(value), _plain(said[name]), (name,), one.codec)
        if found is not None:
            yield _left(one, "metadata", *found)


def _values(one: Leaving, there: Mapping[str, Any]) -> Iterator[LeftOut]:
    ours = one.checkpoint["channel_values"]
    for name in {**ours, **there}:
        if name not in there or name not in ours:
            why = "it is not there" if name in ours else "it is there and was not"
            yield _left(one, STRUCTURE, (name,), why)
            continue
        found = difference(ours[name], there[name], (name,), one.codec)
        if found is not None:
            yield _left(one, "state", *found)


def _unlike_writes(
    one: Leaving, ours: Sequence[Write], there: Sequence[Write]
) -> Iterator[LeftOut]:
    if [write[:2] for write in ours] != [write[:2] for write in there]:
        yield _left(one, STRUCTURE, ("writes",), "they are others, or in another order")
        return
    for (_, channel, value), (_, _, other) in zip(ours, there, strict=True):
        found = difference(value, other, (channel,), one.codec)
        if found is not None:
            yield _left(one, "write", *found)


def _by_task(writes: Sequence[Write] | None) -> list[Write]:
    """Put writes in order of their tasks: which comes first is each release's own choice."""
    return sorted(writes or (), key=lambda write: write[0])


def _plain(value: Any) -> Any:
    """Give a value of metadata as JSON has it; the order of keys is no part of it."""
    return json.loads(json.dumps(value, sort_keys=True))


def compare(
    leaving: Iterator[Leaving], thread: str, turn: Turn, made: Callable[[Leaving], Leaving]
) -> Compared:
    """Compare a thread with the one of its name that is there.

    Args:
        leaving: Its checkpoints.
        thread: Its id.
        turn: Reads the other one.
        made: Gives a checkpoint as it is to be found there.
    """
    assert turn.reading is not None  # noqa: S101 - there are checkpoints, so somebody reads them
    found = missing = 0
    more = fewer = False
    for one in leaving:
        here: Any = config_of(thread, one.namespace, one.id)
        try:
            got = turn.reading.get_tuple(here)
        except _UNREADABLE as error:  # encrypted, or not what this release reads
            why = f"what is there cannot be read ({type(error).__name__})"
            return Compared(Outcome.DIFFERS, _left(one, STRUCTURE, (), why))
        if got is None:
            missing += 1
            continue
        if not _is_checkpoint(got):
            why = "what is there is no checkpoint"
            return Compared(Outcome.DIFFERS, _left(one, STRUCTURE, (), why))
        found += 1
        own = made(one)
        left = next(_unlike_but_writes(own, got), None)
        if left is not None:
            return Compared(Outcome.DIFFERS, left)
        ours, there = _by_task(own.writes), _by_task(got.pending_writes)
        if (left := next(_unlike_writes(own, ours, there), None)) is not None:
            is_more, is_fewer = _has(own, there, ours), _has(own, ours, there)
            if not is_more and not is_fewer:
                return Compared(Outcome.DIFFERS, left)
            more, fewer = more or is_more, fewer or is_fewer
    more = more or turn.there > found
    fewer = fewer or missing > 0
    if more and fewer:
        return Compared(Outcome.DIFFERS)
    return Compared(Outcome.AHEAD if more else Outcome.GROWN if fewer else Outcome.THERE)


def _is_checkpoint(got: CheckpointTuple) -> bool:
    """Tell whether what a saver gives has the form of a checkpoint: it gives what bytes say."""
    there: Any = got.checkpoint
    said: Any = got.metadata
    return (
        isinstance(there, dict)
        and isinstance(there.get("channel_values"), dict)
        and isinstance(said, dict | None)
        and all(isinstance(task, str) for task, _, _ in got.pending_writes or ())
    )


def _has(one: Leaving, many: Sequence[Write], few: Sequence[Write]) -> bool:
    """Tell whether writes are among others, in order."""
    left = iter(many)
    return all(
        any(
            own[:2] == other[:2] and difference(own[2], other[2], (), one.codec) is None
            for other in left
        )
        for own in few
    )


def misfit(one: Leaving, target: Target, serde: Measured) -> LeftOut | None:
    """Find what in a checkpoint a saver could not write; None where it is nothing of it."""
    values = [("state", name, value) for name, value in one.checkpoint["channel_values"].items()]
    values += [("write", channel, value) for _, channel, value in one.writes]
    for surface, name, value in values:
        found = _unwritable(value, (name,), serde)
        if found is None and surface == "state" and isinstance(value, _INLINE):
            found = target.unfit(value, (name,))
        if found is not None:
            return _left(one, surface, *found)
    for name, value in one.metadata.items():
        found = target.unfit(value, (name,)) or _no_json(value, (name,))
        if found is not None:
            return _left(one, "metadata", *found)
    return None


def _unwritable(value: Any, path: Path, serde: Measured) -> tuple[Path, str] | None:
    """Find the smallest part of a value that the host's serializer does not take."""
    try:
        serde.dumps_typed(value)
    except Exception as error:  # noqa: BLE001 - it runs code of the user's classes
        parts = enumerate(value) if isinstance(value, list | tuple) else ()
        entries = value.items() if isinstance(value, dict) else parts
        for key, part in entries:
            element = key if isinstance(key, str | int) else 0
            found = _unwritable(part, (*path, element), serde)
            if found is not None:
                return found
        cls = type(value).__qualname__
        return path, f"the host's serializer refuses {cls} with {type(error).__name__}"
    return None


def _no_json(value: Any, path: Path) -> tuple[Path, str] | None:
    try:
        json.dumps(value)
    except (TypeError, ValueError) as error:
        return path, f"it is no JSON ({type(error).__name__})"
    return None


def _left(one: Leaving, surface: str, path: Path, why: str) -> LeftOut:
    return LeftOut(one.id, one.namespace, surface, format_path(path), why)
