"""A value taken apart into leaves, so that two can be compared and what differs be named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, Final

from keepset.codec import Codec, Path
from keepset.errors import PolicyError

_LONGEST: Final = 4_096
"""Characters of a text above which digests stand for it."""
_DEEPEST: Final = 200
_OPAQUE: Final = "?"
_HERE: Final = "<folder>"
_CHANGING: Final = str.maketrans("", "", "0123456789abcdef")
"""Takes out of a text what clocks and ids are made of."""
_LETTERS: Final = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
"""Makes a digest look like a word, and not like an id."""
_WORD: Final = 12


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a value.

    Attributes:
        kind: Name of its type.
        text: What it holds; digests where that is long, ``?`` for what has no bytes, such as a
            connection, and nothing for a container.
        parts: How many parts a container has; None for anything else.
        is_opaque: Whether what it holds is not known, so that two of a kind pass for the same.
    """

    kind: str
    text: str
    parts: int | None = None
    is_opaque: bool = False


Leaves = dict[Path, Leaf]
"""Leaves by path; a container has one of its own."""


def opaque(leaves: Leaves) -> frozenset[str]:
    """Name the fields that hold something of which two of a kind pass for the same."""
    return frozenset(str(path[0]) for path, leaf in leaves.items() if leaf.is_opaque)


def leaves_of(value: Any, path: Path, codec: Codec, here: str = "") -> Leaves:
    """Take a value apart.

    The order of a mapping's keys and of a set's items does not count.

    Args:
        value: Any value, live handles included.
        path: Where it stands.
        codec: Knows its classes; what it does not know is a leaf without a text.
        here: The folder of the trial, which is another one each time: it is not compared.
    """
    return dict(_Taking(codec, here).apart(value, path))


class _Taking:
    """Takes one value apart."""

    def __init__(self, codec: Codec, here: str) -> None:
        self._codec = codec
        self._here = here
        self._above: set[int] = set()

    def apart(self, value: Any, path: Path) -> Iterator[tuple[Path, Leaf]]:
        kind = type(value).__qualname__
        if id(value) in self._above or len(path) >= _DEEPEST:
            yield path, Leaf(kind, _OPAQUE, is_opaque=True)
            return
        try:
            parts = self._parts(value)
            text = self._text(value, path) if parts is None else ""
        except PolicyError:
            yield path, Leaf(kind, _OPAQUE, is_opaque=True)
            return
        if parts is None:
            yield path, Leaf(kind, text)
            return
        self._above.add(id(value))
        yield path, Leaf(kind, "", len(parts))
        for element, part in parts:
            yield from self.apart(part, (*path, element))
        self._above.discard(id(value))

    def _parts(self, value: Any) -> list[tuple[str | int, Any]] | None:
        if isinstance(value, str | bytes | PurePath) or self._codec.is_whole(value):
            return None
        parts = self._codec.parts(value)
        if parts is None:
            return None
        if isinstance(value, dict):
            return list(self._entries(value))
        if isinstance(value, set | frozenset):
            return list(enumerate(sorted(value, key=self._order)))
        return list(parts)

    def _entries(self, value: dict[Any, Any]) -> Iterator[tuple[str | int, Any]]:
        others = [key for key in value if type(key) not in (str, int)]
        yield from ((key, item) for key, item in value.items() if type(key) in (str, int))
        for number, key in enumerate(sorted(others, key=self._order)):
            name = f"{type(key).__name__} key {number}"
            yield f"<{name}>", key
            yield f"<value of {name}>", value[key]

    def _order(self, value: Any) -> str:
        return repr(list(self.apart(value, ())))

    def _text(self, value: Any, path: Path) -> str:
        if isinstance(value, str | PurePath):
            text = str(value).replace(self._here, _HERE) if self._here else str(value)
        elif isinstance(value, int) and value.bit_length() > _LONGEST:
            text = hex(value)  # Python writes no number of so many digits in decimals
        elif value is None or isinstance(value, bool | int | float):
            text = repr(value)
        elif isinstance(value, Enum):
            text = value.name
        elif isinstance(value, bytes) and value.isascii():
            text = value.decode("ascii")
        else:
            text = f"#{_digest(self._codec.pack(value, path))}"
        return text if len(text) <= _LONGEST else _digests(text)


def _digests(text: str) -> str:
    """Put digests in place of a long text: of what no clock changes, as words, and of all."""
    steady = _digest(_bytes(text.translate(_CHANGING))).translate(_LETTERS)
    return f"#{'.'.join(_cut(steady))} {_digest(_bytes(text))}"


def _cut(text: str) -> Iterable[str]:
    return (text[at : at + _WORD] for at in range(0, len(text), _WORD))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
