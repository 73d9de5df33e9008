"""Where something lies in a store, written so that the same place in many values is one place."""

from __future__ import annotations

import re
from typing import Final

from keepset.codec import format_path

_ID: Final = re.compile(r"\d{4,}|[0-9a-f]{8}-[0-9a-f]{4}|@|[0-9a-fA-F]{16,}")
_LONGEST: Final = 60
_STAR: Final = "\ufffc"
"""Stands for a position until the path is written."""
_UUID: Final = re.compile(r":[0-9a-f]{8}-[0-9a-f-]{27}")
_HOSTS: Final = ("branch:", "join:", "start:", "__", "langgraph#")


def place(path: tuple[str | int, ...]) -> str:
    """Write a path with a star for positions, and for keys that are data: ids, addresses.

    Args:
        path: The path, the field first.
    """
    steps: list[str | int] = []
    for element in path[1:]:
        if isinstance(element, int) or _is_data(element):
            steps.append(_STAR if isinstance(element, int) else "*")
        else:
            steps.append(element)
    written = format_path((str(path[0]) if path else "", *steps))
    return written.replace(f".{_STAR}", "[*]")


def _is_data(key: str) -> bool:
    return len(key) > _LONGEST or _ID.search(key) is not None


def graph(namespace: str) -> str:
    """Name the graph inside that a namespace belongs to, without the ids of its tasks."""
    return _UUID.sub("", namespace)


def is_hosts(field: str) -> bool:
    """Tell whether a field is the host's own: what comes next, tasks, answers."""
    return field.startswith(_HOSTS) or field.endswith(":inbox")
