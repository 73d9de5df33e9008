"""The walk that looks at every leaf: texts, handles, temporary paths, secret types."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, IntEnum
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final

from keepset.scan.atoms import ATOMS, atom_text, cell_texts, key_texts
from keepset.scan.binary import is_binary
from keepset.scan.finding import Finding, Path
from keepset.scan.handles import handle_type, type_name
from keepset.scan.judging import Entry, Judge
from keepset.scan.known import SHORTEST, KnownValues
from keepset.scan.labels import entry, pair
from keepset.scan.names import credential
from keepset.scan.places import Places
from keepset.scan.plain import BEGINS_A_PATH, LEAST
from keepset.scan.reasons import (
    HANDLE,
    PATH_TEMPORARY,
    SECRET_TYPE,
    advice,
)
from keepset.scan.responses import outermost, response
from keepset.scan.walk import Children, Parts, Walk, items_of, message_of

_TEXT: Final = frozenset({str})
_SEQUENCES: Final = frozenset({list, tuple})
_MOST_LETTERS: Final = 1 << 16
_TABLES: Final = frozenset({"numpy", "pandas"})


class _Sort(IntEnum):
    OBJECT = 0
    SECRET = 1
    HANDLE = 2
    SKIP = 3
    TEXT = 4
    BYTES = 5
    PATH = 7
    TABLE = 8
    ATOM = 6
    EXCEPTION = 9
    PLAIN = 10


@lru_cache(maxsize=2048)
def _sort(cls: Any) -> _Sort:
    """Sort a type by what is done with its instances."""
    if cls in {dict, list, tuple, set, frozenset}:
        return _Sort.PLAIN
    named = any("Secret" in base.__name__ for base in cls.__mro__)
    if named and hasattr(cls, "get_secret_value"):
        return _Sort.SECRET
    # Members of an enumeration are stored by name.
    kinds: tuple[tuple[type | tuple[type, ...], _Sort], ...] = (
        (Enum, _Sort.SKIP),
        (str, _Sort.TEXT),
        ((bytes, bytearray), _Sort.BYTES),
        (PurePath, _Sort.PATH),
        (BaseException, _Sort.EXCEPTION),
        (ATOMS, _Sort.ATOM),
    )
    for kind, sort in kinds:
        if issubclass(cls, kind):
            return sort
    if handle_type(cls) is not None:
        return _Sort.HANDLE
    return _by_name(cls)


def _by_name(cls: type) -> _Sort:
    if cls.__module__.partition(".")[0] in _TABLES:
        return _Sort.TABLE
    # The codec's marker stands in the layer beside this one.
    return _Sort.SKIP if cls.__name__ == "Withheld" else _Sort.OBJECT


class Leaves(Walk):
    """Finds what does not belong in one value; `found` gives it after `run`."""

    def __init__(self, parts: Parts, known: KnownValues, places: Places) -> None:
        """Begin with nothing found."""
        super().__init__(parts)
        self._judge = Judge(known)
        self._places = places
        self._findings: list[Finding] = []
        self._responses: list[Finding] = []

    def found(self) -> list[Finding]:
        """Give all findings, one of a kind and place, secret keys as their positions."""
        self._judge.flush()
        findings = self._judge.findings + self._findings
        if not findings and not self._responses:
            return findings
        finished = dict.fromkeys(self._finished(finding) for finding in findings)
        return [*finished, *(self._hidden(finding) for finding in outermost(self._responses))]

    def text(
        self, text: str, parent: Path, element: str | int | None, name: str, above: str
    ) -> None:
        """Look at a text."""
        if len(text) < LEAST:
            return
        self._judge.text(text, parent, element, name, above)
        if text[0] in BEGINS_A_PATH or text[1] == ":":
            self._place(text, parent, element)

    def children(self, value: Any, path: Path, name: str, above: str) -> Children | None:
        """Look at anything else."""
        sort = _sort(type(value))  # type: ignore[arg-type]  # mypy asks it of instances
        if sort is _Sort.PLAIN:
            if type(value) is dict:
                self._labelled(entry(value, path))
                self._response(value, path)
            elif type(value) in _SEQUENCES:
                self._labelled(pair(value, path))
            return self.plain(value, path)
        if sort is _Sort.OBJECT:
            return self._object(value, path)
        if sort is _Sort.EXCEPTION:
            return self.opened(value) or (("message", message_of(value)),)
        self._leaf(sort, value, path, name, above)
        return None

    def entries(self, value: dict[Any, Any], path: Path) -> Children:
        """Give the values of a mapping, and look at its keys, which are stored as well."""
        if _TEXT.issuperset(map(type, value)):
            self._judge.keys(tuple(value), path)
            return value.items()
        items = items_of(value, self.parts)
        for item in items:
            whole = not isinstance(item.key, str)
            for text in key_texts(item.key):
                element = item.element if not whole else item.place
                self._judge.add(Entry(text, path, element, item.place, whole))
        return [(item.element, item.child) for item in items]

    def _response(self, value: object, path: Path) -> None:
        finding = response(value, path)
        if finding is not None:
            self._responses.append(finding)

    def _object(self, value: object, path: Path) -> Children | None:
        self._response(value, path)
        children = self.opened(value)
        if children is not None:
            named = {element: child for element, child in children if isinstance(element, str)}
            self._judge.keys(tuple(named), path)
            self._labelled(entry(named, path))
        return children

    def _table(self, value: object, path: Path, name: str) -> None:
        """Look at the texts of an array or a frame, which is stored or withheld as a whole."""
        letters: list[str] = []
        for element, column in self.opened(value) or ():
            own = element if isinstance(element, str) else name
            for name_of, text in cell_texts(column, own):
                if len(text) > 1:
                    self._judge.add(Entry(text, path, None, indivisible=True), name_of)
                else:
                    letters.append(text)
        # An array may hold one character of a text in each of its items.
        self._whole("".join(letters[:_MOST_LETTERS]), path)

    def _leaf(self, sort: _Sort, value: Any, path: Path, name: str, above: str) -> None:
        if sort is _Sort.SECRET:
            self._findings.append(Finding(SECRET_TYPE, path, type_name(type(value)), ""))
        elif sort is _Sort.HANDLE:
            self._findings.append(Finding(HANDLE, path, type_name(type(value)), ""))
        elif sort is _Sort.TEXT:
            self.text(str.__str__(value), path, None, name, above)
        elif sort is _Sort.BYTES:
            self._bytes(bytes(value), path, name, above)
        elif sort is _Sort.PATH:
            self._whole(str(value), path)
            self._place(str(value), path, None)
        elif sort is _Sort.TABLE:
            self._table(value, path, name)
        elif sort is _Sort.ATOM:
            self._whole(atom_text(value) or "", path)

    def _bytes(self, data: bytes, path: Path, name: str, above: str) -> None:
        named = above or credential(name)
        if named or not is_binary(data) or not self._judge.is_clean(data):
            self.text(data.decode("latin-1"), path, None, name, above)

    def _whole(self, text: str, path: Path) -> None:
        if len(text) >= SHORTEST:
            self._judge.add(Entry(text, path, None, indivisible=True))

    def _place(self, text: str, parent: Path, element: str | int | None) -> None:
        if self._places.temporary(text):
            path = parent if element is None else (*parent, element)
            self._findings.append(Finding(PATH_TEMPORARY, path, "temporary folder", ""))

    def _labelled(self, finding: Finding | None) -> None:
        if finding is not None:
            self._findings.append(finding)

    def _safe(self, path: Path) -> Path:
        """Put the position in place of each secret key in a path."""
        keys = self._judge.secret_keys
        return tuple(
            keys.get((path[:i], element), element) if isinstance(element, str) else element
            for i, element in enumerate(path)
        )

    def _hidden(self, finding: Finding) -> Finding:
        """Report a response under a secret key at a path, and with advice, that do not show it."""
        path = self._safe(finding.path)
        if path == finding.path:
            return finding
        return replace(finding, path=path, advice=advice(finding.kind, path))

    def _finished(self, finding: Finding) -> Finding:
        """Put the position in place of each secret key in the path, and add the advice."""
        path = self._safe(finding.path)
        said = advice(finding.kind, path, whole=finding.whole, in_key=finding.in_key)
        return replace(finding, path=path, advice=said)
