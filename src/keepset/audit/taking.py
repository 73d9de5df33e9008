"""Take a value of a store apart: plain data for the detectors, and what only its making tells.

A value that its host would make by calling something becomes what it would be made of; what would
be called is counted. Nothing is imported to find that out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from keepset.readers.ports import Foreign, Unreadable

METADATA: Final = ("response_metadata", "usage_metadata", "additional_kwargs")
"""What a model's answer brings along inside of a message."""

DEEPEST: Final = 200
"""Below so many containers a value is not looked at; it is counted as unreadable."""

_TOO_DEEP: Final = "nested too deeply to be looked at"
_PATH = tuple[str | int, ...]
_ADDRESS: Final = re.compile(r"<([A-Za-z_][\w.<>]*)[^<>]* at 0x[0-9A-Fa-f]{4,16}")
_CALL: Final = re.compile(
    r"([A-Z]\w*(?:\.\w+)*)\((?:[^()]*[, ])?\w*(?:key|token|password|secret|dsn|credential)\w*=",
    re.IGNORECASE,
)
_LONGEST_CALL: Final = 4096
_SIMPLE: Final = frozenset({int, float, bool, type(None)})
_CONTAINERS: Final = frozenset({dict, list, tuple, Foreign})


def _counts() -> defaultdict[str, int]:
    return defaultdict(int)


@dataclass(slots=True)
class Taken:
    """What taking one value apart told.

    Attributes:
        value: The value as plain data, for the detectors.
        types: What a load would import and call, with counts.
        unreadable: Why parts could not be read, with counts.
        metadata: Bytes of a model's response metadata, by the key that it stands under.
        leftovers: Texts that an object left behind: path, type, whether that is the whole text.
    """

    value: Any = None
    types: defaultdict[str, int] = field(default_factory=_counts)
    unreadable: defaultdict[str, int] = field(default_factory=_counts)
    metadata: defaultdict[str, int] = field(default_factory=_counts)
    leftovers: list[tuple[_PATH, str, bool]] = field(default_factory=list)


def take(value: object, path: _PATH) -> Taken:
    """Take a value apart.

    Args:
        value: A value as a reader gives it.
        path: Where it is.
    """
    taken = Taken()
    taken.value = _plain(value, path, 0, taken)
    return taken


def packed(value: object) -> bytes | None:
    """Give bytes that are the same for equal values; None where there are none.

    Args:
        value: A value as a reader gives it.
    """
    try:
        return msgspec.msgpack.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass
    try:
        return repr(value).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # nested deeper, or an integer longer, than Python writes
        return None


def _plain(value: Any, path: _PATH, depth: int, taken: Taken) -> Any:
    kind = type(value)
    if kind is str:
        _look_at(value, path, taken)
    elif kind is Unreadable:
        taken.unreadable[value.why] += 1
        return None
    elif kind in _CONTAINERS:
        if depth > DEEPEST:
            taken.unreadable[_TOO_DEEP] += 1
            return None
        return _opened(value, path, depth, taken)
    return value


def _opened(value: Any, path: _PATH, depth: int, taken: Taken) -> Any:
    if type(value) is dict:
        return _mapping(value, path, depth, taken)
    if type(value) is Foreign:
        taken.types[value.type] += 1
        return _plain(value.parts, path, depth + 1, taken)
    return _sequence(value, path, depth, taken)


def _mapping(value: dict[Any, Any], path: _PATH, depth: int, taken: Taken) -> dict[Any, Any]:
    changed: dict[Any, Any] = {}
    for position, (key, child) in enumerate(value.items()):
        if type(child) in _SIMPLE:
            continue
        named = type(key) is str
        if child and named and key in METADATA:
            taken.metadata[key] += len(packed(child) or b"")
        plain = _plain(child, (*path, key if named else position), depth + 1, taken)
        if plain is not child:
            changed[key] = plain
    return {**value, **changed} if changed else value


def _sequence(value: Any, path: _PATH, depth: int, taken: Taken) -> Any:
    plain: list[Any] = []
    same = True
    for index, child in enumerate(value):
        if type(child) in _SIMPLE:
            plain.append(child)
            continue
        one = _plain(child, (*path, index), depth + 1, taken)
        same = same and one is child
        plain.append(one)
    return value if same else plain


def _look_at(text: str, path: _PATH, taken: Taken) -> None:
    if " at 0x" in text:
        found = _ADDRESS.search(text)
        if found:
            whole = found.start() == 0 and text.endswith(">")
            taken.leftovers.append((path, found[1], whole))
            return
    if text.endswith(")") and len(text) <= _LONGEST_CALL:
        call = _CALL.match(text)
        if call:
            taken.leftovers.append((path, call[1], True))
