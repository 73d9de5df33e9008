"""Pydantic models with plain fields, unpacked in one call each.

Nearly every object of a long history is a message, and nearly every message holds texts, numbers
and small lists and mappings of them. Such a one is read by a decoder that accepts nothing else, so
that nobody has to look at what it gave; and what is stored of its class and of the fields that were
given, which is the same bytes in message after message, is looked up by these bytes.

What is anything else is left to the way that reads everything; both give the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, Union

import msgspec

Make: TypeAlias = Callable[[dict[str, Any]], Any]
"""Makes an instance of its fields; None where they are not what it knows."""
Find: TypeAlias = Callable[[bytes], Make]
"""Gives what makes the instances of what is stored of a class, packed."""

_Atom: TypeAlias = bool | int | float | str | None
_Flat: TypeAlias = Union[_Atom, list[_Atom], dict[str, _Atom]]  # noqa: UP007 - made at run time
_Deep: TypeAlias = Union[_Atom, list[_Flat], dict[str, _Flat]]  # noqa: UP007 - the same
_Field: TypeAlias = Union[_Atom, list[_Deep], dict[str, _Deep]]  # noqa: UP007 - the same
_MOST: Final = 1024
"""Of how many classes, each with the fields that were given, it is remembered how they are made."""

_split = msgspec.msgpack.Decoder(tuple[msgspec.Raw, dict[str, _Field]]).decode


class Glance:
    """Reads objects at a glance; any number of threads may use it."""

    __slots__ = ("_find", "_makers")

    def __init__(self, find: Find) -> None:
        """Know no class yet.

        Args:
            find: Asked once for each class and choice of given fields.
        """
        self._find = find
        self._makers: dict[bytes, Make] = {}

    def forget(self) -> None:
        """Ask anew from now on."""
        self._makers = {}

    def read(self, data: bytes) -> Any:
        """Make an object of its packed payload; None where only the other way can.

        What is stored of the class is not looked at where it was seen before: bytes that are equal
        mean the same.
        """
        try:
            raw, fields = _split(data)
        except msgspec.MsgspecError:
            return None
        head = bytes(raw)
        make = self._makers.get(head)
        return (make or self._learned(head))(fields)

    def _learned(self, head: bytes) -> Make:
        makers = self._makers
        if len(makers) >= _MOST:
            makers.clear()
        made = makers[head] = self._find(head)
        return made


def never(_: dict[str, Any]) -> None:
    """Stand for what makes the instances of a class that is always read the other way."""
