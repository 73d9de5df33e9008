"""The picture of a flat mapping: which of its entries changed is told without packing the others.

A mapping of texts to numbers, texts and flags is what changes most often in a state, one entry at
a time. Its values cannot change in place, so that those that are the same objects as before are
the same values, and only the others are packed and compared.
"""

from __future__ import annotations

from operator import is_, length_hint
from typing import TYPE_CHECKING, Any

import ormsgpack

from keepset.codec import array_header, map_header, pack_plain
from keepset.delta.change import LARGE, Change, Code, frame
from keepset.delta.frozen import Frozen, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

_ATOMS = frozenset({type(None), bool, int, float, str, bytes})
_TEXT = frozenset({str})
_FEWEST, _MOST = 16, 1024
"""Entries: with fewer nothing is won."""

_SETS = frame(3, Code.MAP) + array_header(0)
"""Begins a change that takes no entry away."""

_ENTRY = 160
"""Bytes that an entry takes beside its packed value, nearly: the key, the value, their places."""


class Flat:
    """A picture of one mapping; it says the same as the `Frozen` that it was made of.

    Attributes:
        size: Bytes of the packed mapping.
        memory: Bytes of memory that it takes, nearly.
    """

    __slots__ = ("_keys", "_packed", "_values", "memory", "size")

    def __init__(
        self, keys: list[str], values: Sequence[Any], packed: list[bytes], size: int
    ) -> None:
        """Take the keys, and for each its value and the value's packed bytes."""
        self._keys = keys
        self._values = values
        self._packed = packed
        self.size = size
        self.memory = size + _ENTRY * len(keys)

    @property
    def frozen(self) -> Frozen:
        """The same picture in one piece."""
        return Frozen(self.packed())

    def packed(self) -> bytes:
        """Give the packed mapping."""
        pieces = [map_header(len(self._keys))]
        for key, data in zip(self._keys, self._packed, strict=True):
            pieces += (ormsgpack.packb(key), data)
        return b"".join(pieces)

    def compared(self, value: dict[Any, Any]) -> tuple[Flat, Change | None] | None:
        """Compare a mapping with this picture.

        Args:
            value: The mapping.

        Returns:
            Its picture, and what changed: None where nothing did. None for both where only whole
            pictures can tell: entries are gone or moved, or are more than flat.
        """
        keys = self._keys_of(value)
        if keys is None:
            return None
        values = list(value.values())
        changed = _others(values, self._values)
        changed += range(len(self._keys), len(keys))
        if not changed:
            return self, None
        if not _ATOMS.issuperset([type(values[at]) for at in changed]) or len(keys) > _MOST:
            return None
        return self._set(keys, values, {at: pack_plain(values[at]) for at in changed})

    def _keys_of(self, value: dict[Any, Any]) -> list[str] | None:
        """Give the keys of a mapping; None where they do not begin with those of this picture."""
        known = self._keys
        if len(value) == len(known) and all(map(is_, value, known)):
            return known
        keys = list(value)
        if keys[: len(known)] != known or not _TEXT.issuperset(map(type, keys)):
            return None
        return keys

    def _set(
        self, keys: list[str], values: Sequence[Any], given: dict[int, bytes]
    ) -> tuple[Flat, Change | None] | None:
        """Put packed values in their places; those that are what they were are none to set."""
        known, size, sets = len(self._keys), self.size, {}
        packed = self._packed + [b""] * (len(keys) - known)
        for at, data in given.items():
            size += len(data) - len(packed[at])
            if data != packed[at]:
                sets[keys[at]] = packed[at] = data
            if len(data) > LARGE:
                return None
        if len(keys) > known:
            try:
                size += sum([len(ormsgpack.packb(key)) for key in keys[known:]])
            except TypeError:  # a key that is no valid text
                return None
            size += len(map_header(len(keys))) - len(map_header(known))
        return Flat(keys, values, packed, size), _setting(sets) if sets else None


def _others(values: Sequence[Any], before: Sequence[Any]) -> list[int]:
    """Tell where values are other objects than before.

    Nearly all of them are the same, so that `all` goes from one that is not to the next; how much
    is then left says where that was.
    """
    now, old = iter(values), iter(before)
    found: list[int] = []
    while not all(map(is_, now, old)):
        found.append(len(before) - length_hint(old) - 1)
    return found


def flatten(value: object, picture: Frozen) -> Flat | None:
    """Make a picture of a mapping that is quicker to compare; None where it is not flat.

    Args:
        value: The mapping.
        picture: Its picture, which shows nothing else in place of any part of it.
    """
    if type(value) is not dict or picture.kind is not Kind.MAP:
        return None
    if not _FEWEST <= picture.count <= _MOST or not _ATOMS.issuperset(map(type, value.values())):
        return None
    entries = picture.entries()
    if entries is None or picture.size > LARGE:
        return None
    packed = [bytes(data) for data in entries.values()]
    return Flat(list(entries), list(value.values()), packed, picture.size)


def _setting(sets: dict[str, bytes]) -> Change:
    """Give the change that sets entries, in the order of the mapping."""
    pieces = [_SETS, map_header(len(sets))]
    for key, data in sets.items():
        pieces += (ormsgpack.packb(key), data)
    op = b"".join(pieces)
    return Change(op, tuple([(key,) for key in sets]), is_whole=False, size=len(op))
