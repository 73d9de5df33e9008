"""Where a thread stands: the tasks that a run of it would begin with.

They follow from what is stored and from the graph that wrote it, which may be gone: a node is next
where one of its channels has a value that it has not seen (as `langgraph.pregel._algo` decides it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from langgraph.types import Send

from keepset.adapters.langgraph.graph import BRANCH, Structure

TASKS: Final = "__pregel_tasks"
INTERRUPT: Final = "__interrupt__"
_AFTER_FINISH: Final = "AfterFinish"


@dataclass(frozen=True, slots=True)
class Task:
    """A task that is next.

    Attributes:
        node: Its node, as the graph that wrote the thread calls it.
        triggers: What triggers the node there, in order.
        push: Its place among the packets that were sent; None for a node that an edge leads to.
    """

    node: str
    triggers: tuple[str, ...]
    push: int | None = None


@dataclass(frozen=True, slots=True)
class Swap:
    """A task that is next, of a node that is not what it was.

    Attributes:
        node: The node, as it is called now.
        task: Id of the task.
        was_graph: Whether it was a graph; else it is one now.
        inside: Where what runs inside the task lies.
        lasting: Where that lies which a graph with a checkpointer of its own keeps from task to
            task.
    """

    node: str
    task: str
    was_graph: bool
    inside: str
    lasting: str


def tasks_of(
    old: Structure | None,
    values: Mapping[str, Any],
    versions: Mapping[str, Any],
    seen: Mapping[str, Mapping[str, Any]],
) -> tuple[Task, ...]:
    """Give the tasks that are next.

    Args:
        old: The graph that wrote the checkpoint; without it, only edges to single nodes and
            packets are known.
        values: The checkpoint's channels.
        versions: Their versions.
        seen: What each node has seen of them.
    """
    found = list(_sent(values.get(TASKS)))
    if old is not None:
        triggers = old.nodes
    else:
        own = [name for name in values if name.startswith(BRANCH)]
        triggers = {name.removeprefix(BRANCH): (name,) for name in own}
    for node, channels in triggers.items():
        there = [name for name in channels if name in values and _is_ready(old, name, values[name])]
        if any(_is_new(name, versions, seen.get(node)) for name in there):
            found.append(Task(node, channels))
    return tuple(found)


def _sent(packets: Any) -> Iterator[Task]:
    for place, packet in enumerate(packets if isinstance(packets, list | tuple) else ()):
        if isinstance(packet, Send):
            yield Task(packet.node, (), place)


def _is_ready(old: Structure | None, channel: str, value: Any) -> bool:
    """Tell whether a channel with a stored value is there for a node."""
    kind = old.kind(channel) if old is not None else None
    if kind is None:
        return True
    if kind.name.endswith(_AFTER_FINISH):
        return isinstance(value, tuple | list) and len(value) > 1 and bool(value[1])
    if kind.names:
        return isinstance(value, set | frozenset) and set(kind.names) <= value
    return True


def _is_new(channel: str, versions: Mapping[str, Any], seen: Mapping[str, Any] | None) -> bool:
    version = versions.get(channel)
    if seen is None or version is None:
        return seen is None
    before = seen.get(channel, type(version)())
    return bool(version > before)
