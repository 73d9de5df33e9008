"""Can a glob match anything in values of a type?"""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Iterator
from typing import Any, Final

from keepset.contracts.forms import Form, children, form_of
from keepset.contracts.paths import Piece, Wild, step
from keepset.contracts.serialisable import is_atom

_SEQUENCES: Final = (
    *(list, tuple, collections.deque),
    *(collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Collection),
    *(collections.abc.Iterable, collections.abc.Reversible),
)
_SETS: Final = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)

Glob = tuple[Piece, ...]


def can_match(annotation: Any, glob: Glob) -> bool:
    """Say whether a glob can match inside a value; True as well where a type does not tell.

    A class is read together with its subclasses that are known by now.
    """
    seen: set[tuple[str, Glob]] = set()
    todo: list[tuple[Any, Glob]] = [(annotation, glob)]
    while todo:
        place, left = todo.pop()
        form = form_of(place)
        key = (repr(form.source), left)
        if key in seen:
            continue
        seen.add(key)
        if form.kind == "union":
            todo += [(member, left) for member in form.arguments]
        elif _is_unknown(form):
            return True
        else:
            for child, rest in _steps(form, left):
                if not rest:
                    return True
                todo.append((child, rest))
    return False


def _is_unknown(form: Form) -> bool:
    if form.kind == "any":
        return True
    if form.kind == "record":
        return getattr(form.origin, "model_config", {}).get("extra") == "allow"
    if form.kind != "class" or is_atom(form.origin) or form.origin in _SETS:
        return False
    inside = form.origin in _SEQUENCES or hasattr(form.origin, "keys")
    return not (inside and form.arguments)


def _steps(form: Form, glob: Glob) -> Iterator[tuple[Any, Glob]]:
    """Give every child that a glob can enter, with what is left of the glob there."""
    if form.kind == "record":
        for cls in (form.source, *_subclasses(form.origin)):
            for name, child in children(form_of(cls)):
                yield from ((child, rest) for rest in step(glob, name))
    elif form.kind == "class" and form.origin in _SEQUENCES:
        for _, child in children(form):
            yield from ((child, rest) for rest in step(glob, None))
    elif form.kind == "class" and hasattr(form.origin, "keys"):
        # A mapping may have any key.
        *_, (_, child) = children(form)
        yield child, glob[1:]
        if glob[0] is Wild.ANY:
            yield child, glob
            yield from ((child, rest) for rest in step(glob, None))


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)
