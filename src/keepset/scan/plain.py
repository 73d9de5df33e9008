"""A quick look at plain values, most of which hold nothing.

Messages, documents and records are mappings of texts and numbers, whose keys are the same again and
again. What these keys mean is found out once; the texts of a value are joined and searched as one.
Wherever that finds anything to ask about, nothing is decided here: `keepset.scan.leaves` then looks
at the value, which takes several times as long and tells what it is and where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from keepset.scan.finding import Finding, Path
from keepset.scan.known import KnownValues
from keepset.scan.labels import PAIR, VALUE
from keepset.scan.names import credential
from keepset.scan.places import Places
from keepset.scan.responses import TRIGGERS, outermost, response
from keepset.scan.texts import matches

LEAST: Final = 6
"""No secret, and no path that matters, has fewer characters."""

BEGINS_A_PATH: Final = "/\\f"
"""With one of these, or with a letter and a colon, the path of a file begins."""

SEPARATOR: Final = "\n\0\n"
"""Stands between texts that are searched as one; nothing that is looked for goes across it."""

TOGETHER: Final = 1 << 16
"""Characters that are searched as one, nearly."""

_SIMPLE: Final = frozenset({int, float, bool, complex, type(None)})
_TEXT: Final = frozenset({str})
_DEEPEST: Final = 32
_MOST_KEYS: Final = 64
_LONGEST_KEY: Final = 64
_MOST_SHAPES: Final = 512


class Plain:
    """Looks at plain values; it remembers the keys of mappings in which there was nothing.

    Any thread may use it at any time: what is remembered is true by itself.
    """

    __slots__ = ("_known", "_places", "_shapes")

    def __init__(self, known: KnownValues, places: Places) -> None:
        """Remember nothing yet."""
        self._known = known
        self._places = places
        self._shapes: dict[tuple[str, ...], tuple[int, bool]] = {}

    def look(self, value: Any, path: Path) -> list[Finding] | None:
        """Look at a value that lies below no name of a credential.

        Returns:
            The model responses in it, most often none, where that is surely all that there is to
            find; None where only a walk through every leaf can tell.
        """
        look = _Look(self)
        if not look.into(value, path, 0) or not look.is_clean():
            return None
        return outermost(look.responses)

    def responds(self, value: Mapping[str, Any]) -> bool | None:
        """Tell whether a mapping may be a model response, by its keys; they hold nothing else.

        None where they may: one is a secret, or names a credential or what stands beside it.
        """
        keys = tuple(value)
        forms = self._known.forms
        shape = self._shapes.get(keys)
        if shape is not None and shape[0] == forms:
            return shape[1]
        if len(keys) > _MOST_KEYS or VALUE in value or max(map(len, keys)) > _LONGEST_KEY:
            return None
        if any(map(credential, keys)):
            return None
        if next(matches(SEPARATOR.join(keys), self._known), None) is not None:
            return None
        if len(self._shapes) >= _MOST_SHAPES:
            self._shapes = {}
        triggers = not TRIGGERS.isdisjoint(keys)
        self._shapes[keys] = forms, triggers
        return triggers

    def is_clean(self, texts: list[str]) -> bool:
        """Tell whether texts hold no secret."""
        return next(matches(SEPARATOR.join(texts), self._known), None) is None

    def is_temporary(self, text: str) -> bool:
        """Tell whether a text is the path of something temporary."""
        return self._places.temporary(text)


class _Look:
    """One look at one value."""

    __slots__ = ("_all", "_size", "_texts", "responses")

    def __init__(self, plain: Plain) -> None:
        self._all = plain
        self._texts: list[str] = []
        self._size = 0
        self.responses: list[Finding] = []

    def into(self, value: Any, path: Path, depth: int) -> bool:
        """Look at a value; False where there is something to ask about."""
        kind = type(value)
        if kind is str:
            return self._is_harmless(value)
        children = self._entries(value, path) if kind is dict else self._items(value)
        if children is None or depth > _DEEPEST:
            return False
        for element, child in children:
            kind = type(child)
            if kind is str:
                if len(child) >= LEAST and not self._is_harmless(child):
                    return False
            elif kind not in _SIMPLE and not self.into(child, (*path, element), depth + 1):
                return False
            if self._size > TOGETHER and not self.is_clean():
                return False
        return True

    def _entries(self, value: dict[Any, Any], path: Path) -> Iterable[tuple[str, Any]] | None:
        """Give the entries of a mapping, which may be a response; None where its keys say more."""
        if not value:
            return ()
        responds = self._all.responds(value) if _TEXT.issuperset(map(type, value)) else None
        if responds:
            own = response(value, path)
            if own is not None:
                self.responses.append(own)
        return None if responds is None else value.items()

    def _items(self, value: Any) -> Iterable[tuple[int, Any]] | None:
        """Give the items of a list; None for another value, or if one names a credential."""
        if type(value) is not list:
            return None
        if len(value) == PAIR and type(value[0]) is str and credential(value[0]):
            return None
        return enumerate(value)

    def _is_harmless(self, text: str) -> bool:
        if len(text) < LEAST:
            return True
        if len(text) > TOGETHER:  # not joined with others: that would take its memory once more
            return self._all.is_clean([text])
        self._texts.append(text)
        self._size += len(text)
        begins = text[0] in BEGINS_A_PATH or text[1] == ":"
        return not begins or not self._all.is_temporary(text)

    def is_clean(self) -> bool:
        """Search the texts met so far; tell whether they hold no secret."""
        texts, self._texts, self._size = self._texts, [], 0
        return not texts or self._all.is_clean(texts)
