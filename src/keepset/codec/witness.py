"""Whether models are what they were, told by the identity of what they consist of.

To pack a thousand messages again, only to see that they still pack into the same bytes, takes some
1.5 us each. Nearly always they are the same objects with the same attributes, most of them atoms
that nobody can change or lists and mappings that are still empty. That is told by identity in a
third of the time; what else they hold is packed and compared, and nothing else is. An atom that was
replaced by an equal one counts as changed here: what is not sure is left to the exact way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any, Final, Protocol

from keepset.codec.fast import bytes_free

_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
"""Types of what nobody can change."""
_CONTAINERS: Final = frozenset({dict, list})
_PART: Final = 8 * 1024
"""Bytes from which on a part takes no more values."""
_TOGETHER: Final = 64
"""Values that are packed together, at the most."""

_attributes: Final = attrgetter("__dict__")
_given: Final = attrgetter("__pydantic_fields_set__")
_extra: Final = attrgetter("__pydantic_extra__")
_private: Final = attrgetter("__pydantic_private__")
_values: Final = dict.values


class Compare(Protocol):
    """What a codec does to tell what a value is; see `Codec`."""

    def pack(self, value: object) -> bytes:
        """Pack a value."""
        ...

    def packs_as(self, value: object, data: bytes, *, plain: bool = False) -> bool:
        """Compare a value with packed bytes."""
        ...


class _Part:
    """Some values that are no atoms, and the bytes that they pack into together."""

    __slots__ = ("data", "plain", "values")

    def __init__(self, values: list[Any], data: bytes) -> None:
        self.values = values
        self.data = data
        self.plain = len(data) >= _PART and bytes_free(data)


class Witness:
    """Remembers what pydantic models consist of; it may be given more of them.

    What it remembers, the models included, is alive for as long as it is.
    """

    __slots__ = (
        "_classes",
        "_codec",
        "_empty",
        "_fields",
        "_given",
        "_is_known",
        "_items",
        "_names",
        "_parts",
        "_sizes",
    )

    def __init__(self, codec: Compare, is_known: Callable[[type], bool]) -> None:
        """Remember nothing yet.

        Args:
            codec: Compares what is no atom.
            is_known: Tells whether a class is one of models that are stored by their fields, and
                which of these were given, and by nothing else.
        """
        self._codec = codec
        self._is_known = is_known
        self._items: list[Any] = []
        self._classes: list[type] = []
        self._given: list[frozenset[str]] = []
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._fields: list[Any] = []
        self._empty: list[Any] = []
        self._parts: list[_Part] = []

    def add(self, items: Sequence[Any]) -> bool:
        """Remember more models, each of which was packed as it is.

        Returns:
            False where one is of a kind that is not known here; then nothing can be told any more.
        """
        classes = list(map(type, items))
        if not all(map(self._is_known, classes)):
            return False
        if any(map(_extra, items)) or any(map(_private, items)):
            return False
        attributes = list(map(_attributes, items))
        fields = list(chain.from_iterable(map(_values, attributes)))
        self._items += items
        self._classes += classes
        self._given += map(frozenset, map(_given, items))
        self._names += chain.from_iterable(attributes)
        self._sizes += map(len, attributes)
        self._fields += fields
        others = [value for value in fields if type(value) not in _ATOMS]
        self._empty += [x for x in others if type(x) in _CONTAINERS and not x]
        self._add_others([x for x in others if type(x) not in _CONTAINERS or x])
        return True

    def _add_others(self, values: list[Any]) -> None:
        if not values:
            return
        last = self._parts[-1] if self._parts else None
        if last is not None and len(last.data) < _PART and len(last.values) < _TOGETHER:
            values = [*self._parts.pop().values, *values]
        while values:
            some, values = values[:_TOGETHER], values[_TOGETHER:]
            self._parts.append(_Part(some, self._codec.pack(some)))

    def sees(self, value: Sequence[Any]) -> bool:
        """Tell whether a list begins with the models that are remembered, each as it was.

        Returns:
            True where that is sure; False where it is not so, or only the exact way can tell.
        """
        items = self._items
        if len(value) < len(items) or not all(map(is_, items, value)):
            return False
        if list(map(type, items)) != self._classes or any(self._empty):
            return False
        attributes = list(map(_attributes, items))
        now = chain.from_iterable(map(_values, attributes))
        return (
            list(map(len, attributes)) == self._sizes
            and all(map(is_, now, self._fields))
            and list(chain.from_iterable(attributes)) == self._names
            and list(map(_given, items)) == self._given
            and not any(map(_extra, items))
            and not any(map(_private, items))
            and all(self._codec.packs_as(p.values, p.data, plain=p.plain) for p in self._parts)
        )
