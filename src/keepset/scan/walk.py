"""Go through a value as the codec does, without recursion, and without an end to cycles.

Plain containers are walked here; what an object consists of is asked of the codec, so that paths
are the same on both sides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from keepset.errors import PolicyError
from keepset.scan.below import name_above
from keepset.scan.finding import Path

Children: TypeAlias = Iterable[tuple[str | int, object]]
Parts: TypeAlias = Callable[[object], Children | None]
"""Gives the children of an object with their path elements; None for a leaf."""

DEEPEST: Final = 256
"""How deep containers may nest; the codec refuses what is deeper."""

_SIMPLE: Final = frozenset({int, float, bool, complex, type(None)})
_SEQUENCES: Final = (list, tuple, set, frozenset)


class Item(NamedTuple):
    """One entry of a mapping.

    Attributes:
        place: A path element that does not hold the key's text; it stands for the key itself,
            and for the entry where the key is a secret.
        key: The key.
        element: The path element of the value under it.
        child: That value.
    """

    place: str | int
    key: object
    element: str | int
    child: object


class _Open(NamedTuple):
    """A container whose children are being walked."""

    children: Iterator[tuple[str | int, Any]]
    path: Path
    name: str
    above: str
    identity: int


def items_of(value: dict[Any, Any], parts: Parts) -> list[Item]:
    """Give the entries of a mapping with the path elements that the codec gives them.

    Where not every key is a text, the codec walks keys and values in turns and names both.
    """
    if all(type(key) is str for key in value):
        pairs = enumerate(value.items())
        return [Item(position, key, key, child) for position, (key, child) in pairs]
    turns = list(parts(value) or ())
    if len(turns) == 2 * len(value):
        both = zip(turns[::2], turns[1::2], strict=True)
        return [Item(place, key, element, child) for (place, key), (element, child) in both]
    return [
        Item(position, key, key if isinstance(key, str) else position, child)
        for position, (key, child) in enumerate(value.items())
    ]


def opened(value: object, parts: Parts) -> tuple[tuple[str | int, object], ...] | None:
    """Give the children of an object as the codec would walk them.

    None where it has none, or where the codec refuses it: packing says so, with the path.
    """
    try:
        children = parts(value)
        return None if children is None else tuple(children)
    except (PolicyError, RecursionError):
        return None


def message_of(error: BaseException) -> str:
    """Give the text of an exception; nothing where its `__str__` fails."""
    try:
        return str.__str__(str(error))
    except Exception:  # noqa: BLE001 - the `__str__` of any exception, which may be broken
        return ""


class Walk(ABC):
    """One walk through one value. Subclasses say what is done with texts and containers."""

    def __init__(self, parts: Parts) -> None:
        """Take the function that opens objects."""
        self.parts = parts
        self._stack: list[_Open] = []
        self._open: set[int] = set()

    def run(self, value: object, path: Path, name: str, above: str = "") -> None:
        """Walk through a value.

        Args:
            value: The value.
            path: Where it is.
            name: Name of the field or key that it stands under.
            above: Name of the credential that what is around it belongs to.
        """
        if type(value) is str:
            self.text(value, path[:-1], path[-1] if path else None, name, above)
        else:
            self._enter(value, path, name, above)
        stack = self._stack
        while stack:
            children, path, name, above, identity = stack[-1]
            for element, child in children:
                kind = type(child)
                if kind in _SIMPLE:
                    continue
                own = element if type(element) is str else name
                if kind is str:
                    self.text(child, path, element, own, above)
                elif self._enter(child, (*path, element), own, above):
                    break
            else:
                stack.pop()
                self._open.discard(identity)

    @abstractmethod
    def text(
        self, text: str, parent: Path, element: str | int | None, name: str, above: str
    ) -> None:
        """Look at a text; its path is `parent` and `element` (None: `parent` as it is)."""

    @abstractmethod
    def children(self, value: object, path: Path, name: str, above: str) -> Children | None:
        """Look at a value that is no text and no number; give what to go on with below it."""

    def entries(self, value: dict[Any, Any], path: Path) -> Children:
        """Give the values of a mapping with their path elements."""
        del path
        return [(item.element, item.child) for item in items_of(value, self.parts)]

    def plain(self, value: object, path: Path) -> Children | None:
        """Give the children of a plain container; None where it is something else."""
        if type(value) is dict:
            return self.entries(value, path)
        if type(value) in _SEQUENCES:
            return enumerate(value)  # type: ignore[arg-type]  # one of the four types is iterable
        return None

    def opened(self, value: object) -> Children | None:
        """Give the children of an object as the codec would walk them; None for none."""
        return opened(value, self.parts)

    def _enter(self, value: object, path: Path, name: str, above: str) -> bool:
        identity = id(value)
        if identity in self._open or len(self._stack) >= DEEPEST:
            return False
        children = self.children(value, path, name, above)
        if children is None:
            return False
        inside = name_above(name, above)
        self._stack.append(_Open(iter(children), path, name, inside, identity))
        self._open.add(identity)
        return True
