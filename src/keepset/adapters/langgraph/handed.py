"""Pictures of what tasks have written, from when they end until it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from keepset.codec import Codec
from keepset.errors import PolicyError
from keepset.plan.pictured import shown, take

ATOMS: Final = frozenset({type(None), bool, int, float, complex, str, bytes})
"""What nobody can change."""
RETURN: Final = "__return__"
_ATTEMPTS: Final = 8
"""How often a picture is tried of what another task changes at that moment."""

Picture: TypeAlias = Callable[[str, Any], Any]
"""Takes a picture of a channel's value; gives the value itself where it cannot change."""


class Handed:
    """Pictures of what the tasks of a call have written, until it is stored; any thread uses it."""

    __slots__ = ("_nodes", "_pictures", "_wrote")

    def __init__(self) -> None:
        """Begin with none."""
        self._pictures: dict[str, dict[int, tuple[object, Any]]] = {}
        self._nodes: dict[tuple[str, str], str] = {}
        self._wrote: list[tuple[int, str, str, Any, Picture]] = []

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
        """Give what a task wrote as it was, where a picture was taken."""
        own, any_time = self._pictures.pop(task, {}), self._pictures.get("", {})
        found = []
        for channel, value in writes:
            known = own.get(id(value)) or any_time.get(id(value))
            is_it = known is not None and known[0] is value
            found.append((channel, shown(known[1]) if known is not None and is_it else value))
        return found

    def refuse(self, task: str, channel: str, node: str) -> None:
        """Take note of the node that wrote to a channel what cannot be stored."""
        self._nodes[task, channel] = node

    def note(self, step: int, channel: str, node: str, value: Any, picture: Picture) -> None:
        """Take note of what a node of the present step writes, of which no picture is taken."""
        if self._wrote and self._wrote[0][0] != step:
            self._wrote = []
        self._wrote.append((step, channel, node, value, picture))

    def node(self, *, task: str | None = None, channel: str | None = None) -> str:
        """Give the node that wrote what cannot be stored; empty where that is not known."""
        for _, to, node, value, picture in [*self._wrote] if channel else ():
            if to == channel:
                hand(self, ("", node), to, value, picture)
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


def hand(handed: Handed, by: tuple[str, str], channel: str, value: Any, picture: Picture) -> None:
    """Keep a picture of what a task wrote to a channel.

    What cannot be stored is left to the channel and to the saver, which refuse it.

    Args:
        handed: The pictures of a call.
        by: Id of the task, empty for what is known again by itself; and its node.
        channel: The channel.
        value: What it wrote.
        picture: Takes a picture of a channel's value.
    """
    for _ in range(_ATTEMPTS):
        try:
            taken = picture(channel, value)
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
