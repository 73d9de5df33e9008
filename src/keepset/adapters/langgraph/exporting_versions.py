"""Versions of channels as LangGraph's own savers count them: texts that rise.

keepset counts in whole numbers and tells the lines of a history apart by themselves. Savers of
LangGraph's that keep channels apart from checkpoints find a value by its channel and its version;
so two lines may never have one version for two values. A number becomes a text that begins with it
and ends with digits of the checkpoint in which it was new, and stays that text in all that follow.
Texts that another saver has made stay as they are.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keepset.adapters.langgraph.versions import FRACTION, WIDTH
from keepset.errors import DecodeError

_DIGITS: Final = 10 ** len(FRACTION)

Table = Mapping[str, Any]
"""Versions by channel."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What is known of the versions of one checkpoint.

    Attributes:
        channels: The version of each channel, as it is written there.
        seen: Those that each node has seen, as they are written there.
        new: The channels whose version is new in this checkpoint.
        given: The versions as they are here.
        restored: Values that were restored, by channel, for those that have the same version later.
    """

    channels: dict[str, Any]
    seen: dict[str, dict[str, Any]]
    new: frozenset[str]
    given: Table
    restored: dict[str, Any] = field(default_factory=dict)


class Lineage:
    """Follows versions along the history of one thread, each checkpoint after its parent."""

    def __init__(self, parents: Iterable[tuple[str, str]]) -> None:
        """Know how often each checkpoint is a parent; it is forgotten after its last child.

        Args:
            parents: Namespace and id of the parent of each checkpoint.
        """
        self._children = Counter(parents)
        self._past: dict[tuple[str, str], Versions] = {}

    def follow(
        self, place: tuple[str, str], parent: str, channels: Table, seen: Mapping[str, Table]
    ) -> Versions:
        """Give the versions of a checkpoint as they are written there.

        Args:
            place: Its namespace and id.
            parent: The id of its parent; empty where it has none.
            channels: The version of each channel.
            seen: The versions that each node has seen.

        Raises:
            DecodeError: ``export.version``: one is no number that can be told as a text.
        """
        namespace, own = place
        before = self._before((namespace, parent))
        past = before.given if before else {}
        told, new = {}, set()
        for channel, version in channels.items():
            if before and past.get(channel) == version:
                told[channel] = before.channels[channel]
            else:
                told[channel] = _told(version, _digits(own))
                new.add(channel)
        known = {
            node: {
                channel: self._seen(channel, version, (channels, told), before)
                for channel, version in table.items()
            }
            for node, table in seen.items()
        }
        made = Versions(told, known, frozenset(new), dict(channels))
        if self._children[place]:
            self._past[place] = made
        return made

    def before(self, namespace: str, parent: str) -> Versions | None:
        """Give the versions of a parent; None where there is none that is known."""
        return self._past.get((namespace, parent))

    def _before(self, place: tuple[str, str]) -> Versions | None:
        found = self._past.get(place)
        if found is not None:
            self._children[place] -= 1
            if self._children[place] <= 0:
                del self._past[place]
        return found

    def _seen(
        self, channel: str, version: Any, now: tuple[Table, Table], before: Versions | None
    ) -> Any:
        """Give the text of a version that a node has seen: that which the channel had then."""
        given, told = now
        if given.get(channel) == version:
            return told[channel]
        if before and before.given.get(channel) == version:
            return before.channels[channel]
        for table in before.seen.values() if before else ():
            text = table.get(channel)
            if text is not None and _number(text) == _number(version):
                return text
        return _told(version, FRACTION)


def _told(version: Any, digits: str) -> str:
    if isinstance(version, str) and not version.endswith(f".{FRACTION}"):
        return version
    return f"{_number(version):0{WIDTH}}.{digits}"


def _number(version: Any) -> int:
    if type(version) is int and version >= 0:
        return version
    if isinstance(version, str):
        number = version.partition(".")[0]
        if number.isdecimal():
            return int(number)
    raise DecodeError(
        "a channel's version is neither a whole number nor a text that begins with one",
        code="export.version",
        hint="The saver that wrote this thread counts in a way of its own.",
    )


def _digits(checkpoint: str) -> str:
    """Give digits that tell checkpoints apart, the same ones each time."""
    digest = hashlib.sha256(checkpoint.encode("utf-8", "surrogatepass")).digest()
    return f"{int.from_bytes(digest[:8], 'big') % _DIGITS:0{len(FRACTION)}}"
