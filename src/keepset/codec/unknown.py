"""The refusal of a value whose type cannot be stored, with the rule that fits such a value."""

from __future__ import annotations

import enum
import inspect
import re
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from typing import Final

from keepset.codec.failures import refused, type_name
from keepset.codec.objects import members_of
from keepset.errors import PolicyError

CODE: Final = "codec.unknown-type"

_PROGRAM = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
_HANDLES = ("acquire", "fileno", "cursor")
_CLOSED = ("close", "aclose", "shutdown", "invoke")
_CLIENT = re.compile(r"(?:Client|Connection|Cursor|Session|Engine|Pool|LLM)$")
_RESPONSE = frozenset({"choices", "usage", "response_metadata", "usage_metadata", "candidates"})
_CONTENTS = {
    "choices": "choices[0].message.content",
    "candidates": "candidates[0].content",
    "content": "content",
    "message": "message.content",
    "output": "output",
}
"""Where the content of a model's response is, by the first attribute of these that it has."""


def unknown(cls: type, names: Collection[str] = ()) -> PolicyError:
    """Make the refusal of an instance of a class that no registry has a name for.

    Args:
        cls: The class.
        names: Attributes that the instance has, beside what its class declares.
    """
    return refused(f"{type_name(cls)} is not a type that can be stored", CODE, _advice(cls, names))


def _advice(cls: type, names: Collection[str]) -> str:
    if issubclass(cls, _PROGRAM):
        return "Code and classes are not state: keep a name, or declare the field as Drop()."
    has = _declared(cls) | set(names)
    if _RESPONSE & has:
        content = next((path for name, path in _CONTENTS.items() if name in has), "…")
        return (
            f'If it is a response of a model, declare the field Extract("{content}"): only that '
            f"is stored. {_register(cls)}"
        )
    return next((advice for applies, advice in _ADVICE if applies(cls)), _register(cls))


def _register(cls: type) -> str:
    name = f'keepset.register("{cls.__name__.lower()}/1", {cls.__name__}'
    if issubclass(cls, enum.Enum) or members_of(cls) is not None:
        return f"Register it: {name}), or name the class in the contract's annotations."
    return (
        f"Register it with a pair of functions: {name}, to=…, back=…), or declare the field as "
        "Drop()."
    )


def _declared(cls: type) -> set[str]:
    """Give the names of attributes that a class declares, with or without a value."""
    names = {name for name in _RESPONSE | _CONTENTS.keys() if hasattr(cls, name)}
    for base in cls.__mro__:
        try:
            names |= set(inspect.get_annotations(base))
        except (NameError, TypeError, ValueError):  # a name for type checkers only, or no mapping
            continue
    return names


def _is_handle(cls: type) -> bool:
    return cls.__module__ == "_thread" or any(hasattr(cls, name) for name in _HANDLES)


def _is_used_up(cls: type) -> bool:
    return issubclass(cls, Iterator | AsyncIterator | Awaitable)


def _is_client(cls: type) -> bool:
    return any(hasattr(cls, name) for name in _CLOSED) or _CLIENT.search(cls.__name__) is not None


def _is_view(cls: type) -> bool:
    return cls is memoryview


_HANDLE = "It is a live handle: declare the field as Reopen(factory), or as Drop()."
_ADVICE: tuple[tuple[Callable[[type], bool], str], ...] = (
    (_is_handle, _HANDLE),
    (_is_used_up, "It can be used up only once: keep a list of what it gives, or declare Drop()."),
    (_is_client, _HANDLE),
    (_is_view, "Keep bytes(…) of it."),
)
