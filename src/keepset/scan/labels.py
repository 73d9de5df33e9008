"""Secrets that only the name beside them gives away: a pair, an entry with name and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keepset.scan.finding import Finding, Path
from keepset.scan.names import Promise, credential
from keepset.scan.reasons import SECRET_NAME
from keepset.scan.values import plausible
from keepset.scan.walk import Parts, opened

PAIR: Final = 2
"""Of so many items, the first may be the name of the second."""
VALUE: Final = "value"


def pair(value: list[Any] | tuple[Any, ...], path: Path) -> Finding | None:
    """Report the second of two items, where the first is the name of a credential.

    Args:
        value: A list or a tuple of any length.
        path: Where it is.
    """
    return _judged(value[0], value[1], (*path, 1)) if len(value) == PAIR else None


def entry(value: Mapping[Any, Any], path: Path) -> Finding | None:
    """Report what stands under ``value``, where ``name`` or ``key`` is the name of a credential.

    Args:
        value: A mapping, or the fields of an object by name.
        path: Where it is.
    """
    if VALUE not in value:
        return None
    return _judged(value.get("name", value.get("key")), value[VALUE], (*path, VALUE))


def labelled(value: object, path: Path, parts: Parts) -> Finding | None:
    """Report what either of the two finds in a value that is looked at alone.

    Args:
        value: Anything.
        path: Where it is.
        parts: Gives the children of an object with their path elements.
    """
    if type(value) is dict:
        return entry(value, path)
    if type(value) is list or type(value) is tuple:
        return pair(value, path)
    return entry(dict(opened(value, parts) or ()), path)


def _judged(name: object, secret: object, path: Path) -> Finding | None:
    if type(name) is not str or type(secret) is not str:
        return None
    promise = credential(name)
    if promise is Promise.NOTHING or not plausible(promise, secret):
        return None
    return Finding(SECRET_NAME, path, f"name.{promise.name.lower()}", "")
