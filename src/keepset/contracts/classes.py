"""The classes that stored data may name: those in the annotations of what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keepset.contracts.fields import Field
from keepset.contracts.forms import walk
from keepset.contracts.problems import Problem
from keepset.contracts.records import kind_of


@dataclass(frozen=True, slots=True)
class Named:
    """A class, its qualified name without the module, and the place where it was met first."""

    name: str
    cls: type
    path: str


def named_classes(fields: Iterable[Field]) -> tuple[Named, ...]:
    """Find the records and enums in the annotations of stored fields.

    A TypedDict is none of them: its values are plain mappings.
    """
    found: dict[type, Named] = {}
    for field in fields:
        for visit in walk(field.annotation, field.name) if field.rule.stored else ():
            cls = visit.form.origin
            if visit.form.kind in ("record", "enum") and kind_of(cls) != "typeddict":
                found.setdefault(cls, Named(cls.__qualname__, cls, visit.path))
    return tuple(found.values())


def same_name(classes: Sequence[Named]) -> Iterator[Problem]:
    """Find the classes that have another one's name."""
    first: dict[str, Named] = {}
    for named in classes:
        other = first.setdefault(named.name, named)
        if other is not named:
            message = (
                f"two classes are called {named.name}: {other.cls.__module__} has one "
                f"({other.path}) and {named.cls.__module__} the other"
            )
            hint = "Rename one of them; stored data knows a class by this name alone."
            yield Problem("class.same-name", "error", named.path, message, hint)
