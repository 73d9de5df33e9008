"""Every text of a value with its place, for eyes that look at texts alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]

_DATA: Final = 8
"""Characters from which on a key with a digit in it is looked at."""


class Text(NamedTuple):
    """One text.

    Attributes:
        path: Where it is; a key of a mapping stands at the end of its own path.
        text: The text itself.
        is_key: Whether it is a key, and not a value.
    """

    path: Path
    text: str
    is_key: bool = False


def is_name(key: str) -> bool:
    """Tell whether a key is the name of an attribute, which holds no data.

    One that is as long as a secret and has a digit in it may be one, or the number of an account.
    """
    return key.isidentifier() and (len(key) < _DATA or not any(map(str.isdigit, key)))


def texts(value: object, path: Path) -> Iterator[Text]:
    """Give the texts of a value that was taken apart, and bytes that are text.

    Keys are given as well, but for names; see `is_name`.

    Args:
        value: Plain data, as `keepset.audit.taking.take` gives it, which bounds its depth.
        path: Where it is.
    """
    kind = type(value)
    if kind is str:
        yield Text(path, str(value))
    elif isinstance(value, dict):
        yield from _of_mapping(value, path)
    elif isinstance(value, list | tuple | set | frozenset):
        for index, item in enumerate(value):
            yield from texts(item, (*path, index))
    elif isinstance(value, bytes):
        try:
            yield Text(path, value.decode("utf-8"))
        except UnicodeDecodeError:
            return


def _of_mapping(value: dict[Any, Any], path: Path) -> Iterator[Text]:
    for position, (key, item) in enumerate(value.items()):
        inner = (*path, key if isinstance(key, str) else position)
        if isinstance(key, str) and not is_name(key):
            yield Text(inner, key, is_key=True)
        yield from texts(item, inner)
