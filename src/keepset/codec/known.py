"""Which form a class has, found once for each class; and why a class has none."""

from __future__ import annotations

import enum
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from keepset.codec import arrays, frames, inside, opaque, standard, tags
from keepset.codec.entry import Entry
from keepset.codec.failures import bad, refused, type_name
from keepset.codec.nodes import Build, Form, Lookup, Read
from keepset.codec.objects import Reader, members_of, read_flag, read_member, reader_of
from keepset.codec.objects import form_of as object_form_of
from keepset.codec.registry import TypeRegistry
from keepset.errors import PolicyError

_SECRETS = frozenset({"Secret", "SecretBytes", "SecretStr", "SecretString", "SecretValue"})
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
_HANDLES = ("acquire", "fileno", "cursor")
_CLOSED = ("close", "aclose", "shutdown")


class Known:
    """The forms of all classes that one registry and the codec know.

    What was found for a class stays: a registration cannot change a class's form later.
    """

    __slots__ = ("_makers", "_types", "builders", "forms", "readers")

    def __init__(self, types: TypeRegistry, *, as_stored: bool = False) -> None:
        """Begin with what the codec knows by itself.

        Args:
            types: Names of classes.
            as_stored: Read every object as it is stored, as an `Opaque`.
        """
        self._types = types
        self._makers: dict[str, tuple[Entry, Reader]] = {}
        self.forms: dict[type, Form] = dict(standard.FORMS)
        self.readers: dict[int, Read] = {
            **standard.READERS,
            **arrays.READERS,
            **frames.READERS,
        }
        self.builders: dict[int, Build] = {
            **standard.BUILDERS,
            tags.MEMBER: _member,
            tags.FLAG: _flag,
            tags.OBJECT: self._object,
        }
        if as_stored:
            self.builders |= opaque.BUILDERS
            self.forms |= opaque.FORMS

    def form(self, cls: type) -> Form:
        """Find how a class is written.

        Raises:
            PolicyError: ``codec.secret-type`` or ``codec.unknown-type``, without a path.
        """
        form = self.forms.get(cls)
        if form is None:
            form = self._find(cls)
            if form is None:
                raise _unknown(cls)
            self.forms[cls] = form
        return form

    def lookup(self, name: object) -> Entry:
        """Find the class that a stored name stands for.

        Raises:
            DecodeError: ``decode.unknown-type``.
        """
        entry = self._types.of_name(name) if type(name) is str else None
        if entry is None:
            shown = name if type(name) is str and name.isprintable() else "that is no name"
            raise bad(
                f"the stored data has a value of the type {shown!r:.80}, which is not registered",
                "decode.unknown-type",
                "Register the class under this name (keepset.register) before reading, or read "
                "with the contract that names it.",
            )
        return entry

    def _object(self, payload: list[Any], _: Lookup) -> Any:
        """Make an object from a stored name, its fields, and what else its kind needs."""
        head = payload[0]
        entry = self.lookup(head[0] if type(head) is list and head else head)
        made_for, make = self._makers.get(entry.name, (None, None))
        if make is None or made_for is not entry:
            make = reader_of(entry)
            self._makers[entry.name] = entry, make
        return make(payload)

    def _find(self, cls: type) -> Form | None:
        if _is_secret(cls):
            raise refused(
                f"{type_name(cls)} is a secret and is never stored",
                "codec.secret-type",
                'Declare the field as Secret("env:NAME"): the reference is stored, not the value.',
            )
        entry = self._types.of_class(cls)
        if entry is not None:
            return object_form_of(entry)
        if issubclass(cls, BaseException):
            return inside.EXCEPTION
        return arrays.form_of(cls) or frames.form_of(cls)


def _member(payload: list[Any], lookup: Lookup) -> Any:
    name, stored = payload
    return read_member(lookup(name), stored)


def _flag(payload: list[Any], lookup: Lookup) -> Any:
    name, stored = payload
    return read_flag(lookup(name), stored)


def _is_secret(cls: type) -> bool:
    named = any(base.__name__ in _SECRETS for base in cls.__mro__)
    return named or hasattr(cls, "get_secret_value")


def _unknown(cls: type) -> PolicyError:
    return refused(
        f"{type_name(cls)} is not a type that can be stored", "codec.unknown-type", _advice(cls)
    )


def _advice(cls: type) -> str:
    for applies, advice in _ADVICE:
        if applies(cls):
            return advice
    name = f'keepset.register("{cls.__name__.lower()}/1", {cls.__name__}'
    if issubclass(cls, enum.Enum) or members_of(cls) is not None:
        return f"Register it: {name}), or name the class in the contract's annotations."
    return (
        f"Register it with a pair of functions: {name}, to=…, back=…), or declare the field as "
        "Drop()."
    )


def _is_handle(cls: type) -> bool:
    return cls.__module__ == "_thread" or any(hasattr(cls, name) for name in _HANDLES)


def _is_code(cls: type) -> bool:
    return issubclass(cls, _CODE)


def _is_used_up(cls: type) -> bool:
    return issubclass(cls, Iterator | AsyncIterator | Awaitable)


def _is_closed(cls: type) -> bool:
    return any(hasattr(cls, name) for name in _CLOSED)


def _is_view(cls: type) -> bool:
    return cls is memoryview


_HANDLE = "It is a live handle: declare the field as Reopen(factory), or as Drop()."
_ADVICE: tuple[tuple[Callable[[type], bool], str], ...] = (
    (_is_code, "Code and classes are not state: keep a name, or declare the field as Drop()."),
    (_is_handle, _HANDLE),
    (_is_used_up, "It can be used up only once: keep a list of what it gives, or declare Drop()."),
    (_is_closed, _HANDLE),
    (_is_view, "Keep bytes(…) of it."),
)
