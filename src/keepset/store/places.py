"""What a store may be called: a URL, or the path of its file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from keepset.errors import UsageError

Place = str | os.PathLike[str]
"""A URL, or the path of a file."""

SQLITE: Final = "sqlite:///"
MEMORY: Final = "memory:"
_URL: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://|(?:sqlite|file|postgres(?:ql)?)?:|memory(?::|$)", re.IGNORECASE
)
"""How a text begins that is meant as a URL: no file is made under a name that was none."""
_IN_MEMORY: Final = re.compile(r"(?:(?:sqlite|file):/*)?:memory:|memory(?::|$)", re.IGNORECASE)
"""How others call a database in memory."""
_FILES: Final = ("sqlite", "file")
_KNOWN: Final = "Write the path of a file, kept.db or sqlite:///kept.db, or memory:."


def file_of(place: object) -> str | None:
    """Give the path of the file that a store lies in; None for one in memory.

    Args:
        place: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, the path of a file, or
            ``memory:``.

    Raises:
        UsageError: ``store.url``: it is none of these; the hint has what to write.
    """
    if place == MEMORY:
        return None
    text = os.fspath(place) if isinstance(place, str | os.PathLike) else b""
    if isinstance(text, bytes):
        raise _unknown(f"a {type(place).__qualname__} names no store", _KNOWN)
    path = text.removeprefix(SQLITE)
    is_url = _URL.match(text) is not None
    if (is_url and path == text) or path.startswith(":memory:") or not Path(path).name:
        raise _unknown("the store URL is not known", _meant(text))
    return path


def is_in_memory(text: str) -> bool:
    """Tell whether a text is meant as a store in memory, by whichever tool's name for it."""
    return _IN_MEMORY.match(text) is not None


def _meant(text: str) -> str:
    """Say what to write in place of a URL that is not known, as far as that can be told."""
    if is_in_memory(text):
        return 'Write "memory:" for a store in memory, which is a fresh one each time.'
    scheme, _, rest = text.partition(":")
    path = rest.removeprefix("//")
    if scheme.lower() not in _FILES or not Path(path).name:
        return _KNOWN
    return f'Write "{path}" or "{SQLITE}{path}".'


def _unknown(message: str, hint: str) -> UsageError:
    return UsageError(message, code="store.url", hint=hint)
