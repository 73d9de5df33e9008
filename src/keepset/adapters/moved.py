"""What became of runs that are moved from one store to another: one value for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Outcome(StrEnum):
    """What became of a run; in a dry run, what would."""

    TAKEN = "taken"
    """It is there now, whole."""
    THERE = "there"
    """It was there already, and is the same."""
    AHEAD = "ahead"
    """It was there already, and has gone on there since."""
    GROWN = "grown"
    """It was there already, and has gone on where it comes from; nothing was changed."""
    DIFFERS = "differs"
    """It was there already and is another one, or both have gone on; nothing was changed."""
    LEFT = "left"
    """It cannot be taken, so that nothing of it was."""
    UNREAD = "unread"
    """It could not be read, or what was written is not what was read; nothing is there of it."""


FINE: Final = frozenset({Outcome.TAKEN, Outcome.THERE, Outcome.AHEAD})
"""The outcomes after which nothing is left to do."""


_NOTHING: Final[Mapping[tuple[str, str], int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A value that cannot be taken over, by its place; the value itself is told nowhere.

    Attributes:
        checkpoint: The checkpoint that it belongs to.
        namespace: Of the graph inside that it belongs to; empty for the outer one.
        surface: Where its host let it in: ``state``, ``write``, ``metadata`` …
        path: Where it lies: ``messages[3].client``.
        why: What is the matter with it.
        is_needed: Whether a resume would read it.
    """

    checkpoint: str
    namespace: str
    surface: str
    path: str
    why: str
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of one run.

    Attributes:
        run: Its id.
        outcome: What became of it.
        checkpoints: How many of its checkpoints were moved or compared.
        size: Bytes that were read of it.
        why: What a person should know of it; empty where there is nothing.
        hint: What can be done about it.
        left: Values of it that cannot be taken, at most so many as are told.
        more: How many such values there are beside those.
        withheld: Secrets that are not in what was written: how often, by kind and place.
        metadata: Keys of metadata that nobody asked for, so that they stay behind.
    """

    run: str
    outcome: Outcome
    checkpoints: int = 0
    size: int = 0
    why: str = ""
    hint: str = ""
    left: tuple[LeftOut, ...] = ()
    more: int = 0
    withheld: Mapping[tuple[str, str], int] = field(default_factory=lambda: _NOTHING)
    metadata: tuple[str, ...] = ()
