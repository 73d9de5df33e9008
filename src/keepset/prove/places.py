"""Where something lies, written without what may be data: a key of a mapping can be a secret."""

from __future__ import annotations

import re
from typing import Final

from keepset.codec import Path, format_path

_NAME: Final = re.compile(r"_*[A-Za-z]+[0-9]{0,3}(?:[_. -]+[A-Za-z]+[0-9]{0,3})*_*")
_LONGEST: Final = 24
"""Characters of a name that has no break in it."""


def shown(path: Path, whole: str = "") -> str:
    """Write a path; a key that is no plain name is a star.

    Args:
        path: The path; its first element is a field, which is shown as it is.
        whole: What to say where nothing is below the field.
    """
    elements = [part if isinstance(part, int) or _is_name(part) else "*" for part in path[1:]]
    if whole:
        return format_path(tuple(elements)) or whole
    return format_path((*path[:1], *elements))


def _is_name(key: str) -> bool:
    parts = re.split(r"[_. -]", key)
    return _NAME.fullmatch(key) is not None and all(len(part) <= _LONGEST for part in parts)
