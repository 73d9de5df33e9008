"""Let a thread that waits at a node go on at the node that has taken its place.

LangGraph makes the id of a task out of its node's name and of what triggers the node, and the id of
an interrupt out of the task's. After a change of either, what was stored for a task belongs to none
any more, a human's answer among it. Here the ids are made once as the graph that wrote the thread
made them and once as the present one does, and what is stored is handed on under the new ones.

The ids are those of `langgraph.pregel._algo` (``prepare_single_task``, ``prepare_push_task_send``)
and `langgraph.types` (``_interrupt_id``).
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.types import Interrupt, Send
from xxhash import xxh3_128_hexdigest

from keepset.adapters.langgraph.checkpoints import OWN
from keepset.adapters.langgraph.graph import BRANCH, Structure
from keepset.adapters.langgraph.standing import TASKS, Task
from keepset.errors import UsageError

_JOIN: Final = "join:"
_INTERRUPT: Final = "__interrupt__"
_FAILED_NODE: Final = "__error_source_node__"
_HASHED_SHORT: Final = 1
"""Up to this version of a checkpoint, ids of tasks are made with SHA-1."""

_ID: Final = re.compile("[0-9a-f]{32}")
_MOST: Final = 64
"""How many questions a task asks at the most: an id is found by trying their places."""

Write = tuple[str, str, Any]


class Renames:
    """Which nodes had other names."""

    def __init__(self, renamed: Mapping[str, str], nodes: Iterable[str]) -> None:
        """Take what was declared.

        Args:
            renamed: The present name of each node, by the one that it had.
            nodes: The nodes that there are, those of the graphs inside included.

        Raises:
            UsageError: ``langgraph.renamed``: a new name is no node, or an old one still is.
        """
        there = frozenset(nodes)
        for old, new in renamed.items():
            if new not in there or old in there:
                what = f"has no node {new}" if new not in there else f"still has a node {old}"
                raise UsageError(
                    f"renamed says that {old} is {new} now, but the graph {what}",
                    code="langgraph.renamed",
                    hint='Write the old name first: renamed={"approve": "review"}.',
                )
        self._new = dict(renamed)
        self._present = frozenset(renamed.values())

    def __bool__(self) -> bool:
        """Tell whether anything was declared."""
        return bool(self._new)

    def node(self, name: str) -> str:
        """Give the present name of a node."""
        return self._new.get(name, name)

    def is_new(self, name: str) -> bool:
        """Tell whether a node had another name."""
        return name in self._present

    def channel(self, name: str) -> str:
        """Give the present name of a channel, which may be called after nodes."""
        if not self._new:
            return name
        if name.startswith(BRANCH):
            return BRANCH + self.node(name.removeprefix(BRANCH))
        if name.startswith(_JOIN) and name.count(":") > 1:
            starts, _, end = name.removeprefix(_JOIN).partition(":")
            return f"{_JOIN}{'+'.join(map(self.node, starts.split('+')))}:{self.node(end)}"
        return name

    def namespace(self, name: str) -> str:
        """Give a namespace with the present names of its nodes; ids of tasks stay."""
        parts = (part.partition(":") for part in name.split("|"))
        return "|".join(self.node(node) + colon + rest for node, colon, rest in parts)


@dataclass(frozen=True)
class Moved:
    """One task that has another id now.

    Attributes:
        old: The id that it had.
        new: The id that it has.
        was_in: The namespace of what ran inside it.
        is_in: That namespace now.
    """

    old: str
    new: str
    was_in: str
    is_in: str


def moved_tasks(
    tasks: Iterable[Task], now: Structure, renames: Renames, place: Place
) -> Iterator[Moved]:
    """Give the tasks of a checkpoint whose ids are others in the present graph."""
    for task in tasks:
        node = renames.node(task.node)
        if node in now.nodes:
            was = _ids(place, place.stored, task.node, task.push, task.triggers)
            is_now = _ids(place, place.asked, node, task.push, now.nodes[node])
            if was != is_now:
                yield Moved(was[0], is_now[0], was[1], is_now[1])


@dataclass(frozen=True)
class Place:
    """What the ids of a checkpoint's tasks are made of beside their nodes.

    Attributes:
        checkpoint: The checkpoint's id.
        version: Its ``v``.
        step: The step that comes after it.
        stored: The namespace in which it lies.
        asked: The namespace as the present graph calls it.
    """

    checkpoint: str
    version: int
    step: int
    stored: str
    asked: str


def ids_of(task: Task, place: Place) -> tuple[str, str]:
    """Give a task's id, and the namespace of what runs inside it, as they are stored."""
    return _ids(place, place.stored, task.node, task.push, task.triggers)


def _ids(
    place: Place, above: str, node: str, push: int | None, triggers: Sequence[str]
) -> tuple[str, str]:
    inside = f"{above}|{node}" if above else node
    how = ("__pregel_pull", *triggers) if push is None else ("__pregel_push", str(push))
    text = "".join((inside, str(place.step), node, *how))
    hashed = binascii.unhexlify(place.checkpoint.replace("-", "")) + text.encode()
    if place.version > _HASHED_SHORT:
        digest = xxh3_128_hexdigest(hashed)
    else:
        digest = hashlib.sha1(hashed, usedforsecurity=False).hexdigest()
    parts = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])
    task = "-".join(parts)
    return task, f"{inside}:{task}"


