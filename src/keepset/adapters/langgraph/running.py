"""Which thread and which call the channels of a graph belong to, so that a refusal can name them.

LangGraph makes the channels of a run, or of an update, right after it has read the checkpoint, in
the same context; a channel itself is told of no thread.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from keepset.adapters.langgraph.executing import Execution, execution_of
from keepset.errors import KeepsetError
from keepset.run.hosted import Surface


@dataclass(frozen=True, slots=True)
class Running:
    """Where the channels of a graph work that is about to run.

    Attributes:
        named: Names the thread, and a namespace of it, in an error.
        namespace: The namespace.
        execution: Gives the call, as long as it lasts.
        surface: Gives what values of the namespace go through on their way to the store.
        read: Reads a channel of the graph around it, of which a task has called this one.
    """

    named: Callable[[str], AbstractContextManager[None]]
    namespace: str
    execution: Callable[[], Execution | None]
    surface: Callable[[], Surface]
    read: Callable[..., Any] | None

    def told(self, error: KeepsetError, channel: str) -> KeepsetError:
        """Give an error about a channel's value with the thread, and the node that wrote it."""
        execution = self.execution()
        return self.told_of(error, execution.handed.node(channel=channel) if execution else "")

    def told_of(self, error: KeepsetError, node: str) -> KeepsetError:
        """Give an error with the thread, and with the node unless that is empty."""
        try:
            with self.named(self.namespace):
                raise error.within(f"node {node}") if node else error
        except KeepsetError as told:
            return told


_READ: Final = "__pregel_read"


def _over() -> None:
    """Stand for a call that nothing is known of."""


_RUNNING: ContextVar[Running | None] = ContextVar("keepset_running", default=None)


def begin_in(
    named: Callable[[str], AbstractContextManager[None]],
    namespace: str,
    config: Mapping[str, Any],
    surface: Callable[[], Surface],
) -> None:
    """Take note of what is read, for the channels that LangGraph makes of it right afterwards."""
    execution = execution_of(config)
    call = _over if execution is None else weakref.ref(execution)
    _RUNNING.set(Running(named, namespace, call, surface, reader_of(config)))


def reader_of(config: Mapping[str, Any] | None) -> Callable[..., Any] | None:
    """Give what reads the channels that a task has read; None outside of one."""
    read: Callable[..., Any] | None = ((config or {}).get("configurable") or {}).get(_READ)
    return read


def running() -> Running | None:
    """Give what was read last in this context."""
    return _RUNNING.get()
