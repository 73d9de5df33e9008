"""How one class is taken apart: what the codec knows about a type, for every way of walking it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from keepset.codec.entry import Entry

VALUE = "value"
"""The path element of what a user's `to` gives, where that is not a list or a mapping."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A type without parts: an extension with raw bytes.

    Attributes:
        tag: The extension's type.
        write: Turns a value into the bytes.
        texts: Gives the texts that a detector must see, with path elements; they cannot be
            replaced one by one. None where there are none.
    """

    tag: int
    write: Callable[[Any], bytes]
    texts: Callable[[Any], Iterable[tuple[str | int, object]]] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A type with parts: an extension with one packed array.

    Attributes:
        tag: The extension's type.
        split: Turns a value into the array's items.
        head: How many items at the start are the type's own and no part of the value: a class's
            name, a length. Each of the others is a list or a mapping whose entries are parts of
            the value under its path, or a single part.
        spread: The items themselves are the parts, by index.
        unordered: The packed items are sorted, since the value has no order of its own.
    """

    tag: int
    split: Callable[[Any], list[Any]]
    head: int = 0
    spread: bool = False
    unordered: bool = False


Form: TypeAlias = Leaf | Node
Lookup: TypeAlias = Callable[[object], Entry]
"""Finds the class that a stored name stands for; a DecodeError where there is none."""
Read: TypeAlias = Callable[[bytes], Any]
"""Turns an extension's raw bytes into a value; may raise any Exception."""
Build: TypeAlias = Callable[[list[Any], Lookup], Any]
"""Turns an extension's unpacked items into a value; may raise any Exception."""
