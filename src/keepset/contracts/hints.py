"""Annotations as they were meant: names resolved, type variables filled in, wrappers taken off."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from keepset.errors import SchemaError

Filled = Mapping[Any, Any]
"""Type variables and what stands for them."""


@dataclass(frozen=True, slots=True)
class Hint:
    """An annotation, taken apart.

    Attributes:
        annotation: The bare type.
        metadata: What stood beside it in `Annotated`, in order.
        required: What `Required` or `NotRequired` around it say; None where there is neither.
    """

    annotation: Any
    metadata: tuple[object, ...] = ()
    required: bool | None = None


def unwrap(annotation: Any) -> Hint:
    """Take `Annotated`, `Required`, `NotRequired`, `ReadOnly`, `Final` and `ClassVar` off."""
    metadata: tuple[object, ...] = ()
    required: bool | None = None
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            metadata = (*annotation.__metadata__, *metadata)
            annotation = annotation.__origin__
            continue
        name = getattr(origin, "_name", None)
        if name not in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
            return Hint(annotation, metadata, required)
        required = {"Required": True, "NotRequired": False}.get(name, required)
        annotation = get_args(annotation)[0]


def hints_of(record: Any) -> dict[str, Hint]:
    """Read the annotations of a class and of its bases.

    Args:
        record: A class, or an alias that fills in its type variables (``Box[int]``).

    Returns:
        Each annotated name in the order of declaration, the bases' first. A name that cannot be
        found is an `Unresolved`.

    Raises:
        SchemaError: ``state.unresolved-name`` for one that is called, as a rule is.
    """
    cls = getattr(record, "__origin__", record)
    hints = _resolve(cls)
    filled = _filled_by_name(record)
    return {
        name: unwrap(substitute(hint, filled.get(name, {})) if filled else hint)
        for name, hint in hints.items()
    }


_RESOLVED: Final[WeakKeyDictionary[type[Any], dict[str, Any]]] = WeakKeyDictionary()
"""What was resolved: a class with many members is looked at often, and reading it is slow."""


class Unresolved(type):
    """The type of a class that stands for a name which cannot be found.

    A name that is imported for type checkers only is often the type of a field that is not
    stored, and such a type does not matter. Whoever needs the type refuses it.
    """

    def __getattr__(cls, name: str) -> Unresolved:
        if name.startswith("_"):
            raise AttributeError(name)
        return unresolved(f"{cls.__name__}.{name}")

    def __getitem__(cls, _: object) -> Unresolved:
        return cls

    def __call__(cls, *_: object, **__: object) -> Any:
        """Refuse to be a rule: one that cannot be found would be taken for none."""
        raise missing_name("an annotation", cls.__name__)


def unresolved(name: str) -> Unresolved:
    """Make the class that stands for a name."""
    return Unresolved(name, (), {})


def missing_name(where: str, name: str) -> SchemaError:
    """Make the error for a name that is needed and cannot be found."""
    return SchemaError(
        f"{where} names {name}, which cannot be found",
        code="state.unresolved-name",
        hint=f"Define or import {name} at the top level of the state's module, and not under "
        "`if TYPE_CHECKING`.",
    )


def _resolve(cls: type[Any]) -> dict[str, Any]:
    known = _RESOLVED.get(cls)
    if known is not None:
        return known
    try:
        found = _RESOLVED[cls] = get_type_hints(cls, include_extras=True)
    except NameError:  # it may be there the next time
        scope = _scope(cls)
    else:
        return found
    while True:
        try:
            return get_type_hints(cls, localns=scope, include_extras=True)
        except NameError as error:
            if error.name is None or error.name in scope:
                raise missing_name(cls.__qualname__, str(error.name)) from error
            scope[error.name] = unresolved(error.name)


def _scope(cls: type[Any]) -> dict[str, Any]:
    """Give the names that stand around a class in classes, and its own name."""
    scope: dict[str, Any] = {}
    around: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split(".")[:-1]:
        around = getattr(around, name, None)
        scope |= vars(around) if isinstance(around, type) else {}
    return {**scope, cls.__name__: cls}


def substitute(annotation: Any, filled: Filled) -> Any:
    """Put types in the place of type variables, anywhere in an annotation."""
    if isinstance(annotation, TypeVar):
        return filled.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or not any(p in filled for p in parameters):
        return annotation
    return annotation[tuple(filled.get(p, p) for p in parameters)]


def _filled_by_name(record: Any) -> dict[str, Filled]:
    """Say for each annotated name what fills the type variables of the class that declares it.

    The same variable may stand for one type in a class and for another in its base.
    """
    cls = getattr(record, "__origin__", record)
    own = dict(zip(getattr(cls, "__parameters__", ()), get_args(record), strict=False))
    found: dict[str, Filled] = {}
    for base in cls.__dict__.get("__orig_bases__", cls.__bases__):
        origin = getattr(base, "__origin__", base)
        if isinstance(origin, type) and origin is not Generic:
            given = {p: own[p] for p in getattr(base, "__parameters__", ()) if p in own}
            alias = substitute(base, given) if given else base
            found |= _filled_by_name(alias)
    inherited = _inherited(cls)
    mine = (name for name in inspect.get_annotations(cls) if name not in inherited)
    return found | dict.fromkeys(mine, own)


def _inherited(cls: Any) -> set[str]:
    """Names that a TypedDict has copied from its bases; it does not keep them as bases."""
    names: set[str] = set()
    if hasattr(cls, "__required_keys__"):
        for base in cls.__dict__.get("__orig_bases__", ()):
            names |= set(getattr(getattr(base, "__origin__", base), "__annotations__", {}))
    return names
