"""What the contracts in a store of ours say of its fields."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class _Rule(msgspec.Struct):
    kind: str = ""
    personal: bool = False


class _Entry(msgspec.Struct):
    rule: _Rule = msgspec.field(default_factory=_Rule)


class _Structure(msgspec.Struct):
    fields: dict[str, _Entry] = {}


def personal_fields(structures: Iterable[str]) -> tuple[str, ...]:
    """Name the fields that are declared personal by every contract that has them.

    Args:
        structures: The structures of contracts, as the store has them. One of a form that is not
            known declares nothing.
    """
    declared: dict[str, bool] = {}
    for structure in structures:
        try:
            fields = msgspec.json.decode(structure, type=_Structure).fields
        except msgspec.DecodeError:
            return ()
        for name, entry in fields.items():
            declared[name] = declared.get(name, True) and entry.rule.personal
    return tuple(sorted(name for name, is_personal in declared.items() if is_personal))
