"""Call what a user names to make, change and observe the world; it may fail, and that is told."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Final

from keepset.errors import UsageError
from keepset.prove.leaves import Leaves

_HINTS: Final = {
    "world": "Call it by itself, in an empty folder.",
    "between": "Call it by itself, in a folder in which a run was ended.",
    "observe": "It is called after every trial, also after one that failed: let it give what is "
    "there.",
}


def call(what: str, function: Callable[[], object] | None) -> object:
    """Call a function of the world.

    Args:
        what: ``world``, ``between`` or ``observe``.
        function: The function; None gives None.

    Raises:
        UsageError: ``prove.world``, with the function's name and the type of its error.
    """
    if function is None:
        return None
    name = getattr(function, "__qualname__", type(function).__qualname__)
    try:
        given = function()
    except (Exception, SystemExit) as error:
        raise _failed(what, name, f"raised {type(error).__qualname__}") from error
    if inspect.isawaitable(given):
        if inspect.iscoroutine(given):
            given.close()
        raise _failed(what, name, "is asynchronous")
    return given


def require_data(observe: Callable[[], object] | None, seen: Leaves) -> None:
    """Refuse what is observed and cannot be compared: two of it would pass for the same.

    Args:
        observe: The function that gave it.
        seen: What it gave, taken apart.

    Raises:
        UsageError: ``prove.world``, with the function's name and the type that it gave.
    """
    opaque = next((leaf for leaf in seen.values() if leaf.is_opaque), None)
    if opaque is None:
        return
    name = getattr(observe, "__qualname__", type(observe).__qualname__)
    raise UsageError(
        f"what observes the world failed: {name} (observe) gave a {opaque.kind}, which cannot be "
        "compared",
        code="prove.world",
        hint="Let it give plain data: texts, numbers, lists and mappings of them.",
    )


def _failed(what: str, name: str, how: str) -> UsageError:
    return UsageError(
        f"what {'observes' if what == 'observe' else 'makes or changes'} the world failed: "
        f"{name} ({what}) {how}",
        code="prove.world",
        hint=_HINTS[what],
    )
