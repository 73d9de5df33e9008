"""How a contract differs from the structure that a run was written with, and whether it matters.

Compatible is a contract to which the run's stored data can be handed as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from keepset.contracts.contract import Contract
from keepset.contracts.fields import Field
from keepset.contracts.fitting import members, misfits, reached
from keepset.contracts.order import uses
from keepset.contracts.rules import MISSING
from keepset.contracts.structure import FORMAT
from keepset.errors import DecodeError, SchemaError

_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not as it was.

    Attributes:
        name: The field.
        reason: What is different, as a sentence.
        compatible: Whether a run that was written before can go on.
        hint: The way out where it cannot and there is one of its own; else empty.
    """

    name: str
    reason: str
    compatible: bool
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Differences:
    """How a contract differs from an older structure.

    Attributes:
        added: Fields that are new.
        removed: Fields that are gone.
        changed: Fields with another rule or type.
    """

    added: tuple[Difference, ...]
    removed: tuple[Difference, ...]
    changed: tuple[Difference, ...]

    @property
    def all(self) -> tuple[Difference, ...]:
        """All of them: removed, changed, added."""
        return (*self.removed, *self.changed, *self.added)

    @property
    def compatible(self) -> bool:
        """Whether a run that was written before can go on as it is."""
        return all(difference.compatible for difference in self.all)

    @property
    def ordered(self) -> tuple[Difference, ...]:
        """All of them, those first that stop a run."""
        return tuple(sorted(self.all, key=lambda difference: difference.compatible))

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per difference, those first that stop a run."""
        return tuple(f"{difference.name}: {difference.reason}" for difference in self.ordered)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A structure, read."""

    fields: Mapping[str, Any]
    classes: Mapping[str, Any]

    def stored(self, name: str) -> bool:
        return "type" in self.fields.get(name, ())

    def type_of(self, name: str) -> Any:
        """Give the type of a field, and the classes that it names as they are described."""
        kind = self.fields[name]["type"]
        return [kind, reached(kind, self.classes)]


def compare(old_structure: str, contract: Contract) -> Differences:
    """Compare the structure that a run was written with to a contract.

    Args:
        old_structure: `Contract.structure`, as it was stored.
        contract: The contract of the code that is to go on with the run.

    Raises:
        DecodeError: ``contract.structure`` for a text that is no structure.
        SchemaError: ``contract.structure-format`` for one of a newer release.
    """
    old, new = _read(old_structure), _read(contract.structure)
    fields = contract.fields
    return Differences(
        added=tuple(_added(fields[name], old, fields) for name in fields if name not in old.fields),
        removed=tuple(_removed(name, old) for name in old.fields if name not in fields),
        changed=tuple(
            difference
            for name, field in fields.items()
            if name in old.fields
            for difference in _changed(field, old, new, contract)
        ),
    )


def _read(structure: str) -> _Shape:
    try:
        read = json.loads(structure)
        version, shape = read["format"], _Shape(read["fields"], read["classes"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable() from error
    if version != FORMAT:
        raise SchemaError(
            f"the contract was stored in format {version}, and this release reads {FORMAT}",
            code="contract.structure-format",
            hint="Use the release of keepset that wrote the run, or a newer one.",
        )
    mappings = isinstance(shape.fields, dict) and isinstance(shape.classes, dict)
    if not mappings or _is_deep(read) or not all(map(_is_field, shape.fields.values())):
        raise _unreadable()
    return shape


def _unreadable() -> DecodeError:
    return DecodeError(
        "the stored structure of the contract cannot be read",
        code="contract.structure",
        hint="Run `keepset verify` on the store.",
    )


def _is_field(described: object) -> bool:
    """Say whether a field has what is read of it: a rule with a kind, the members of a union."""
    if not isinstance(described, dict) or not isinstance(described.get("rule"), dict):
        return False
    kind = described.get("type")
    union = kind.get("union", []) if isinstance(kind, dict) else []
    return isinstance(described["rule"].get("kind"), str) and isinstance(union, list)


def _is_deep(read: object) -> bool:
    """Say whether JSON nests deeper than any structure does, and than a stack may have room for."""
    level = [read]
    for _ in range(_DEEPEST):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return bool(level)


def _added(field: Field, old: _Shape, fields: Mapping[str, Field]) -> Difference:
    why = _obtained(field, old, fields)
    if why is None:
        reason = f"it is new and required ({field.rule.kind}), and the run has no value for it"
        return Difference(field.name, reason, compatible=False)
    return Difference(field.name, f"it is new, and {why}", compatible=True)


def _obtained(field: Field, old: _Shape, fields: Mapping[str, Field]) -> str | None:
    """Say how a field gets its value where the run has stored none; None where it cannot."""
    if field.rule.restored:
        lacking = [name for name in uses(field) if not _usable(name, old, fields)]
        if not lacking:
            return f"{field.rule.kind} restores it"
        if not (field.optional or field.make):
            return None
    if field.default is not MISSING or field.make is not None:
        return "it has a default"
    return "it may be absent" if field.optional else None


def _usable(
    name: str, old: _Shape, fields: Mapping[str, Field], above: frozenset[str] = frozenset()
) -> bool:
    """Say whether the run has a field's value, or can be given it by its rule."""
    if name not in fields or name in above:
        return False
    if fields[name].rule.stored:
        return old.stored(name)
    above |= {name}
    return all(_usable(used, old, fields, above) for used in uses(fields[name]))


def _removed(name: str, old: _Shape) -> Difference:
    if old.stored(name):
        reason = "it is gone, and the run has a value of it that would be lost"
        return Difference(name, reason, compatible=False)
    return Difference(name, "it is gone, and nothing of it was stored", compatible=True)


def _changed(field: Field, old: _Shape, new: _Shape, contract: Contract) -> Iterator[Difference]:
    name = field.name
    before, now = old.fields[name], new.fields[name]
    if old.stored(name) and new.stored(name):
        yield from _changed_type(field, old, new, contract)
        if before["rule"] != now["rule"]:
            yield Difference(name, _other_rule(before, now), compatible=True)
    elif before["rule"] != now["rule"]:
        why = _obtained(field, old, contract.fields)
        left = "what was stored is not read any more" if old.stored(name) else "nothing was stored"
        reason = f"{_other_rule(before, now)}; {left}, and {why or 'nothing restores it'}"
        yield Difference(name, reason, compatible=why is not None)


def _changed_type(
    field: Field, old: _Shape, new: _Shape, contract: Contract
) -> Iterator[Difference]:
    name = field.name
    was, is_now = old.type_of(name), new.type_of(name)
    if not members(was[0]) <= members(is_now[0]):
        yield Difference(name, "its type is another", compatible=False)
    elif found := misfits(was[0], old.classes, new.classes, contract):
        yield from (Difference(name, one.reason, compatible=False, hint=one.hint) for one in found)
    elif was != is_now:
        yield Difference(name, "its type is wider than it was", compatible=True)
    if old.fields[name].get("optional") and field.required:
        reason = "it may be absent in the run, and is required now"
        yield Difference(name, reason, compatible=False)


def _other_rule(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    was, kind = before["rule"]["kind"], now["rule"]["kind"]
    return f"{kind} has other options" if was == kind else f"its rule was {was} and is {kind}"
