"""Paths inside a value, as a rule writes them: one for `Extract`, a glob for ``without``.

The language, our own and small::

    choices[0].message.content   a name (key of a mapping, attribute) after a dot, an index in [ ]
    headers["x.id"]              a key that has dots or brackets in it
    *.response_metadata          *: any one element, be it a name or an index
    [*].usage_*                  [*]: any item; * inside a name: any characters
    **.logprobs                  **: any number of elements, also none

The last two lines are globs only. An index counts from 0, and from the end where it is negative
(paths only).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, TypeAlias

from keepset.errors import UsageError


class Wild(Enum):
    """The elements of a glob that stand for others."""

    ONE = "*"
    ITEM = "[*]"
    ANY = "**"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A name with `*` in it."""

    text: str

    def fits(self, name: str) -> bool:
        """Say whether a whole name is like the pattern."""
        parts = (re.escape(part) for part in self.text.split("*"))
        return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


Element: TypeAlias = str | int
Piece: TypeAlias = Element | Wild | Pattern

_PIECE: Final = re.compile(
    r"""\.?(?P<name>[^.\[\]"]+)|\[(?P<index>-?\d+|\*)\]|\["(?P<key>[^"]+)"\]"""
)


def _wrong(text: str) -> UsageError:
    return UsageError(
        f"the path {text!r} cannot be read",
        code="path.syntax",
        hint='Write names with dots and indexes in brackets: choices[0].message["x.id"].',
    )


@lru_cache(maxsize=1024)
def parse_glob(text: str) -> tuple[Piece, ...]:
    """Read a glob.

    Raises:
        UsageError: ``path.syntax``.
    """
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        # A name needs a dot before it, unless it is the first; the first has none.
        if match is None or (match["name"] is not None and (text[at] == ".") == (at == 0)):
            raise _wrong(text)
        pieces.append(_piece(match))
        at = match.end()
    if not pieces:
        raise _wrong(text)
    return tuple(pieces)


def _piece(match: re.Match[str]) -> Piece:
    name, index, key = match["name"], match["index"], match["key"]
    if key is not None:
        return str(key)
    if index is not None:
        return Wild.ITEM if index == "*" else int(index)
    if name in ("*", "**"):
        return Wild(name)
    return Pattern(name) if "*" in name else str(name)


def parse_path(text: str) -> tuple[Element, ...]:
    """Read a path without wildcards.

    Raises:
        UsageError: ``path.syntax``.
    """
    path = tuple(piece for piece in parse_glob(text) if isinstance(piece, str | int))
    if len(path) != len(parse_glob(text)):
        raise UsageError(
            f"the path {text!r} has a wildcard, and one value is wanted",
            code="path.syntax",
            hint="Name every step of the way, or give a function.",
        )
    return path


def step(glob: tuple[Piece, ...], element: Element | None) -> tuple[tuple[Piece, ...], ...]:
    """Take one step into a value.

    Args:
        glob: What is left of a glob; not empty.
        element: The name or the index that is entered; None for an index that is not known.

    Returns:
        What is left of the glob after the step, in every way in which it can be read; an empty
        one among them means that `element` itself is matched.
    """
    first, rest = glob[0], glob[1:]
    if first is Wild.ANY:
        return (glob, *(step(rest, element) if rest else ((),)))
    return (rest,) if _fits(first, element) else ()


def _fits(piece: Piece, element: Element | None) -> bool:
    if piece is Wild.ONE:
        return True
    if piece is Wild.ITEM:
        return not isinstance(element, str)
    if element is None:
        return isinstance(piece, int)
    if isinstance(piece, Pattern):
        return isinstance(element, str) and piece.fits(element)
    return type(piece) is type(element) and piece == element
