"""What an instance of a state holds beside its fields, which a checkpoint would lose in silence."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any, Final

from keepset.codec.fields import is_cached
from keepset.codec.objects import members_of
from keepset.contracts.records import kind_of
from keepset.errors import UsageError

_OF_PYTHON: Final = frozenset({"__orig_class__", "__weakref__"})
"""What Python itself puts beside the fields, such as the alias that a generic was made by."""
_PLAIN: Final = (
    *(type(None), bool, int, float, complex, str, bytes, bytearray),
    *(list, dict, set, frozenset, tuple),
)


def refuse_beside(state: Any, fields: Collection[str]) -> None:
    """Refuse a state that holds something beside its fields which is not what a fresh one has.

    A private attribute of a pydantic model may have its default. One whose default is made by a
    function is made afresh on resume; the function is asked only about plain values, so that none
    connects to anything at each save.

    Args:
        state: An instance of a dataclass, pydantic model or msgspec Struct.
        fields: Names of its fields.

    Raises:
        UsageError: ``state.undeclared-attribute``, with the names.
    """
    found = [*_attributes(state, fields), *_private(state)]
    if found:
        cls = type(state)
        raise UsageError(
            f"a state of {cls.__qualname__} holds what is no field, and would lose it: "
            f"{', '.join(found)}",
            code="state.undeclared-attribute",
            hint="Declare it as a field with a rule: Keep, or Reopen or Scratch for what is made "
            "afresh. What need not survive belongs outside the state.",
        )


def _attributes(state: Any, fields: Collection[str]) -> Iterator[str]:
    cls: Any = type(state)
    for name in getattr(state, "__dict__", None) or ():
        if name not in fields and name not in _OF_PYTHON and not is_cached(cls, name):
            yield name
    yield from (name for name in _slots(cls) if hasattr(state, name))


@lru_cache(maxsize=1024)
def _slots(cls: Any) -> tuple[str, ...]:
    members = members_of(cls)
    return () if members is None else members.slots


def _private(state: Any) -> Iterator[str]:
    if kind_of(type(state)) != "pydantic":
        return
    declared = type(state).__private_attributes__
    for name, value in (getattr(state, "__pydantic_private__", None) or {}).items():
        if name not in declared or not _is_default(declared[name], value):
            yield name


def _is_default(info: Any, value: object) -> bool:
    make = info.default_factory
    if make is None:
        return _same(value, info.get_default())
    if isinstance(value, _PLAIN):
        return _same(value, make())
    return not isinstance(make, type) or isinstance(value, make)


def _same(value: object, default: object) -> bool:
    if default is sys.modules["pydantic_core"].PydanticUndefined:
        return False
    if type(value) is not type(default):
        return False
    # Of objects without an equality of their own one is as good as another.
    if type(value).__eq__ is object.__eq__:
        return True
    try:
        return bool(value == default)
    except (TypeError, ValueError):  # arrays
        return False
