"""States and types made from values, as the tests need them in tables."""

import typing
from typing import Any, TypedDict

_typeddict: Any = TypedDict
_union: Any = typing.Union
"""Plain names for what type checkers accept with constants only."""


def state(**fields: Any) -> Any:
    """Make a TypedDict called State."""
    return _typeddict("State", fields)


def typeddict(name: str, members: dict[str, Any]) -> Any:
    """Make a TypedDict."""
    return _typeddict(name, members)


def union(*members: Any) -> Any:
    """Make a union in the older of its two spellings."""
    return _union[members]


def filled(generic: Any, *arguments: Any) -> Any:
    """Fill in a generic type."""
    return generic[arguments if len(arguments) > 1 else arguments[0]]
