"""One call of a bound graph: whether it goes on, and what of it the store has refused meanwhile.

LangGraph saves in the background and asks what came of it when the call ends. Here a checkpoint
that is refused stops the call before its next node: all that the call does after it would be lost,
and what its nodes do to the world outside would be done for nothing, or twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Final

from keepset.adapters.langgraph.address import Address
from keepset.errors import KeepsetError

EXECUTION: Final = "__pregel_keepset"
"""Key of a configurable. LangGraph takes what begins with ``__pregel_`` out of what it streams."""


class Execution:
    """One call of a bound graph; those of graphs inside belong to it.

    Attributes:
        resuming: Whether it goes on with what is next, and does not begin with a new input.
    """

    __slots__ = ("_refused", "resuming")

    def __init__(self, *, resuming: bool) -> None:
        """Begin with nothing refused."""
        self.resuming = resuming
        self._refused: dict[tuple[str, str], KeepsetError] = {}

    def refuse(self, at: Address, error: KeepsetError) -> None:
        """Take note that a checkpoint was refused; the first reason of a namespace counts."""
        self._refused.setdefault((at.thread, at.namespace), copy(error))

    def require_saved(self, thread: str, namespace: str) -> None:
        """Refuse to go on in a namespace, where a checkpoint of it or of one around it was.

        Raises:
            KeepsetError: Why it was.
        """
        for (refused, around), error in list(self._refused.items()):
            if refused == thread and (not around or f"{namespace}|".startswith(f"{around}|")):
                raise copy(error)


def execution_of(config: Mapping[str, Any] | None) -> Execution | None:
    """Give the call that a config belongs to; None where no bound graph was called."""
    found = ((config or {}).get("configurable") or {}).get(EXECUTION)
    return found if isinstance(found, Execution) else None
