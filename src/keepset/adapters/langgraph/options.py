"""What a user may say of a saver, looked at before it is believed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from keepset.errors import UsageError


def named_types(types: Any) -> dict[str, type]:
    """Give the classes that states hold by the names under which they are stored.

    Args:
        types: Classes, each stored under its qualified name, or classes by name.

    Raises:
        UsageError: ``langgraph.types``: it is neither, or two classes have one qualified name.
    """
    if isinstance(types, Mapping):
        given = list(types.items())
    elif isinstance(types, Collection) and not isinstance(types, str | bytes):
        given = [(getattr(cls, "__qualname__", ""), cls) for cls in types]
    else:
        raise _no_types("is no list of classes")
    named: dict[str, type] = {}
    for name, cls in given:
        if not isinstance(cls, type):
            raise _no_types(f"has a {type(cls).__name__} among the classes")
        if named.setdefault(name, cls) is not cls:
            raise _no_types(f"has two classes called {name}")
    return named


def _no_types(what: str) -> UsageError:
    return UsageError(
        f"types {what}",
        code="langgraph.types",
        hint='Pass the classes: types=[Order]; or by names that last: types={"order/1": Order}.',
    )


def metadata_names(keys: Any) -> tuple[str, ...]:
    """Give the keys of a config that are stored with each checkpoint.

    Raises:
        UsageError: ``langgraph.metadata-keys``: it is no list of names.
    """
    listed = isinstance(keys, Collection) and not isinstance(keys, str | bytes)
    if not listed or not all(isinstance(key, str) for key in keys):
        raise UsageError(
            "metadata_keys is no list of names",
            code="langgraph.metadata-keys",
            hint='Write metadata_keys=["user_id"]; one name alone would be taken letter by letter.',
        )
    return tuple(keys)
