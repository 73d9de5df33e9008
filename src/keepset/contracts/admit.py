"""What a step gives, made into what the state holds: `Extract`, `Drop` and ``without``.

It happens before the next step sees the state, so that this step sees the same as it would after
a resume. Nothing that the caller holds is changed: what is affected is copied, the rest is shared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from keepset.codec.failures import type_name
from keepset.contracts.fields import Field
from keepset.contracts.forms import variants
from keepset.contracts.instances import refuse_unknown
from keepset.contracts.paths import Element, parse_glob, parse_path
from keepset.contracts.pruned import pruned
from keepset.contracts.rules import MISSING, Drop, Extract, Keep
from keepset.errors import KeepsetError, PolicyError

LEAVES = (bool, int, float, complex, str, bytes, bytearray, type(None))
"""Plain values, from which nothing can be taken by a path."""


def admitted(
    fields: Mapping[str, Field], values: Mapping[str, object], changed: Collection[str] | None
) -> dict[str, object]:
    """Apply the rules of the fields to their values; see `Contract.admit`."""
    refuse_unknown(fields, values, "the contract")
    found: dict[str, object] = {}
    for name, value in values.items():
        field = fields[name]
        given = changed is None or name in changed
        kept = _admit(field, value, values, given=given)
        if kept is not MISSING:
            found[name] = kept
    return found


def _admit(field: Field, value: object, values: Mapping[str, object], *, given: bool) -> object:
    rule = field.rule
    if isinstance(rule, Drop):
        return field.fill(values)
    if isinstance(rule, Extract) and given:
        return _extract(field, rule, value)
    if isinstance(rule, Keep):
        for glob in rule.without:
            value = pruned(value, parse_glob(glob), (field.name,))
    return value


def _extract(field: Field, rule: Extract, value: object) -> object:
    try:
        part = rule.what(value) if not isinstance(rule.what, str) else _part(value, rule.what)
    except KeepsetError:
        raise
    except Exception as error:  # noqa: BLE001 - the function, or a property, is not ours
        # The text of the error may hold the value, so that only its type is told.
        raise PolicyError(
            f"{field.name}: what it extracts from a {type_name(type(value))} failed with "
            f"{type_name(type(error))}",
            code="extract.failed",
            hint="Call the function on such a value by itself to see why, and mend it.",
        ) from None
    if part is not MISSING:
        return part
    if is_extracted(field, value):
        return value
    raise PolicyError(
        f"{field.name}: a {type(value).__qualname__} has no {rule.what}",
        code="extract.path",
        hint="Correct the path of Extract, or give a function that handles this kind of value.",
    )


def _part(value: object, path: str) -> object:
    for element in parse_path(path):
        value = _enter(value, element)
        if value is MISSING:
            break
    return value


def _enter(value: Any, element: Element) -> object:
    """Take one step into a mapping, a sequence or an object; `MISSING` where there is none."""
    if isinstance(value, Mapping):
        return value.get(element, MISSING)
    if isinstance(element, str):
        return MISSING if isinstance(value, LEAVES) else getattr(value, element, MISSING)
    if isinstance(value, Sequence) and not isinstance(value, LEAVES):
        return value[element] if -len(value) <= element < len(value) else MISSING
    return MISSING


def is_extracted(field: Field, value: object) -> bool:
    """Say whether a value into which the path does not lead is what it would have led to.

    Nothing can be extracted from a plain value; another one passes where it is of the type that
    the field declares.
    """
    if isinstance(value, LEAVES):
        return True
    return any(
        form.kind in ("record", "enum", "class") and _is_a(value, form.origin)
        for form in variants(field.annotation)
    )


def _is_a(value: object, cls: type[Any]) -> bool:
    if issubclass(cls, dict) and hasattr(cls, "__required_keys__"):
        return isinstance(value, dict)
    return isinstance(value, cls)
