"""Values of our stores as data: no class of a workflow is needed, and nothing of it is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keepset.codec import BlobRef, Opaque, StoredError, Withheld
from keepset.readers.ports import Foreign, Unreadable

WITHHELD: Final = "keepset.Withheld"
"""Begins the type of a marker that stands where a secret stood; its kind follows."""

_KIND_AT: Final = len(WITHHELD) + 1

DEEPEST: Final = 250
"""Below so many containers a value is not opened; an audit looks less deep."""

_SIMPLE: Final = frozenset({type(None), bool, int, float, str, bytes})
_LISTS: Final = frozenset({list, tuple, set, frozenset})


def withheld_kind(name: str) -> str:
    """Give what was withheld, by the type of its marker; empty for any other type."""
    return name[_KIND_AT:-1] if name.startswith(f"{WITHHELD}(") else ""


def plain(value: object, depth: int = 0) -> object:
    """Give a value as readers give theirs; what is changed in it later does not show.

    Args:
        value: What the codec gave, objects of classes as opaque ones.
        depth: How many containers it lies in.
    """
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if depth > DEEPEST:
        return Unreadable("nested too deeply to be looked at")
    if kind in _LISTS:
        items: Any = value
        return [plain(item, depth + 1) for item in items]
    if isinstance(value, Mapping):
        return {_key(key): plain(child, depth + 1) for key, child in value.items()}
    return _object(value, depth)


def _key(key: object) -> object:
    return key if type(key) in _SIMPLE else str(key)


def _object(value: object, depth: int) -> object:
    if type(value) is Withheld:
        return Foreign(f"{WITHHELD}({value.kind})")
    if isinstance(value, Opaque):
        payload = [plain(part, depth + 1) for part in value.payload]
        return Foreign(value.name, payload[0] if len(payload) == 1 else payload)
    if type(value) is StoredError:
        return Foreign(value.type_name, value.message)
    if type(value) is BlobRef:
        return Unreadable("a large value that is not there")
    cls = type(value)
    return Foreign(f"{cls.__module__}.{cls.__qualname__}", _text(value))


def _text(value: object) -> str | None:
    """Write a value of the standard library; of an array or a table no copy is made as text."""
    if type(value).__module__.partition(".")[0] in _WRITTEN:
        return str(value)
    return None


_WRITTEN: Final = frozenset(
    {"datetime", "uuid", "decimal", "fractions", "pathlib", "ipaddress", "zoneinfo", "builtins"}
)
