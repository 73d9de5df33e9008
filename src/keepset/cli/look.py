"""Look at a stored checkpoint without the code of the workflow, personal fields masked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from keepset.cli.render import MASKED, render
from keepset.contracts.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

STORED = {rule.__name__ for rule in RULES if rule.stored}
RESTORED = {rule.__name__ for rule in RULES if rule.restored}


def personal_fields(structure: str, names: Collection[str]) -> set[str]:
    """Say which fields of a stored checkpoint are personal.

    Args:
        structure: The structure of the contract that wrote it, as JSON.
        names: The fields that the checkpoint has. One that the structure does not speak of
            counts as personal.
    """
    open_ones = {name for name, rule in rules(structure).items() if not rule.get("personal")}
    return set(names) - open_ones


def absent_fields(structure: str, names: Collection[str]) -> dict[str, dict[str, Any]]:
    """Say which fields are not stored, and by which rule a resumed run has them all the same.

    Args:
        structure: The structure of the contract that wrote the checkpoint, as JSON.
        names: The fields that the checkpoint has.
    """
    return {
        name: rule
        for name, rule in rules(structure).items()
        if name not in names and rule.get("kind") not in STORED
    }


def rules(structure: str) -> dict[str, dict[str, Any]]:
    """Give the rule of each field that a stored structure describes in a way that can be read."""
    try:
        fields = json.loads(structure)["fields"].items()
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
    found = {name: entry.get("rule", {}) for name, entry in fields if isinstance(entry, dict)}
    return {name: rule for name, rule in found.items() if isinstance(rule, dict)}


def named_rule(rule: Mapping[str, Any]) -> str:
    """Write a stored rule for a person: ``restored by Refetch(load=load_documents, …)``."""
    kind = str(rule.get("kind", "?"))
    options = ", ".join(f"{name}={_option(o)}" for name, o in rule.items() if name != "kind")
    written = f"{kind}({options})" if options else kind
    return f"restored by {written}" if kind in RESTORED else f"left out by {written}"


def _option(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_option, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def rendered(values: Mapping[str, object], masked: Collection[str]) -> dict[str, Any]:
    """Render the values of a checkpoint; those of `masked` fields are not looked at."""
    return {name: MASKED if name in masked else render(value) for name, value in values.items()}


def metadata(stored: Mapping[str, Any], *, reveal: bool) -> dict[str, Any]:
    """Render what the host said of a checkpoint, which may hold personal data as well."""
    if not stored or reveal:
        return {name: render(value) for name, value in stored.items()}
    return MASKED
