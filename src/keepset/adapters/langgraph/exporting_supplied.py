"""What a thread that has left has to be given before it goes on, since it is stored nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from keepset.contracts.rules import RULES

_STORED: Final = frozenset(rule.__name__ for rule in RULES if rule.stored)
_TELLING: Final = ("load", "using", "factory", "reference")


def supplied(structure: str, *, but: frozenset[str] = frozenset()) -> str:
    """Name the fields of a contract that are not stored, with their rules; empty where none is.

    Args:
        structure: The structure of the contract, as JSON.
        but: Kinds of rules whose fields are there all the same.
    """
    return ", ".join(_fields(structure, but))


def _fields(structure: str, but: frozenset[str]) -> Iterator[str]:
    try:
        fields: dict[str, Any] = json.loads(structure)["fields"]
        entries = sorted(fields.items())
    except (ValueError, TypeError, KeyError, AttributeError):
        return
    for name, entry in entries:
        rule = entry.get("rule") if isinstance(entry, dict) else None
        if not isinstance(rule, dict):
            continue
        kind = rule.get("kind")
        if isinstance(kind, str) and kind not in _STORED | but:
            told = ", ".join(_told(rule[key]) for key in _TELLING if key in rule)
            yield f"{name}: {kind}({told})"


def _told(option: Any) -> str:
    return ", ".join(map(str, option)) if isinstance(option, list) else str(option)
