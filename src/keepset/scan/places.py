"""Paths of what is temporary: under a temporary folder, or made by this process for a while.

A text counts only where the whole of it is a path; prose that mentions one does not.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Collection, Iterator
from typing import Final
from urllib.parse import unquote

_LONGEST: Final = 4096
_MOST_SPACES: Final = 3
_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\[^\\/]")
_FORBIDDEN: Final = frozenset('\n\r\t\0<>|"*?')


class Places:
    """Knows which paths are temporary.

    Args:
        roots: Temporary folders, absolute and normalised, of POSIX or Windows.
        made: Paths that this process made for a while; may grow while it is in use.
    """

    def __init__(self, roots: tuple[str, ...], made: Collection[str] = ()) -> None:
        """Sort the roots by the system that they belong to."""
        windows = [root for root in roots if _WINDOWS.match(root)]
        self._posix = tuple(_posix(root) for root in roots if root.startswith("/"))
        self._windows = tuple(_windows(root) for root in windows)
        self._made = made

    def temporary(self, text: str) -> bool:
        """Tell whether a text as a whole is the path of something temporary."""
        if not 1 < len(text) <= _LONGEST or not (text[0] in "/\\" or text[1] == ":" or _url(text)):
            return False
        path = unquote(text.partition("://")[2]) if _url(text) else text
        if not _whole_path(path):
            return False
        if path.startswith("/"):
            return _under(_posix(path), self._posix, "/") or self._was_made(_posix(path), path)
        return _WINDOWS.match(path) is not None and (
            _under(_windows(path), self._windows, "\\") or self._was_made(path, path)
        )

    def _was_made(self, normal: str, path: str) -> bool:
        return bool(self._made) and any(
            ancestor in self._made for form in (normal, path) for ancestor in _ancestors(form)
        )


def _url(text: str) -> bool:
    return text.startswith("file://")


def _posix(path: str) -> str:
    normal = posixpath.normpath(path)
    # POSIX lets two leading slashes mean something of their own; no system here does.
    return normal[1:] if normal.startswith("//") else normal


def _windows(path: str) -> str:
    return ntpath.normpath(path).lower()


def _under(path: str, roots: tuple[str, ...], separator: str) -> bool:
    return any(path == root or path.startswith(root + separator) for root in roots)


def _ancestors(path: str) -> Iterator[str]:
    yield path
    for match in re.finditer(r"[\\/]", path[1:]):
        yield path[: match.start() + 1]
        yield path[: match.end() + 1]


def _whole_path(path: str) -> bool:
    if not path or _FORBIDDEN.intersection(path) or path[-1] in ".,;:!":
        return False
    return all(part.count(" ") <= _MOST_SPACES for part in re.split(r"[\\/]", path))
