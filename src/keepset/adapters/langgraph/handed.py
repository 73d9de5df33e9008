"""Pictures of what tasks have written, from when they end until it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from keepset.adapters.langgraph.restoring import WHOLE
from keepset.codec import Codec
from keepset.errors import PolicyError
from keepset.plan.pictured import Pictured, take
from keepset.run.hosted import Surface
from keepset.run.pending import look_early

ATOMS: Final = frozenset({type(None), bool, int, float, complex, str, bytes})
"""What nobody can change."""
RETURN: Final = "__return__"
_ATTEMPTS: Final = 8
"""How often a picture is tried of what another task changes at that moment."""

Picture: TypeAlias = Callable[[str, Any], Any]
"""Takes a picture of a channel's value; gives the value itself where it cannot change."""


class Handed:
    """Pictures of what the tasks of a call have written, until it is stored; any thread uses it."""

    __slots__ = ("_ended", "_nodes", "_pictures")

    def __init__(self) -> None:
        """Begin with none."""
        self._pictures: dict[str, dict[int, tuple[object, Any]]] = {}
        self._nodes: dict[tuple[str, str], str] = {}
        self._ended: dict[tuple[str, int], list[str]] = {}

    def keep(self, task: str, value: object, picture: Any) -> None:
        """Keep a picture of what a task wrote.

        Args:
            task: Id of the task; empty for what nobody else gives the same object of, and what may
                be asked for more than once.
            value: The object, by which it is known again.
            picture: The picture, or a value that nobody else has.
        """
        self._pictures.setdefault(task, {})[id(value)] = (value, picture)

    def taken(self, task: str, writes: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Give what a task wrote, and pictures in place of what may have changed since."""
        own, any_time = self._pictures.pop(task, {}), self._pictures.get("", {})
        found = []
        for channel, value in writes:
            known = own.get(id(value)) or any_time.get(id(value))
            is_it = known is not None and known[0] is value
            found.append((channel, known[1] if known is not None and is_it else value))
        return found

    def refuse(self, task: str, channel: str, node: str) -> None:
        """Take note of the node that wrote to a channel what cannot be stored."""
        self._nodes[task, channel] = node

    def ended(self, task: str, within: str, step: int) -> None:
        """Take note that a task has ended, of whose writes those of the last step will be stored.

        Pictures of what the steps before have written are given up, and of what was written inside
        the task.

        Args:
            task: Its id.
            within: The namespace of what is inside it, as ``around:id|node:task``.
            step: The step of its graph.
        """
        around = within.rpartition("|")[0]
        self._ended.setdefault((around, step), []).append(task)
        for place in [*self._ended]:
            before = place[0] == around and place[1] != step
            if before or (within and f"{place[0]}|".startswith(f"{within}|")):
                for gone in self._ended.pop(place, ()):
                    self._pictures.pop(gone, None)

    def node(self, *, task: str | None = None, channel: str | None = None) -> str:
        """Give the node that wrote what cannot be stored; empty where that is not known."""
        for (by, to), node in [*self._nodes.items()]:
            if by == (by if task is None else task) and to == (to if channel is None else channel):
                return node
        return ""


@contextmanager
def by_node(node: str) -> Iterator[None]:
    """Name the node, where it is known, in a refusal of what it wrote."""
    try:
        yield
    except PolicyError as error:
        raise (error.within(f"node {node}") if node else error) from error.__cause__


def hand(  # noqa: PLR0913 - what was written, by whom, and who takes and looks
    handed: Handed,
    by: tuple[str, str],
    channel: str,
    value: Any,
    picture: Picture,
    *,
    surface: Surface | None = None,
) -> None:
    """Keep a picture of what a task wrote to a channel.

    What cannot be stored is left to the channel and to the saver, which refuse it.

    Args:
        handed: The pictures of a call.
        by: Id of the task, empty for what is known again by itself; and its node.
        channel: The channel.
        value: What it wrote.
        picture: Takes a picture of a channel's value.
        surface: Looks at the value as well, where it will be stored at once.
    """
    if type(value) in ATOMS:
        return
    for _ in range(_ATTEMPTS):
        try:
            taken = picture(channel, value)
            if surface is not None and channel not in WHOLE and isinstance(taken, Pictured):
                look_early(surface, channel, value, taken)
        except PolicyError:
            handed.refuse(by[0], channel, by[1])
            return
        except RuntimeError:  # another task of the same step changes it at this moment
            continue
        if taken is not value:
            handed.keep(by[0], value, taken)
        return


def pictured_by(codec: Codec) -> Picture:
    """Give what takes a picture of any value."""

    def picture(channel: str, value: Any) -> Any:
        return value if type(value) in ATOMS else take(value, (channel,), codec)

    return picture
