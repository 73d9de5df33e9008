"""Values as they leave: without markers that only keepset knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from langgraph.types import Send

from keepset.adapters.langgraph.restoring import with_argument
from keepset.codec import Codec, Path, StoredError, Withheld

GONE: Final = object()
"""Stands for a value of which nothing leaves."""

_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes, bytearray})


class Passage:
    """What the values of one checkpoint go through.

    A marker leaves nothing behind in a mapping, and None in a list or an object, since what stands
    beside it stays where it is. A stored error becomes the text that LangGraph makes of one.

    Attributes:
        classes: The classes of all objects that went through.
    """

    def __init__(self, codec: Codec, tell: Callable[[str, Path], None]) -> None:
        """Let nothing through yet.

        Args:
            codec: Knows the classes of the values.
            tell: Is told the kind and the place of each marker.
        """
        self.classes: set[type] = set()
        self._codec = codec
        self._tell = tell
        self._parts: dict[type, Callable[[Any, Path], Any]] = {
            dict: self._entries,
            list: self._items,
            tuple: self._items,
            Send: self._packet,
        }

    def mapping(self, given: dict[str, Any], path: Path = ()) -> dict[str, Any]:
        """Give a mapping without the entries that are markers."""
        made = {name: self.value(one, (*path, name)) for name, one in given.items()}
        return {name: one for name, one in made.items() if one is not GONE}

    def value(self, value: Any, path: Path) -> Any:
        """Give a value without markers: the value itself where it has none, GONE where it is one.

        Args:
            value: The value.
            path: Where it lies.
        """
        cls = type(value)
        if cls in _ATOMS:
            return value
        if cls is Withheld:
            self._tell(value.kind, path)
            return GONE
        if cls is StoredError:
            return f"{value.type_name.rpartition('.')[2]}({value.message!r})"
        part = self._parts.get(cls, self._object)
        return part(value, path)

    def _items(self, value: Any, path: Path) -> Any:
        made = [self.value(item, (*path, at)) for at, item in enumerate(value)]
        if all(one is other for one, other in zip(made, value, strict=True)):
            return value
        return type(value)(None if one is GONE else one for one in made)

    def _packet(self, value: Send, path: Path) -> Send:
        self.classes.add(Send)
        argument = self.value(value.arg, (*path, "arg"))
        kept = None if argument is GONE else argument
        return value if kept is value.arg else with_argument(value, kept)

    def _entries(self, value: dict[Any, Any], path: Path) -> Any:
        made, same = {}, True
        for at, (key, item) in enumerate(value.items()):
            element = key if isinstance(key, str | int) else at
            own = self.value(item, (*path, element))
            same = same and own is item
            if own is not GONE:
                made[key] = own
        return value if same else made

    def _object(self, value: Any, path: Path) -> Any:
        self.classes.add(type(value))
        if self._codec.is_whole(value):
            return value
        changed: dict[Path, object] = {}
        for element, part in self._codec.parts(value) or ():
            own = self.value(part, (*path, element))
            if own is not part:
                changed[(*path, element)] = None if own is GONE else own
        if not changed:
            return value
        return self._codec.unpack(self._codec.pack(value, path, substitute=changed))
