"""What a user of LangGraph can do about what is refused: the ways that a saver and a graph have."""

from __future__ import annotations

import re
from typing import Final

from keepset.errors import KeepsetError, PolicyError

_BIND = "A class that the graph's schemas name is known once the graph is bound: saver.bind(graph)."
_NAME = "With LangGraph: KeepsetSaver(url, types=[…]) names it, bound or not."
RULES: Final = "Rules are read where the graph is bound: saver.bind(graph)."
"""What is said beside any advice to declare a rule, where the graph is not bound."""
_READ = (
    "A bound graph names classes itself: ask its graph.checkpointer, or bind the graph that wrote "
    "it, saver.bind(graph). Else name it: KeepsetSaver(url, types=[cls]), or types={name: cls} "
    "with the name that it is stored under."
)
_GAINED = (
    "Give {fields} of class {cls} a default, with which the thread goes on, or finish the thread "
    "with the code that wrote it; `keepset show` shows what is stored."
)
_LOST = (
    "Put {fields} back into class {cls}, with a default if new code does without, or finish the "
    "thread with the code that wrote it; `keepset show` shows what is stored."
)
_CHANGED = {"decode.missing-field": _GAINED, "decode.unknown-field": _LOST}
"""The way out where a class that a thread holds has gained or lost fields."""
_START = re.compile(r"((?:^|: ))__start__(?:\.|(?=\[))")
"""The input, which LangGraph stores whole, in front of a path in it."""
_BY_FIELDS = "Register it: "
"""What the advice begins with for a class that needs a name and nothing else."""


def advised(error: KeepsetError, *, bound: bool) -> KeepsetError:
    """Give an error with the ways out that LangGraph's users have, by the keys of the state.

    Args:
        error: Any error; one that needs no advice is given back as it is.
        bound: Whether the saver is bound to a graph.
    """
    if error.code in _CHANGED:
        return _hinted(error, _about_class(error))
    if isinstance(error, PolicyError):
        error = _by_keys(error)
    more = []
    if error.code.startswith("policy.") and not bound:
        more = [RULES]
    elif error.code == "codec.unknown-type":
        more += [_NAME] if _BY_FIELDS in error.hint else []
        more += [] if bound else [_BIND]
    elif error.code == "decode.unknown-type":
        more = [_READ]
    if not more or more[0] in error.hint:
        return error
    return _hinted(error, " ".join((error.hint, *more)))


def _by_keys(error: PolicyError) -> PolicyError:
    """Name what is wrong with an input by the key of the state, under which its user knows it."""
    said = _START.sub(r"\1", error.message)
    return error if said == error.message else PolicyError(said, code=error.code, hint=error.hint)


def _about_class(error: KeepsetError) -> str:
    """Name the class and its fields, which the codec's message ends with.

    Its class stands before them, as ``… fields of module.Order: note`` or as
    ``module.Order lacks fields …: note``.
    """
    words, _, fields = error.message.rpartition(": ")
    said = words.rpartition(": ")[2].split(" ")
    cls = said[-1] if error.code == "decode.missing-field" else said[0]
    return _CHANGED[error.code].format(cls=cls.rpartition(".")[2], fields=fields)


def _hinted(error: KeepsetError, hint: str) -> KeepsetError:
    return type(error)(error.message, code=error.code, hint=hint, retryable=error.retryable)
