"""Copies of values that were unpacked: equal, and with nothing in common that could change.

To pack a value and unpack it again gives the same, and takes five times as long for messages and
mappings, of which states consist. What is not copied here goes that way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from keepset.codec.models import cloner

_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
"""What nobody can change."""


class Copies:
    """Copies values; it may be used by many threads at once."""

    __slots__ = ("_again", "_is_known", "_makers")

    def __init__(self, again: Callable[[Any], Any], is_known: Callable[[type], bool]) -> None:
        """Begin with lists and mappings.

        Args:
            again: Copies a value of any other kind.
            is_known: Tells whether a class is one of pydantic models that are stored by their
                fields, and by nothing else.
        """
        self._again = again
        self._is_known = is_known
        self._makers: dict[type, Callable[[Any], Any]] = {list: self._list, dict: self._dict}

    def copy(self, value: Any) -> Any:
        """Copy a value.

        Raises:
            RecursionError: It is too deep for that.
        """
        cls = type(value)
        if cls in _ATOMS:
            return value
        return (self._makers.get(cls) or self._maker(cls))(value)

    def _list(self, value: list[Any]) -> list[Any]:
        copy = self.copy
        return [item if type(item) in _ATOMS else copy(item) for item in value]

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        if not _ATOMS.issuperset(map(type, value)):  # a key may be an object that can change
            copied: dict[Any, Any] = self._again(value)
            return copied
        copy = self.copy
        return {key: item if type(item) in _ATOMS else copy(item) for key, item in value.items()}

    def _maker(self, cls: Any) -> Callable[[Any], Any]:
        made = self._again
        if self._is_known(cls) and not cls.__pydantic_root_model__:
            made = cloner(cls, self._dict, self._again)
        self._makers[cls] = made
        return made
