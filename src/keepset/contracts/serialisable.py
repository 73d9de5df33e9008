"""Can values of this type be stored? Asked of an annotation, before anything runs.

The codec decides on values; this is what can be known of types beforehand. A class can be stored
when it is one that the codec knows by itself, when it is a record or an enum (the contract names
it), or when it is registered.
"""

from __future__ import annotations

import collections
import collections.abc
import pathlib
from inspect import isabstract
from typing import Any, Final, cast

from keepset.codec.failures import type_name
from keepset.codec.known import Known
from keepset.codec.registry import GLOBAL
from keepset.codec.standard import FORMS
from keepset.contracts.forms import Form, walk
from keepset.contracts.problems import Problem
from keepset.errors import PolicyError

_FRAMED: Final = (bool, int, float, str, bytes)
_COLLECTIONS: Final = (
    *(list, tuple, set, frozenset, dict, collections.deque, collections.defaultdict),
    *(collections.OrderedDict, collections.Counter),
    *(collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Collection),
    *(collections.abc.Set, collections.abc.MutableSet, collections.abc.Iterable),
    *(collections.abc.Mapping, collections.abc.MutableMapping),
    *(collections.abc.Container, collections.abc.Reversible),
)
_MANY: Final = (collections.abc.Hashable, collections.abc.Sized, pathlib.Path)
"""Bases of classes that the codec knows, beside others that it does not."""
_RUNNING: Final[tuple[type[Any], ...]] = (
    *(collections.abc.Iterator, collections.abc.AsyncIterable, collections.abc.Awaitable),
    cast("type[Any]", collections.abc.Callable),
)


def serialisable(annotation: Any, name: str = "") -> list[Problem]:
    """Find what in a type cannot be stored.

    Args:
        annotation: A type, as a field is annotated with it.
        name: The field, with which the paths begin.

    Returns:
        Nothing where all values of the type can be stored, as far as a type can tell. Else
        errors, with the code that the codec gives when it refuses such a value
        (``codec.unknown-type``, ``codec.secret-type``), and ``type.abstract`` warnings for a class
        whose subclasses are not known; each with its path.
    """
    known = Known(GLOBAL)
    return [
        problem
        for visit in walk(annotation, name, _has_parts)
        if (problem := _judge(visit.form, visit.path, known)) is not None
    ]


def _has_parts(form: Form) -> bool:
    if form.kind == "record":
        return GLOBAL.of_class(form.origin) is None
    return form.kind == "union" or form.origin in _COLLECTIONS


def _judge(form: Form, path: str, known: Known) -> Problem | None:
    cls = form.origin
    if form.kind == "any" and _is_function(form.source):
        name = getattr(form.source, "__qualname__", type(form.source).__qualname__)
        message = f"{name} can be called, but it is no type, so that anything could be stored here"
        hint = (
            "Name the type of what it gives. If that is a handle, such as a lock: "
            f"Annotated[…, ks.Reopen({name})]."
        )
        return Problem("codec.unknown-type", "error", path, message, hint)
    if form.kind != "class" or is_atom(cls) or cls in _COLLECTIONS or cls in _MANY:
        return None
    if _is_open(cls) and GLOBAL.of_class(cls) is None:
        message = f"{type_name(cls)} is abstract; its subclasses tell whether they can be stored"
        hint = "Name the classes in a union, or register each with ks.register."
        return Problem("type.abstract", "warning", path, message, hint)
    try:
        known.form(cls)
    except PolicyError as error:
        return Problem(error.code, "error", path, error.message, error.hint)
    if "object_" in repr(form.source):
        # An array's type names its items' kind in its arguments.
        message = "an array of Python objects cannot be stored"
        hint = "Use an array of numbers or texts, or a list."
        return Problem("codec.unknown-type", "error", path, message, hint)
    return None


def _is_function(annotation: object) -> bool:
    """Say whether something stands as a type that is a function: ``threading.Lock`` is one."""
    if isinstance(annotation, type) or not callable(annotation):
        return False
    # The forms of the module typing can be called as well, so that it can say that they cannot.
    return type(annotation).__module__ not in ("typing", "typing_extensions", "annotationlib")


def is_atom(cls: type[Any]) -> bool:
    """Say whether the codec stores a class's values as they are, without parts of their own."""
    return cls in _FRAMED or (cls in FORMS and cls not in _COLLECTIONS)


def _is_open(cls: type[Any]) -> bool:
    if any(issubclass(cls, running) for running in _RUNNING):
        return False
    return isabstract(cls) or getattr(cls, "_is_protocol", False)
