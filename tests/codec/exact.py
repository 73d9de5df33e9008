"""When two values are the same: of one type, equal, and so are all their parts."""

from __future__ import annotations

import re
import struct
from collections import defaultdict, deque
from collections.abc import Callable
from datetime import datetime, time
from decimal import Decimal
from typing import Any


def same(a: Any, b: Any) -> bool:
    """Tell whether two builtin values cannot be told apart."""
    if type(a) is not type(b):
        return False
    for kinds, compare in _COMPARE:
        if isinstance(a, kinds):
            return compare(a, b)
    return bool(a == b)


def _same_float(a: float, b: float) -> bool:
    return struct.pack(">d", a) == struct.pack(">d", b)


def _same_complex(a: complex, b: complex) -> bool:
    return _same_float(a.real, b.real) and _same_float(a.imag, b.imag)


def _same_clock(a: Any, b: Any) -> bool:
    return bool(a.replace(tzinfo=None) == b.replace(tzinfo=None)) and _zone(a) == _zone(b)


def _same_decimal(a: Decimal, b: Decimal) -> bool:
    return a.as_tuple() == b.as_tuple()


def _same_items(a: Any, b: Any) -> bool:
    bound = getattr(a, "maxlen", 0) == getattr(b, "maxlen", 0)
    return bound and len(a) == len(b) and all(map(same, a, b))


def _same_set(a: Any, b: Any) -> bool:
    return sorted(map(_shown, a)) == sorted(map(_shown, b))


def _same_pattern(a: Any, b: Any) -> bool:
    return same(a.pattern, b.pattern) and a.flags == b.flags


def _zone(value: datetime | time) -> tuple[object, ...]:
    return type(value.tzinfo), repr(value.tzinfo), value.fold, value.utcoffset()


def _same_mapping(a: Any, b: Any) -> bool:
    if isinstance(a, defaultdict) and a.default_factory is not b.default_factory:
        return False
    return len(a) == len(b) and all(
        same(x, y) and same(a[x], b[y]) for x, y in zip(a, b, strict=True)
    )


def _shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(_shown, value))}"
    if isinstance(value, tuple):
        return f"tuple {[_shown(item) for item in value]}"
    return f"{type(value)} {value!r}"


_COMPARE: tuple[tuple[Any, Callable[[Any, Any], bool]], ...] = (
    (float, _same_float),
    (complex, _same_complex),
    ((datetime, time), _same_clock),
    (Decimal, _same_decimal),
    (dict, _same_mapping),
    ((list, tuple, deque), _same_items),
    ((set, frozenset), _same_set),
    (re.Pattern, _same_pattern),
)
