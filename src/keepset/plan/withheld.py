"""Find the markers that stand in place of secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepset.codec import Codec, Path, Withheld
from keepset.errors import PolicyError


def withheld(values: Mapping[str, Any], codec: Codec) -> Iterator[tuple[Path, Withheld]]:
    """Find the markers that stand in place of secrets, with their paths."""
    waiting: list[tuple[Path, Any]] = [((name,), value) for name, value in values.items()]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Withheld):
            yield path, value
        elif not isinstance(value, str | bytes | int | float | None):
            waiting += [((*path, element), child) for element, child in _children(value, codec)]


def _children(value: Any, codec: Codec) -> list[tuple[str | int, Any]]:
    """Give the children of a value with their path elements; none where it is a leaf."""
    if type(value) is dict:
        return list(value.items())
    if type(value) in (list, tuple):
        return list(enumerate(value))
    try:
        return list(codec.parts(value) or ())
    except PolicyError:
        return []
