"""Which classes stored data may name: a closed list of names, each for one class."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, ClassVar

import msgspec

from keepset.codec.entry import Entry
from keepset.codec.failures import type_name
from keepset.codec.standard import FORMS
from keepset.errors import UsageError

_LONGEST_NAME = 255
_ANY = "*/"
"""Stands for the name of any contract, in front of a qualified name."""
_BUILTIN = frozenset({type(None), bool, bytes, dict, float, list, object, str})


class TypeRegistry:
    """Names of classes, layered: a registry also knows what its parent knows, now and later."""

    __slots__ = ("_by_class", "_by_name", "_meant", "_parent")
    edits: ClassVar[int] = 0
    """Grows whenever any registry changes: what a name stood for before may be another now."""

    def __init__(self, parent: TypeRegistry | None = None) -> None:
        """Begin empty, on top of `parent`."""
        self._parent = parent
        self._by_name: dict[str, Entry] = {}
        self._by_class: dict[type, Entry] = {}
        self._meant: dict[str, Entry] = {}

    def register(
        self,
        name: str,
        cls: type,
        *,
        to: Callable[[Any], object] | None = None,
        back: Callable[[Any], Any] | None = None,
    ) -> None:
        """Let instances of a class be stored under a name that never changes.

        Without `to` and `back` the class is a dataclass, attrs class, pydantic v2 model, msgspec
        Struct, NamedTuple or Enum, and its fields are stored; reading calls neither its
        constructor nor its validators. To register the same again changes nothing; a class that
        was defined anew (a cell run twice, a module reloaded) takes the place of the old one.

        Args:
            name: What stored data says for the class, such as ``order/1``; 1 to 255 characters.
            cls: The class itself; its subclasses are not included.
            to: Turns an instance into a value that can be stored.
            back: Turns that value into an equal instance again.

        Raises:
            UsageError: The name or the class is taken, or the class cannot be stored like this.
        """
        self._check(name, cls, to, back)
        entry = Entry(name, cls, to, back)
        self._by_class[cls] = entry
        self._by_name[name] = entry
        TypeRegistry.edits += 1

    def with_types(self, types: Mapping[str, type]) -> TypeRegistry:
        """Give a registry that knows these names as well; a class that has a name keeps it."""
        layer = TypeRegistry(self)
        for name, cls in types.items():
            entry = Entry(name, cls)
            layer._by_name[name] = entry
            layer._by_class[cls] = entry
        return layer

    def with_classes(self, types: Mapping[str, type]) -> TypeRegistry:
        """Give a registry that knows the classes of a contract, by ``<contract>/<qualname>``.

        What was stored under the qualified name alone, before the contract was known, is read too,
        and what was stored while the contract had another name.
        """
        layer = self.with_types(types)
        for entry in layer._by_name.values():  # noqa: SLF001 - a registry like this one
            bare = entry.cls.__qualname__
            layer._meant |= {bare: entry, f"{_ANY}{bare}": entry}  # noqa: SLF001 - the same
        return layer

    def of_any_contract(self, cls: type) -> None:
        """Read a class that is known by its qualified name where a contract has named it as well.

        Stored data then say ``<contract>/<qualname>`` for it, whatever the contract is called.
        """
        entry = self.of_class(cls)
        if entry is not None and entry.name == cls.__qualname__:
            self._meant[f"{_ANY}{entry.name}"] = entry

    def of_class(self, cls: type) -> Entry | None:
        """Find what a class is stored as; an explicit registration wins over a layer's name."""
        entry = self._parent.of_class(cls) if self._parent is not None else None
        return entry or self._by_class.get(cls)

    def of_name(self, name: str) -> Entry | None:
        """Find what a stored name stands for; what is known by just this name comes first."""
        contract, _, bare = name.rpartition("/")
        meant = (name, f"{_ANY}{bare}") if contract else (name,)
        others = (one._meant.get(other) for one in self._layers() for other in meant)  # noqa: SLF001 - registries like this one
        return self._exact(name) or next(filter(None, others), None)

    def _exact(self, name: str) -> Entry | None:
        found = (one._by_name.get(name) for one in self._layers())  # noqa: SLF001 - the same
        return next(filter(None, found), None)

    def _layers(self) -> Iterator[TypeRegistry]:
        registry: TypeRegistry | None = self
        while registry is not None:
            yield registry
            registry = registry._parent  # noqa: SLF001 - the same

    def _check(self, name: Any, cls: Any, to: object, back: object) -> None:
        if type(name) is not str or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
            raise UsageError(
                "the name of a registered type is a printable text of 1 to 255 characters",
                code="type.name",
                hint='Give the class a stable name with a version, such as "order/1".',
            )
        if not isinstance(cls, type) or (to is None) != (back is None):
            raise UsageError(
                f"{name}: a class is needed, and `to` and `back` go together",
                code="type.incomplete",
                hint="Call register(name, cls) or register(name, cls, to=…, back=…).",
            )
        if cls in _BUILTIN or cls in FORMS:
            raise UsageError(
                f"{name}: {type_name(cls)} is stored by the codec itself",
                code="type.builtin",
                hint="Register a class of your own that holds it.",
            )
        if to is None and not has_fields(cls):
            raise UsageError(
                f"{name}: {type_name(cls)} has no declared fields that could be stored",
                code="type.unsupported",
                hint="Give `to` (instance to a plain value) and `back` (plain value to instance).",
            )
        self._check_taken(name, cls)

    def _check_taken(self, name: str, cls: type) -> None:
        there = self._exact(name)
        if there is not None and there.cls is not cls and not _redefined(there.cls, cls):
            raise UsageError(
                f"{name} is already the name of {type_name(there.cls)}",
                code="type.name-taken",
                hint="Stored data refers to classes by these names: choose another one.",
            )
        named = self.of_class(cls)
        if named is not None and named.name != name and cls in self._by_class:
            raise UsageError(
                f"{type_name(cls)} is already registered as {named.name}",
                code="type.class-taken",
                hint="A class has one name; remove one of the two registrations.",
            )


def has_fields(cls: type) -> bool:
    """Tell whether the codec can store a class by its declared fields or members."""
    pydantic = sys.modules.get("pydantic")
    return (
        is_dataclass(cls)
        or hasattr(cls, "__attrs_attrs__")
        or issubclass(cls, msgspec.Struct | enum.Enum)
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
        or (pydantic is not None and issubclass(cls, pydantic.BaseModel))
    )


def _redefined(old: type, new: type) -> bool:
    return (old.__module__, old.__qualname__) == (new.__module__, new.__qualname__)


GLOBAL = TypeRegistry()
"""The registry of the process; `keepset.register` adds to it."""


def register(
    name: str,
    cls: type,
    *,
    to: Callable[[Any], object] | None = None,
    back: Callable[[Any], Any] | None = None,
) -> None:
    """Let instances of a class be stored, in every store of this process.

    Args:
        name: What stored data says for the class, such as ``order/1``; it must never change.
        cls: The class itself; its subclasses are not included.
        to: Turns an instance into a value that can be stored.
        back: Turns that value into an equal instance again.

    Raises:
        UsageError: The name or the class is taken, or the class cannot be stored like this.
    """
    GLOBAL.register(name, cls, to=to, back=back)
