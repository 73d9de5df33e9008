"""Hold the stored history of a field to its declaration that it grows only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sized
from typing import Any, NamedTuple

from keepset.codec import Codec
from keepset.delta import extends, freeze, only_adds, stands_alone
from keepset.plan.replay import History, Moment


def declared_to_grow(structure: str) -> frozenset[str]:
    """Give the fields that a stored contract declares ``append_only``.

    Args:
        structure: The contract's structure, as canonical JSON; another text declares nothing.
    """
    try:
        fields = json.loads(structure).get("fields", {}).items()
        return frozenset(
            name for name, field in fields if field.get("rule", {}).get("append_only") is True
        )
    except (AttributeError, ValueError, RecursionError):
        return frozenset()


class _Before(NamedTuple):
    """A version of a field; its value changes in place until it is written whole again."""

    value: Any
    size: int
    keys: frozenset[Any]


class Growth:
    """Watches the fields of one line that were declared to grow only, step by step.

    What a fork's first steps change is compared from the first of them that holds the field whole.
    """

    def __init__(self, fields: frozenset[str], codec: Codec) -> None:
        """Begin before the line's first step."""
        self._fields = fields
        self._codec = codec
        self._before: dict[str, _Before] = {}

    def broken(self, history: History, moment: Moment) -> Iterator[str]:
        """Yield the fields that a step has changed otherwise; call it for each step in order."""
        for name in sorted(self._fields & moment.changed):
            before = self._before.pop(name, None)
            if name not in moment.values:
                continue
            value = moment.values[name]
            keys = frozenset(value) if isinstance(value, dict) else frozenset()
            size = len(value) if isinstance(value, Sized) else 0
            self._before[name] = _Before(value, size, keys)
            op = history.changes[moment.header.seq][name].op
            if before is not None and not self._grew(before, op, value):
                yield name

    def _grew(self, before: _Before, op: list[Any], value: Any) -> bool:
        if not stands_alone(op):
            return only_adds(before.size, before.keys, op)
        pack = self._codec.pack
        return extends(freeze(value, pack), freeze(before.value, pack))
