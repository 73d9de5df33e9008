"""What LangGraph keeps to itself, and what older releases do not have.

There, nothing is an instance of a class that is absent.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence, Sequence
from typing import Any, Final

from langgraph import channels, types
from langgraph._internal._fields import get_cached_annotated_keys, get_update_as_tuples

try:
    from langgraph.pregel._messages import ensure_message_ids as _ensure_message_ids
except ImportError:  # an older release gives messages their ids elsewhere
    _ensure_message_ids = None  # type: ignore[assignment] # the same name, of which nothing is there


class _Absent:
    """Stands for a class that the installed release lacks."""


Overwrite: Final[Any] = getattr(types, "Overwrite", _Absent)
DeltaChannel: Final[Any] = getattr(channels, "DeltaChannel", _Absent)


def ensure_message_ids(given: Mapping[str, Any], writes: MutableSequence[tuple[str, Any]]) -> None:
    """Give the messages that are written to DeltaChannels their ids, as LangGraph will.

    Args:
        given: The graph's channels.
        writes: Pairs of channel and value; one that changes is replaced.
    """
    if _ensure_message_ids is not None:
        _ensure_message_ids(given, writes)


def annotated_keys(cls: type) -> Sequence[str]:
    """Give the keys by which LangGraph reads an instance of a class as an update of a state."""
    return get_cached_annotated_keys(cls)


def updates_of(instance: Any, keys: Sequence[str]) -> Sequence[tuple[str, Any]]:
    """Give what an instance updates of a state, as LangGraph itself reads it."""
    return get_update_as_tuples(instance, keys)
