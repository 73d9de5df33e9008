"""Is a value that LangGraph's saver gives back the one that it was given? Exactly, and where not.

One thing may differ: a pydantic model remembers which of its fields were given and which have their
defaults; LangGraph's savers write all of them, so that all are given when it is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final

from langgraph.types import Send

from keepset.codec import Codec, Path
from keepset.contracts.records import kind_of
from keepset.errors import PolicyError

_BESIDE: Final = ("__pydantic_extra__", "__pydantic_private__")
_SAME: Final = frozenset({type(None), bool, int, str, bytes, bytearray})


def difference(given: Any, got: Any, path: Path, codec: Codec) -> tuple[Path, str] | None:
    """Say where two values differ first, and how; None where they are the same.

    Args:
        given: What was written.
        got: What was read.
        path: Where they lie.
        codec: Knows the classes.
    """
    cls = type(given)
    if cls is not type(got):
        return path, f"{_name(cls)} becomes {_name(type(got))}"
    if cls in _SAME or cls is float:
        same = struct.pack(">d", given) == struct.pack(">d", got) if cls is float else given == got
        return None if same else _another(cls, path)
    if cls is dict or cls is list or cls is tuple:
        return _containers(given, got, path, codec)
    if kind_of(cls) == "pydantic":
        return _models(given, got, path, codec)
    return _objects(given, got, path, codec)


def _containers(given: Any, got: Any, path: Path, codec: Codec) -> tuple[Path, str] | None:
    if type(given) is dict:
        if not _same_keys(given, got):
            return path, "dict has other keys, or in another order"
        return _first(zip(given.items(), got.values(), strict=True), path, codec)
    if len(given) != len(got):
        return path, f"{_name(type(given))} becomes a longer or shorter one"
    return _first(zip(enumerate(given), got, strict=True), path, codec)


def _same_keys(given: Mapping[Any, Any], got: Mapping[Any, Any]) -> bool:
    return [(type(key), key) for key in given] == [(type(key), key) for key in got]


def _first(
    pairs: Iterable[tuple[tuple[Any, Any], Any]], path: Path, codec: Codec
) -> tuple[Path, str] | None:
    for at, ((element, one), other) in enumerate(pairs):
        own = element if isinstance(element, str | int) else at
        found = difference(one, other, (*path, own), codec)
        if found is not None:
            return found
    return None


def _models(given: Any, got: Any, path: Path, codec: Codec) -> tuple[Path, str] | None:
    for name in _BESIDE:
        ours, theirs = getattr(given, name, None), getattr(got, name, None)
        found = difference(ours, theirs, (*path, name), codec)
        if found is not None:
            return found
    ours, theirs = vars(given), vars(got)
    # Packed bytes are the same for the same values alone, and to compare them takes less time.
    if codec.packs_as(theirs, codec.pack(ours)):
        return None
    return difference(ours, theirs, path, codec)


def _objects(given: Any, got: Any, path: Path, codec: Codec) -> tuple[Path, str] | None:
    try:
        if codec.pack(given) == codec.pack(got):
            return None
        one, other = [*(codec.parts(given) or ())], [*(codec.parts(got) or ())]
    except PolicyError:
        return path, f"{_name(type(given))} becomes what cannot be compared"
    if not one or len(one) != len(other):
        return _another(type(given), path)
    found = _first(zip(one, (part for _, part in other), strict=True), path, codec)
    return found if found or _is_made_of(codec, given) else _another(type(given), path)


def _is_made_of(codec: Codec, value: Any) -> bool:
    """Tell whether an object is nothing but its parts, as they were compared one by one."""
    cls = type(value)
    return not codec.is_whole(value) and (cls is Send or kind_of(cls) is not None)


def _another(cls: type, path: Path) -> tuple[Path, str]:
    return path, f"{_name(cls)} becomes another one"


def _name(cls: type) -> str:
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"
