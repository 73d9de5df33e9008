"""Where a value lies inside a state."""

from __future__ import annotations

from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The steps from a state to a value: a mapping's key or an attribute (`str`), an index (`int`)."""

_HEAD, _TAIL, _WIDTH = 16, 8, 120


def format_path(path: Path) -> str:
    """Write a path as a person would: ``("a", "b", 1, "c")`` is ``a.b[1].c``.

    Keys and attributes both follow a dot, indexes stand in brackets. Control characters are
    escaped. The middle of a path of more than 24 steps, and the end of a key of more than 120
    characters, is left out and shown as ``…``.
    """
    if len(path) <= _HEAD + _TAIL:
        return _join(path)
    return f"{_join(path[:_HEAD])}…{_join(path[-_TAIL:])}"


def _join(path: Path) -> str:
    return "".join(_step(element) for element in path).removeprefix(".")


def _step(element: str | int) -> str:
    if type(element) is int:
        return f"[{element}]"
    text = element if isinstance(element, str) else str(element)
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH - 1]}…"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return f".{text}"
