"""A value less the parts that a glob names, as a copy; the value itself is never changed.

In a mapping the key goes, in a list or a tuple the item; an attribute of an object gets its
declared default, or is emptied.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from msgspec.structs import force_setattr

from keepset.codec.path import format_path
from keepset.contracts.forms import variants
from keepset.contracts.paths import Element, Piece, step
from keepset.contracts.records import Member, kind_of, members_of
from keepset.errors import PolicyError

_EMPTY: Final = (dict, list, tuple, set, frozenset, str, bytes, bytearray)
_GONE: Final = object()
Globs: TypeAlias = tuple[tuple[Piece, ...], ...]
Path: TypeAlias = tuple[Element, ...]


def pruned(value: Any, glob: tuple[Piece, ...], path: Path) -> Any:
    """Give a value without what a glob names.

    Args:
        value: Any value.
        glob: What is left out; see `keepset.contracts.paths`.
        path: Where the value is, for messages.

    Returns:
        The value itself where nothing in it is named, else a copy that shares what is unaffected.

    Raises:
        PolicyError: ``without.required`` for an attribute that has no default and no empty value.
    """
    return _prune(value, (glob,), path, frozenset())


def _prune(value: Any, globs: Globs, path: Path, above: frozenset[int]) -> Any:
    if id(value) in above:
        return value  # a cycle, which the codec refuses by its path
    above |= {id(value)}
    if isinstance(value, dict):
        return _mapping(value, globs, path, above)
    if type(value) in (list, tuple, deque):
        items = [_child(item, globs, path, i, above) for i, item in enumerate(value)]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        left = [item for item in items if item is not _GONE]
        return deque(left, value.maxlen) if isinstance(value, deque) else type(value)(left)
    return _object(value, globs, path, above)


def _child(value: Any, globs: Globs, path: Path, element: Element, above: frozenset[int]) -> Any:
    """Give what is left of a child: itself, a copy, or `_GONE`."""
    left = tuple(rest for glob in globs for rest in step(glob, element))
    if () in left:
        return _GONE
    return _prune(value, left, (*path, element), above) if left else value


def _named(globs: Globs, names: Iterable[Any]) -> Iterable[Any]:
    """Leave out the names that no glob can mean; most globs mean one."""
    first = {glob[0] for glob in globs}
    if all(type(piece) is str for piece in first):
        return [name for name in names if type(name) is str and name in first]
    return names


def _mapping(value: dict[Any, Any], globs: Globs, path: Path, above: frozenset[int]) -> Any:
    changed: dict[Any, Any] = {}
    for key in _named(globs, value):
        # A key that is neither a name nor a number has a place in a path by its type only.
        element = key if type(key) in (str, int) else f"<{type(key).__name__}>"
        new = _child(value[key], globs, path, element, above)
        if new is not value[key]:
            changed[key] = new
    if not changed:
        return value
    copied = copy.copy(value)
    for key, new in changed.items():
        if new is _GONE:
            del copied[key]
        else:
            copied[key] = new
    return copied


def _object(value: Any, globs: Globs, path: Path, above: frozenset[int]) -> Any:
    members = _declared(value)
    changed: dict[str, Any] = {}
    reset: list[str] = []
    for name in _named(globs, [*members, *(_undeclared(value).keys() - members.keys())]):
        old = getattr(value, name, _GONE)
        new = old if old is _GONE else _child(old, globs, path, name, above)
        if new is _GONE and old is not _GONE and name in members:
            new = _emptied(value, members[name], old, (*path, name))
            reset.append(name)
        if new is not old:
            changed[name] = new
    return _with(value, changed, reset) if changed else value


def _declared(value: object) -> Mapping[str, Member]:
    cls: Any = type(value)
    return _members(cls)


@lru_cache(maxsize=1024)
def _members(cls: type[Any]) -> Mapping[str, Member]:
    return {member.name: member for member in members_of(cls)}


def _undeclared(value: Any) -> dict[str, Any]:
    """Give the attributes that an object has beside those that its class declares."""
    kind = kind_of(type(value))
    if kind == "pydantic":
        return value.__pydantic_extra__ or {}
    if kind is not None or isinstance(value, type | ModuleType | FunctionType):
        return {}
    return getattr(value, "__dict__", {})


def _emptied(value: Any, member: Member, old: Any, path: Path) -> Any:
    """Give what an attribute has instead of what is left out; `old` where it has that already."""
    if member.make is not None:
        new = member.make({n: getattr(value, n, None) for n in _declared(value)})
    elif _may_be_none(member):
        new = None
    elif type(old) in _EMPTY:
        new = type(old)()
    else:
        raise PolicyError(
            f"{format_path(path)}: a {type(old).__qualname__} without a default cannot be left out",
            code="without.required",
            hint=f"Give {member.name} a default in {type(value).__qualname__}, or take the path "
            "out of without=.",
        )
    same = type(new) is type(old) and (new is None or type(new) in _EMPTY) and new == old
    return old if same else new


def _may_be_none(member: Member) -> bool:
    return any(form.kind == "none" for form in variants(member.annotation))


def _with(value: Any, changed: Mapping[str, Any], reset: Collection[str]) -> Any:
    """Copy an object with other attributes; those in `reset` count as never set."""
    kind = kind_of(type(value))
    if kind == "namedtuple":
        return value._replace(**changed)
    copied = copy.copy(value)
    for name, new in changed.items():
        if new is _GONE:
            del _undeclared(copied)[name]
        elif kind == "struct":
            force_setattr(copied, name, new)
        elif kind == "pydantic":
            # Past validators: the value was accepted once already.
            place = vars(copied) if name in _declared(value) else _undeclared(copied)
            place[name] = new
        else:
            object.__setattr__(copied, name, new)
    if kind == "pydantic":
        copied.__pydantic_fields_set__.difference_update(reset)
    return copied
