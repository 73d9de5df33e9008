"""Differences between two rendered values, by path."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from keepset.codec.path import Path, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT: Any = object()


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[dict[str, Any]]:
    """List what is different, as ``{"path", "change", "old"?, "new"?}``.

    Args:
        old: A rendered value (see `keepset.cli.render`), or `ABSENT`.
        new: Another one.
        path: Where they stand.

    Yields:
        One entry for each value that was added, removed or changed, as deep as both are mappings
        or both are lists.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for place in range(max(len(old), len(new))):
            yield from differences(_at(old, place), _at(new, place), (*path, place))
    elif old is ABSENT:
        yield {"path": format_path(path), "change": "added", "new": new}
    elif new is ABSENT:
        yield {"path": format_path(path), "change": "removed", "old": old}
    elif json.dumps(old) != json.dumps(new):  # tells 1, 1.0 and True, 0.0 and -0.0 apart
        yield {"path": format_path(path), "change": "changed", "old": old, "new": new}


def _at(items: list[Any], place: int) -> Any:
    return items[place] if place < len(items) else ABSENT
