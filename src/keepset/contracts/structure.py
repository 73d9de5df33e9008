"""A contract's structure: what its stored data looks like, as canonical JSON, and its digest.

The JSON is ours::

    {"format": 1,
     "fields": {"docs": {"rule": {"kind": "Keep"}, "type": ["list", {"class": "Document"}]}},
     "classes": {"Document": {"kind": "dataclass", "members": {"text": {"type": "str"}}}}}

Types are expanded structurally; a class is described once and referred to by its name, so that
a recursive one ends. What does not change stored data is not in it: module paths, the order of
fields and of a union's members, docstrings, defaults, the spelling of a type, the type of a field
that is not stored, the options of a rule that have their default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from keepset.contracts.forms import Form, children, form_of, variants
from keepset.contracts.records import kind_of, members_of

if TYPE_CHECKING:
    from keepset.contracts.fields import Field

FORMAT: Final = 1
_DIGITS: Final = 32
"""Hexadecimal digits of a shape: 128 bits, beyond any accident."""


def canonical(value: object) -> str:
    """Write JSON of which there is one text for one value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def shape_of(structure: str) -> str:
    """Take the digest of a structure: SHA-256, its first 32 hexadecimal digits."""
    return hashlib.sha256(structure.encode("ascii")).hexdigest()[:_DIGITS]


def structure_of(fields: Iterable[Field]) -> str:
    """Describe the fields of a contract."""
    classes = _Classes()
    described = {field.name: _field(field, classes) for field in fields}
    return canonical({"format": FORMAT, "fields": described, "classes": classes.described()})


def _field(field: Field, classes: _Classes) -> dict[str, object]:
    rule = {"kind": field.rule.kind, **field.rule.options()}
    described: dict[str, object] = {"rule": rule}
    if field.rule.stored:
        described["type"] = classes.type_of(field.annotation)
    if field.optional:
        described["optional"] = True
    return described


class _Classes:
    """The classes met on the way, each described once."""

    def __init__(self) -> None:
        self._seen: dict[Any, str] = {}
        self._found: dict[str, list[object]] = {}

    def described(self) -> dict[str, object]:
        """Give name and description; two classes of one name stand together, in a fixed order."""
        return {
            name: found[0] if len(found) == 1 else sorted(found, key=canonical)
            for name, found in self._found.items()
        }

    def type_of(self, annotation: Any) -> object:
        """Describe one annotation."""
        form = form_of(annotation)
        if form.kind in ("any", "none"):
            return form.kind
        if form.kind == "literal":
            return {"literal": _literal(form.origin)}
        if form.kind == "union":
            texts = sorted({canonical(self.type_of(form.source)) for form in variants(annotation)})
            members = [json.loads(text) for text in texts]
            return {"union": members} if len(members) > 1 else members[0]
        if form.kind == "class":
            arguments = [self.type_of(argument) for _, argument in children(form)]
            return [_collection(form), *arguments] if arguments else form.name
        return {"class": self._refer(form)}

    def _refer(self, form: Form) -> str:
        name = form.name
        if form.arguments:
            filled = ",".join(canonical(self.type_of(argument)) for argument in form.arguments)
            name = f"{name}[{filled}]"
        key = (form.origin, name)
        if key not in self._seen:
            self._seen[key] = name
            self._found.setdefault(name, []).append(None)
            place = len(self._found[name]) - 1
            self._found[name][place] = self._describe(form)
        return name

    def _describe(self, form: Form) -> object:
        if form.kind == "enum":
            members = {name: _literal(m.value) for name, m in form.origin.__members__.items()}
            return {"kind": "enum", "members": members}
        members = {
            member.name: {"type": self.type_of(member.annotation)}
            | ({"optional": True} if member.optional else {})
            for member in members_of(form.source)
        }
        return {"kind": kind_of(form.origin), "members": members}


def _collection(form: Form) -> str:
    """Name a collection; a tuple of any length is told from one with a single place."""
    return f"{form.name}..." if form.arguments[-1:] == (Ellipsis,) else form.name


def _literal(value: object) -> object:
    """Give a constant as JSON that keeps its type; one that has no fixed text by its type only."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, Enum):
        return [type(value).__qualname__, value.name]
    fixed = isinstance(value, bytes | float | int | str)
    return [type(value).__qualname__, repr(value)] if fixed else [type(value).__qualname__]
