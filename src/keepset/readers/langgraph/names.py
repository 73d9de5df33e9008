"""The names that LangGraph gives to what it stores, and what they say."""

from __future__ import annotations

from typing import Final

from keepset.readers.ports import Surface

CHECKPOINT: Final = "checkpoint"
"""The field of a checkpoint that can only be told of as a whole."""

SENDS: Final = "__pregel_tasks"
"""The channel of what nodes are sent."""

COUNTED: Final = ("langgraph#versions", "langgraph#seen")
"""The fields in which a store of ours has versions by the names of channels."""

_SURFACES: Final[dict[str, Surface]] = {
    "__start__": "input",
    "__error__": "error",
    "__interrupt__": "interrupt",
    "__resume__": "resume",
}
_LEFT_TO_DO: Final = ("branch:", "start:")


def surface(channel: str, otherwise: Surface) -> Surface:
    """Tell where a value was let in, by the channel that it stands in."""
    return _SURFACES.get(channel, otherwise)


def is_next(channel: str) -> bool:
    """Tell whether a channel that has a value is one that starts a node."""
    return channel == "__start__" or channel.startswith(_LEFT_TO_DO)


def is_unsettled(channel: str) -> bool:
    """Tell whether a pending write is a question without an answer, or an error."""
    return channel in ("__interrupt__", "__error__")