def moved_checkpoint(checkpoint: Mapping[str, Any], renames: Renames) -> dict[str, Any]:
    """Give a checkpoint in which nodes, and channels called after them, are called as they are."""
    values = {
        renames.channel(name): _moved_value(name, value, renames)
        for name, value in checkpoint["channel_values"].items()
    }
    seen = {
        renames.node(node): {renames.channel(name): version for name, version in versions.items()}
        for node, versions in checkpoint["versions_seen"].items()
    }
    moved = {
        **checkpoint,
        "channel_values": values,
        "channel_versions": {
            renames.channel(name): version
            for name, version in checkpoint["channel_versions"].items()
        },
        "versions_seen": seen,
    }
    updated = checkpoint.get("updated_channels")
    if updated is not None:
        moved["updated_channels"] = sorted(map(renames.channel, updated))
    return moved


def _moved_value(channel: str, value: Any, renames: Renames) -> Any:
    if channel == TASKS and isinstance(value, list | tuple):
        return [_moved_packet(packet, renames) for packet in value]
    if channel.startswith(_JOIN) and isinstance(value, set):
        return {renames.node(name) for name in value}
    if channel.startswith(_JOIN) and isinstance(value, tuple) and isinstance(value[0], set):
        return ({renames.node(name) for name in value[0]}, *value[1:])
    return value


def _moved_packet(packet: Any, renames: Renames) -> Any:
    if not isinstance(packet, Send) or renames.node(packet.node) == packet.node:
        return packet
    timeout = getattr(packet, "timeout", None)
    more = {} if timeout is None else {"timeout": timeout}
    return Send(renames.node(packet.node), packet.arg, **more)


def moved_writes(writes: Sequence[Write], tasks: Sequence[Moved], renames: Renames) -> list[Write]:
    """Give pending writes under the present ids and names.

    What a task has written under its present id stands before what it wrote under the other.
    """
    by_id = {task.old: task for task in tasks}
    own = {(task, _slot(channel)) for task, channel, _ in writes}
    given: list[Write] = []
    for task, channel, value in writes:
        moved = by_id.get(task)
        called = moved.new if moved is not None else task
        if moved is not None and (called, _slot(channel)) in own:
            continue
        given.append(
            (called, renames.channel(channel), _moved_write(channel, value, moved, renames))
        )
    return given


def _slot(channel: str) -> str:
    """Give what a write takes the place of: a special one that of its channel."""
    return channel if channel in WRITES_IDX_MAP or channel.startswith(OWN) else ""


def _moved_write(channel: str, value: Any, moved: Moved | None, renames: Renames) -> Any:
    if channel == TASKS:
        return _moved_packet(value, renames)
    if channel == _FAILED_NODE and isinstance(value, str):
        return renames.node(value)
    if channel == _INTERRUPT and moved is not None and isinstance(value, list | tuple):
        return [_moved_interrupt(one, moved) for one in value]
    if channel.startswith(_JOIN) and isinstance(value, str):
        return renames.node(value)
    return value


def _moved_interrupt(one: Any, moved: Moved) -> Any:
    called = _moved_id(one.id, moved) if isinstance(one, Interrupt) else None
    return one if called is None else replace(one, id=called)


def _moved_id(name: str, moved: Moved) -> str | None:
    for place in range(_MOST):
        if name == interrupt_id(moved.was_in, place):
            return interrupt_id(moved.is_in, place)
    return None


def moved_ids(writes: Sequence[Write], tasks: Sequence[Moved]) -> Iterator[tuple[str, str]]:
    """Give the present id of each interrupt that has another now, with the one that it had."""
    by_id = {task.old: task for task in tasks}
    for task, channel, value in writes:
        if task in by_id and channel == _INTERRUPT and isinstance(value, list | tuple):
            for one in value:
                called = _moved_id(one.id, by_id[task]) if isinstance(one, Interrupt) else None
                if called is not None:
                    yield called, one.id


def answers_in(given: object) -> dict[str, Any]:
    """Give a resume value if it is a mapping of answers by the ids of interrupts; none else."""
    found = given if isinstance(given, dict) else {}
    by_id = all(isinstance(one, str) and _ID.fullmatch(one) for one in found)
    return found if by_id else {}


class Answers(dict[str, Any]):
    """Answers by the ids of interrupts, found under the ids that they have now as well.

    A human answers the question that was shown, under the id that was shown with it.
    """

    def __init__(self, given: Mapping[str, Any], former: Mapping[str, str]) -> None:
        """Take the answers, and the former ids of interrupts by their present ones."""
        super().__init__(given)
        self._former = former

    def __contains__(self, key: object) -> bool:
        """Tell whether there is an answer, under the present or the former id."""
        return super().__contains__(key) or super().__contains__(self._former.get(str(key)))

    def __getitem__(self, key: str) -> Any:
        """Give an answer, under the present or the former id."""
        return super().__getitem__(key if super().__contains__(key) else self._former[key])


def interrupt_id(inside: str, answered: int) -> str:
    """Give the id of a task's interrupt, by the namespace inside the task and its place."""
    return xxh3_128_hexdigest((f"{inside}|{answered}" if answered else inside).encode())
