"""Texts inside numpy arrays and pandas objects, which the codec stores as blocks of bytes."""

from __future__ import annotations

from typing import Any, Final

_TEXTUAL: Final = frozenset("OSU")
_ROOTS: Final = frozenset({"numpy", "pandas"})


def tabular(cls: type) -> bool:
    """Tell whether a type is an array, a frame or a part of one."""
    return cls.__module__.partition(".")[0] in _ROOTS


def texts(value: Any) -> list[str]:
    """Give the texts in an array, a frame with its labels, a series or an index."""
    if type(value).__name__ == "DataFrame":
        blocks = [value.columns, value.index, *(column for _, column in value.items())]
    elif type(value).__name__ == "Series":
        blocks = [value.index, value]
    else:
        blocks = [value]
    return [text for block in blocks for text in _block(block)]


def _block(block: Any) -> list[str]:
    kind = getattr(getattr(block, "dtype", None), "kind", "")
    if kind not in _TEXTUAL:
        return []
    items = block.ravel() if hasattr(block, "ravel") else block
    return [_text(item) for item in items.tolist() if isinstance(item, (str, bytes))]


def _text(item: str | bytes) -> str:
    return item if isinstance(item, str) else item.decode("latin-1")
