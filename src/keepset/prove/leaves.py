"""A value taken apart into leaves, so that two can be compared and what differs be named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from keepset.codec import Codec, Path
from keepset.errors import PolicyError

_LONGEST: Final = 4_096
"""Characters of a text above which a digest stands for it."""
_DEEPEST: Final = 200
_OPAQUE: Final = "?"
_HERE: Final = "<folder>"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a value.

    Attributes:
        kind: Name of its type.
        text: What it holds; a digest where that is long, ``?`` for what has no bytes, such as a
            connection, and nothing for a container.
        parts: How many parts a container has; None for anything else.
    """

    kind: str
    text: str
    parts: int | None = None


Leaves = dict[Path, Leaf]
"""Leaves by path; a container has one of its own."""


def leaves_of(value: Any, path: Path, codec: Codec, here: str = "") -> Leaves:
    """Take a value apart.

    Args:
        value: Any value, live handles included.
        path: Where it stands.
        codec: Knows its classes; what it does not know is a leaf without a text.
        here: The folder of the trial, which is another one each time: it is not compared.
    """
    return dict(_leaves(value, path, codec, here))


def _leaves(value: Any, path: Path, codec: Codec, here: str) -> Iterator[tuple[Path, Leaf]]:
    kind = type(value).__qualname__
    if not isinstance(value, str | bytes | PurePath) and len(path) < _DEEPEST:
        try:
            parts = codec.parts(value)
            listed = None if parts is None else list(parts)
        except PolicyError:
            yield path, Leaf(kind, _OPAQUE)
            return
        if listed is not None:
            yield path, Leaf(kind, "", len(listed))
            for element, part in listed:
                yield from _leaves(part, (*path, element), codec, here)
            return
    yield path, Leaf(kind, _text(value, path, codec, here))


def _text(value: Any, path: Path, codec: Codec, here: str) -> str:
    if isinstance(value, str | PurePath):
        text = str(value).replace(here, _HERE) if here else str(value)
    elif value is None or isinstance(value, bool | int | float):
        text = repr(value)
    else:
        try:
            text = f"#{hashlib.sha256(codec.pack(value, path)).hexdigest()}"
        except PolicyError:
            text = _OPAQUE
    if len(text) <= _LONGEST:
        return text
    return f"#{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
