"""A value less the parts that a glob names, as a copy; the value itself is never changed.

In a mapping the key goes, in a list or a tuple the item; an attribute of an object gets its
declared default, or is emptied. The walk down finds what goes, and the copies are made from the
bottom up, both without recursion, so that a deep value is cut from any depth of calls.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from msgspec.structs import force_setattr

from keepset.codec.path import format_path
from keepset.contracts.forms import variants
from keepset.contracts.paths import Element, Piece, step
from keepset.contracts.records import Kind, Member, kind_of, members_of
from keepset.errors import PolicyError

_EMPTY: Final = (dict, list, tuple, set, frozenset, str, bytes, bytearray)
_GONE: Final = object()
_DEEPEST: Final = 512
"""Levels that are looked at; the codec refuses what is half as deep."""

Globs: TypeAlias = tuple[tuple[Piece, ...], ...]
Steps: TypeAlias = tuple[Hashable, ...]
"""The way to a place: keys as they are, indexes, names of attributes."""


@dataclass(slots=True)
class _Place:
    """A container on the way, and what becomes of its children."""

    value: Any
    globs: Globs
    above: frozenset[int]
    changes: dict[Any, Any] = field(default_factory=dict)


def pruned(value: Any, glob: tuple[Piece, ...], path: tuple[Element, ...]) -> Any:
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
    levels = _find(value, (glob,))
    while levels:
        for steps, place in levels.pop().items():
            if place.changes:
                new = _changed(place, (*path, *map(_shown, steps)))
                if not steps:
                    return new
                if new is not place.value:
                    levels[-1][steps[:-1]].changes[steps[-1]] = new
    return value


def _shown(step_taken: Hashable) -> Element:
    """Name a key that is neither a name nor a number by its type only."""
    return step_taken if isinstance(step_taken, str | int) else f"<{type(step_taken).__name__}>"


def _find(value: Any, globs: Globs) -> list[dict[Steps, _Place]]:
    """Walk down where the globs lead; give the containers by depth, with what goes marked."""
    levels: list[dict[Steps, _Place]] = [{(): _Place(value, globs, frozenset())}]
    while levels[-1] and len(levels) < _DEEPEST:
        below: dict[Steps, _Place] = {}
        for steps, place in levels[-1].items():
            above = place.above | {id(place.value)}
            for name, child in _children(place.value, place.globs):
                left = _enter(place.globs, _shown(name))
                if () in left:
                    place.changes[name] = _GONE
                # A cycle is left alone; the codec refuses it by its path.
                elif left and id(child) not in above:
                    below[*steps, name] = _Place(child, left, above)
        levels.append(below)
    return levels


@lru_cache(maxsize=4096)
def _enter(globs: Globs, element: Element) -> Globs:
    return tuple(dict.fromkeys(rest for glob in globs for rest in step(glob, element)))


def _children(value: Any, globs: Globs) -> Iterator[tuple[Any, Any]]:
    names = _names(globs)
    if isinstance(value, dict):
        keys = value if names is None else [name for name in names if name in value]
        yield from ((key, value[key]) for key in keys)
    elif type(value) in (list, tuple, deque):
        yield from enumerate(value)
    else:
        members, more = _declared(value), _undeclared(value)
        for name in names or [*members, *(more.keys() - members.keys())]:
            if name in members or name in more:
                child = getattr(value, name, _GONE)
                if child is not _GONE:
                    yield name, child


@lru_cache(maxsize=1024)
def _names(globs: Globs) -> tuple[str, ...] | None:
    """Give the only names that globs can enter, or None; most globs can enter one."""
    first = [piece for piece in dict.fromkeys(glob[0] for glob in globs) if type(piece) is str]
    return tuple(first) if len(first) == len({glob[0] for glob in globs}) else None


def _changed(place: _Place, path: tuple[Element, ...]) -> Any:
    """Copy a container with its children changed."""
    value, changes = place.value, place.changes
    if isinstance(value, dict):
        copied = copy.copy(value)
        for key, new in changes.items():
            if new is _GONE:
                del copied[key]
            else:
                copied[key] = new
        return copied
    if type(value) in (list, tuple, deque):
        items = [changes.get(index, item) for index, item in enumerate(value)]
        left = [item for item in items if item is not _GONE]
        return deque(left, value.maxlen) if isinstance(value, deque) else type(value)(left)
    return _object(value, changes, path)


def _object(value: Any, changes: Mapping[str, Any], path: tuple[Element, ...]) -> Any:
    members = _declared(value)
    reset = [name for name, new in changes.items() if new is _GONE and name in members]
    emptied = {name: _emptied(value, members[name], (*path, name)) for name in reset}
    wanted = {
        name: new
        for name, new in {**changes, **emptied}.items()
        if new is _GONE or new is not getattr(value, name)
    }
    return _with(value, wanted, reset) if wanted else value


def _declared(value: object) -> Mapping[str, Member]:
    cls: Any = type(value)
    return _members(cls)


def _kind(value: object) -> Kind | None:
    cls: Any = type(value)
    return _kinds(cls)


@lru_cache(maxsize=1024)
def _kinds(cls: type[Any]) -> Kind | None:
    return kind_of(cls)


@lru_cache(maxsize=1024)
def _members(cls: type[Any]) -> Mapping[str, Member]:
    return {member.name: member for member in members_of(cls)}


def _undeclared(value: Any) -> dict[str, Any]:
    """Give the attributes that an object has beside those that its class declares."""
    kind = _kind(value)
    if kind == "pydantic":
        return value.__pydantic_extra__ or {}
    if kind is not None or isinstance(value, type | ModuleType | FunctionType):
        return {}
    return getattr(value, "__dict__", {})


def _emptied(value: Any, member: Member, path: tuple[Element, ...]) -> Any:
    """Give what an attribute has instead of what is left out; itself where it has that already."""
    old = getattr(value, member.name)
    if member.make is not None:
        new = member.make({name: getattr(value, name, None) for name in _declared(value)})
    elif any(form.kind == "none" for form in variants(member.annotation)):
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


def _with(value: Any, changed: Mapping[str, Any], reset: Collection[str]) -> Any:
    """Copy an object with other attributes; those in `reset` count as never set."""
    kind = _kind(value)
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
