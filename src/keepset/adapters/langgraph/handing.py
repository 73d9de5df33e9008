"""What tasks have written, as it was when they ended.

LangGraph hands over what a task wrote in the background, while the next node may change the same
objects; what was written to a DeltaChannel it hands over when the run ends, with
``durability="exit"``. In a bound graph a picture is taken when a task ends, in the task's own
thread, and that is what is stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.types import Command

from keepset.adapters.langgraph.admitting import Admission
from keepset.adapters.langgraph.executing import execution_of
from keepset.adapters.langgraph.handed import Handed, hand
from keepset.adapters.langgraph.host import DeltaChannel, ensure_message_ids
from keepset.adapters.langgraph.running import running

_SEND: Final = "__pregel_send"
_TASK: Final = "__pregel_task_id"
_DURABILITY: Final = "__pregel_durability"
_NAMESPACE: Final = "checkpoint_ns"


class Handing(Runnable[Any, Any]):
    """The last of a node's writers."""

    def __init__(self, node: str, admission: Admission) -> None:
        """Take what is known of a node.

        Args:
            node: Its name.
            admission: What its graph does with what enters the state.
        """
        self.name = "Handing"
        self._node = node
        self._admission = admission
        channels = admission.channels.items()
        self._rebuilt = {n for n, channel in channels if isinstance(channel, DeltaChannel)}

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 - LangChain's name
        """Keep pictures of what the writers before have written; give back what came in."""
        self._hand(config)
        return input

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 - LangChain's name
        """See `invoke`."""
        self._hand(config)
        return input

    def _hand(self, config: RunnableConfig | None) -> None:
        configurable: Mapping[str, Any] = (config or {}).get("configurable") or {}
        execution = execution_of(config)
        writes = getattr(configurable.get(_SEND), "__self__", None)
        if execution is None or not isinstance(writes, deque) or _TASK not in configurable:
            return
        task, at_exit = configurable[_TASK], configurable.get(_DURABILITY) == "exit"
        handed, picture = execution.handed, self._admission.picture
        if self._rebuilt:
            ensure_message_ids(self._admission.channels, writes)
        surface = None
        if at_exit:
            step = int(((config or {}).get("metadata") or {}).get("langgraph_step", 0))
            handed.ended(task, str(configurable.get(_NAMESPACE) or ""), step)
        elif (place := running()) is not None:
            surface = place.surface()
        for index, (channel, value) in enumerate(writes):
            if at_exit and channel in self._rebuilt:
                writes[index] = (channel, own := copy(value))
                hand(handed, ("", self._node), channel, own, picture)
            else:
                hand(handed, (task, self._node), channel, value, picture, surface=surface)


def handed_over(
    admission: Admission, given: Any, config: Mapping[str, Any] | None
) -> tuple[Any, Mapping[str, Any] | None]:
    """Keep pictures of what a graph is called with, as far as it is stored as what a task wrote.

    Args:
        admission: What the graph does with what enters its state.
        given: The input, or a `Command`.
        config: The config of the call.

    Returns:
        What to call the graph with.
    """
    execution = execution_of(config)
    if execution is None:
        return given, config
    if isinstance(given, Command) and given.update is not None and given.graph is None:
        updates = given._update_as_tuples()  # noqa: SLF001 - as LangGraph itself reads it
        return replace(given, update=_kept(execution.handed, admission, updates)), config
    given = admission.by_key(given)
    if isinstance(given, dict):
        channels = admission.channels
        rebuilt = [n for n in given if isinstance(channels.get(n), DeltaChannel)]
        if rebuilt:
            writes = _kept(execution.handed, admission, [(name, given[name]) for name in rebuilt])
            return {**given, **dict(writes)}, config
    return given, config


def _kept(
    handed: Handed, admission: Admission, given: Iterable[tuple[str, Any]]
) -> Sequence[tuple[str, Any]]:
    """Keep pictures of writes of no task, each of an object that is known again by itself."""
    writes = [*given]
    ensure_message_ids(admission.channels, writes)
    for place, (channel, value) in enumerate(writes):
        rebuilt = isinstance(admission.channels.get(channel), DeltaChannel)
        own = copy(value) if rebuilt else value
        writes[place] = (channel, own)
        hand(handed, ("", ""), channel, own, admission.picture)
    return writes
