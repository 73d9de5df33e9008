"""What a user of LangGraph can do about a class that is not known: the ways that a saver has."""

from __future__ import annotations

from keepset.errors import KeepsetError

_BIND = "A class that the graph's schemas name is known once the graph is bound: saver.bind(graph)."
_NAME = "With LangGraph: KeepsetSaver(url, types=[…]) names it, bound or not."
_READ = (
    "A bound graph names classes itself: ask its graph.checkpointer, or bind the graph that wrote "
    "it, saver.bind(graph). Else name it as it is stored: KeepsetSaver(url, types={name: cls})."
)
_BY_FIELDS = "Register it: "
"""What the advice begins with for a class that needs a name and nothing else."""


def advised(error: KeepsetError, *, bound: bool) -> KeepsetError:
    """Give an error about a class that is not known with the ways out that LangGraph's users have.

    Args:
        error: Any error; one about something else is given back as it is.
        bound: Whether the saver is bound to a graph.
    """
    more = []
    if error.code == "codec.unknown-type":
        more += [_NAME] if _BY_FIELDS in error.hint else []
        more += [] if bound else [_BIND]
    elif error.code == "decode.unknown-type":
        more = [_READ]
    if not more or more[0] in error.hint:
        return error
    hint = " ".join((error.hint, *more))
    return type(error)(error.message, code=error.code, hint=hint, retryable=error.retryable)
