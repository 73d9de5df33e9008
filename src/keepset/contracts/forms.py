"""What an annotation is, in one vocabulary, however it was written.

``List[int]`` and ``list[int]``, ``Optional[X]`` and ``X | None`` have the same form; so have two
unions whose members stand in another order.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, LiteralString, TypeAlias, TypeVar, Union, get_args, get_origin

from keepset.contracts.hints import substitute, unwrap
from keepset.contracts.records import kind_of, members_of

FormKind: TypeAlias = Literal["any", "none", "union", "literal", "record", "enum", "class"]


@dataclass(frozen=True, slots=True)
class Form:
    """One level of a type.

    Attributes:
        kind: What it is. A collection is a ``class`` with arguments.
        origin: The class of a ``record``, an ``enum`` or a ``class``; the value of a ``literal``.
        source: The annotation that it was read from; for a ``record`` the class or its alias.
        arguments: The members of a ``union``; what a ``class`` is filled with.
    """

    kind: FormKind
    origin: Any
    source: Any
    arguments: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The class's name without its module, as a structure and a message show it."""
        name: str = getattr(self.origin, "__qualname__", None) or str(self.origin)
        return name


def form_of(annotation: Any) -> Form:
    """Read one level of an annotation."""
    plain = _plain(annotation)
    if plain is None or plain is types.NoneType:
        return Form("none", types.NoneType, plain)
    if isinstance(plain, _One):
        return Form("none" if plain.value is None else "literal", plain.value, plain)
    origin, arguments = get_origin(plain), get_args(plain)
    if origin in (Union, types.UnionType):
        return _union(plain, arguments)
    if origin is Literal:
        return _union(plain, tuple(_One(value) for value in arguments))
    return _of_class(plain, plain if origin is None else origin, arguments)


def _of_class(source: Any, cls: Any, arguments: tuple[Any, ...]) -> Form:
    if kind_of(cls) is not None:
        return Form("record", cls, source, arguments)
    if cls is LiteralString:
        return Form("class", str, str)
    if not isinstance(cls, type) or cls in (object, Any):
        return Form("any", object, source)
    return Form("enum" if issubclass(cls, Enum) else "class", cls, source, arguments)


@dataclass(frozen=True, slots=True)
class _One:
    """One value of a `Literal`, so that ``Literal[1, 2]`` is a union of two."""

    value: object


def _plain(annotation: Any) -> Any:
    """Take off what says nothing about the value: `Annotated`, `NewType`, aliases, bounds."""
    while True:
        annotation = unwrap(annotation).annotation
        origin = get_origin(annotation)
        if isinstance(annotation, TypeVar):
            bound = getattr(annotation, "__bound__", None)
            if annotation.__constraints__:
                return Union[annotation.__constraints__]  # noqa: UP007 - made from a tuple
            if bound is None:
                return annotation
            annotation = bound
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif hasattr(origin, "__value__"):  # asked first: a filled alias passes on the bare one's
            filled = dict(zip(origin.__type_params__, get_args(annotation), strict=False))
            annotation = substitute(origin.__value__, filled)
        elif hasattr(annotation, "__value__"):
            annotation = annotation.__value__
        else:
            return annotation


def _union(source: Any, arguments: tuple[Any, ...]) -> Form:
    return form_of(arguments[0]) if len(arguments) == 1 else Form("union", Union, source, arguments)


def variants(annotation: Any) -> list[Form]:
    """Give the members of a union, through unions in it; else the one form of the annotation."""
    form = form_of(annotation)
    if form.kind != "union":
        return [form]
    return [variant for argument in form.arguments for variant in variants(argument)]


def children(form: Form) -> Iterator[tuple[str, Any]]:
    """Give what a form is made of, as pairs of a step of a path and an annotation.

    The step is the name of a record's member, ``[*]`` for an item, ``[0]`` for a place in a
    tuple, ``[key]`` for a mapping's key, and empty for a member of a union.
    """
    if form.kind == "record":
        yield from ((member.name, member.annotation) for member in members_of(form.source))
    elif form.kind == "union":
        yield from (("", argument) for argument in form.arguments)
    elif form.origin is tuple:
        fixed = form.arguments[-1:] != (Ellipsis,)
        for index, argument in enumerate(form.arguments if fixed else form.arguments[:1]):
            yield (f"[{index}]" if fixed else "[*]"), argument
    elif _is_mapping(form) and len(form.arguments) > 1:
        yield "[key]", form.arguments[0]
        yield "[*]", form.arguments[1]
    elif form.kind == "class":
        yield from (("[*]", argument) for argument in form.arguments if _is_type(argument))


def _is_mapping(form: Form) -> bool:
    return form.kind == "class" and hasattr(form.origin, "keys")


def _is_type(argument: Any) -> bool:
    return argument is not Ellipsis and not isinstance(argument, list | tuple)


@dataclass(frozen=True, slots=True)
class Visit:
    """One place in a type.

    Attributes:
        path: Where it is: ``docs[*].client``.
        name: The member's name where it is one of a record, else the one around it.
        form: What is there.
        metadata: What stands beside it in `Annotated`.
    """

    path: str
    name: str
    form: Form
    metadata: tuple[object, ...] = ()


def walk(annotation: Any, name: str, enter: Callable[[Form], bool] | None = None) -> list[Visit]:
    """Go through a type, from the outside in; a record is gone through once only.

    Args:
        annotation: The type of a field.
        name: The field's name.
        enter: Says whether to look at what a form is made of; without it, always.
    """
    visits: list[Visit] = []
    seen: set[tuple[Any, str]] = set()
    todo = [Visit(name, name, form_of(annotation))]
    while todo:
        visit = todo.pop()
        visits.append(visit)
        form = visit.form
        if enter is not None and not enter(form):
            continue
        if form.kind == "record":
            if (form.origin, repr(form.source)) in seen:
                continue
            seen.add((form.origin, repr(form.source)))
        todo += reversed(list(_inside(visit)))
    return visits


def _inside(visit: Visit) -> Iterator[Visit]:
    if visit.form.kind == "record":
        for member in members_of(visit.form.source):
            path = f"{visit.path}.{member.name}" if visit.path else member.name
            yield Visit(path, member.name, form_of(member.annotation), member.metadata)
        return
    for step, child in children(visit.form):
        yield Visit(visit.path + step, visit.name, form_of(child), unwrap(child).metadata)
