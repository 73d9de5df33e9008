"""The histories that every system saves: what each step changes, and the state after it.

Text comes from an order-2 word chain over the topics of `pydoc`, which are on every Python
installation: it compresses as prose does, where random letters would not and one sentence again
and again would too well. Everything follows from a fixed seed and the Python version.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from pydoc_data.topics import topics
from typing import Any
from uuid import UUID

SEED = 20_261_129
MESSAGE = 1_120
"""Characters of a message's text; with its id and metadata a message packs to about 1.3 KB."""
DOCUMENT = 25_000
"""Characters of a document's text."""
DRAFT = 20_000
"""Characters of a draft."""
QUESTION = 120
IDS = 40
FLAGS = 200
WINDOW = 50
"""Messages that are in the state under "trim"."""
NOTES = 20
"""Times that the rare field changes, however many steps there are."""

State = dict[str, Any]
Change = Mapping[str, Any]


class How(Enum):
    """How a step changes a field."""

    APPEND = "append"
    SLIDE = "slide"
    MERGE = "merge"
    REPLACE = "replace"


@dataclass(frozen=True, eq=False)
class History:
    """A run from its beginning to its end.

    Attributes:
        name: Name of the workload.
        start: The state before the first step.
        changes: For each step, field -> items to append, entries to set, or a new value.
        fields: How each field changes that a step changes.
    """

    name: str
    start: State
    changes: tuple[Change, ...]
    fields: Mapping[str, How]

    def begin(self) -> State:
        """Give a state of one's own to change in place."""
        return copy.deepcopy(self.start)

    def apply(self, state: State, change: Change) -> None:
        """Change a state in place, as a step does."""
        for field, new in change.items():
            how = self.fields[field]
            if how is How.REPLACE:
                state[field] = new
            elif how is How.MERGE:
                state[field].update(new)
            else:
                state[field].extend(new)
                if how is How.SLIDE:
                    del state[field][: len(new)]

    def after(self, steps: int) -> State:
        """Give the state after so many steps."""
        state = self.begin()
        for change in self.changes[:steps]:
            self.apply(state, change)
        return state


class Chain:
    """An order-2 word chain: each word follows two others as it does in the text it learnt.

    Only `random.Random.random` is used, the one method whose numbers Python promises for a seed.

    Args:
        seed: Whatever is written follows from it.
    """

    def __init__(self, seed: int = SEED) -> None:
        """Learn the topics of `pydoc`."""
        self._random = random.Random(seed)  # noqa: S311 - text for a measurement, no secret
        self._pairs, self._followers = _learnt()
        self._pair = self._any(self._pairs)

    def text(self, characters: int) -> str:
        """Write so many characters of text, cut at the end."""
        words: list[str] = []
        length = 0
        while length <= characters:
            following = self._followers.get(self._pair)
            if not following:
                self._pair = self._any(self._pairs)
                continue
            word = self._any(following)
            self._pair = (self._pair[1], word)
            words.append(word)
            length += len(word) + 1
        return " ".join(words)[:characters]

    def number(self, below: int) -> int:
        """Draw a number from 0 on."""
        return int(self._random.random() * below)

    def _any(self, choices: Any) -> Any:
        return choices[self.number(len(choices))]


@lru_cache(maxsize=1)
def _learnt() -> tuple[list[tuple[str, str]], dict[tuple[str, str], list[str]]]:
    words = [word for name in sorted(topics) for word in topics[name].split()]
    followers: dict[tuple[str, str], list[str]] = {}
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        followers.setdefault((first, second), []).append(third)
    return list(followers), followers


def lean(steps: int) -> History:
    """What belongs in a checkpoint: a question, ids, messages, a counter, flags."""
    chain = Chain()
    start = {
        "question": chain.text(QUESTION),
        "ids": [f"doc-{chain.number(10**9):09}" for _ in range(IDS)],
        "messages": [],
        "counter": 0,
        "flags": {f"flag_{i:03}": False for i in range(FLAGS)},
    }
    changes = tuple(_lean_steps(chain, steps))
    fields = {"messages": How.APPEND, "counter": How.REPLACE, "flags": How.MERGE}
    return History("lean", start, changes, fields)


def _lean_steps(chain: Chain, steps: int) -> Iterator[Change]:
    flags = [False] * FLAGS
    for step in range(1, steps + 1):
        flag = chain.number(FLAGS)
        flags[flag] = not flags[flag]
        yield {
            "messages": [_message(chain, step)],
            "counter": step,
            "flags": {f"flag_{flag:03}": flags[flag]},
        }


def append_only(steps: int) -> History:
    """The same history for a contract that declares the messages as append-only."""
    return replace(lean(steps), name="append_only")


def naive(steps: int) -> History:
    """The same with what does not belong: the documents' text and the whole response object."""
    history = lean(steps)
    chain = Chain(SEED + 1)
    documents = [{"id": one, "text": chain.text(DOCUMENT)} for one in history.start["ids"]]
    start = {**history.start, "documents": documents, "response": None}
    changes = tuple(
        {**change, "response": _response(chain, change["messages"][0])}
        for change in history.changes
    )
    fields = {**history.fields, "response": How.REPLACE}
    return History("naive", start, changes, fields)


def drafts(steps: int) -> History:
    """A long text that is written anew in each step."""
    chain = Chain()
    start = {"question": chain.text(QUESTION), "counter": 0, "draft": ""}
    changes = tuple({"counter": i, "draft": chain.text(DRAFT)} for i in range(1, steps + 1))
    return History("drafts", start, changes, {"counter": How.REPLACE, "draft": How.REPLACE})


def rare(steps: int) -> History:
    """A field that changes twenty times, beside one that changes in every step."""
    chain = Chain()
    start = {"question": chain.text(QUESTION), "counter": 0, "notes": []}
    every = max(1, steps // NOTES)
    changes = tuple(
        {"counter": i, **({"notes": [_message(chain, i)]} if i % every == 0 else {})}
        for i in range(1, steps + 1)
    )
    return History("rare", start, changes, {"counter": How.REPLACE, "notes": How.APPEND})


def trim(steps: int) -> History:
    """A window over the newest messages: the head of the list is dropped, a tail added."""
    chain = Chain()
    window = [_message(chain, i - WINDOW) for i in range(1, WINDOW + 1)]
    start = {"question": chain.text(QUESTION), "counter": 0, "messages": window}
    changes = tuple({"counter": i, "messages": [_message(chain, i)]} for i in range(1, steps + 1))
    return History("trim", start, changes, {"counter": How.REPLACE, "messages": How.SLIDE})


MAKERS = {maker.__name__: maker for maker in (lean, append_only, naive, drafts, rare, trim)}


@lru_cache(maxsize=2)
def history(name: str, steps: int) -> History:
    """Make a history; the last two are remembered."""
    return MAKERS[name](steps)


def _message(chain: Chain, number: int) -> dict[str, Any]:
    """A message; every other one carries what the provider of the model told of it.

    Its key is ``author``, since LangGraph makes objects of its own of what has a ``role`` or a
    ``type`` in a DeltaChannel, which costs it three times the time and is another state.
    """
    message = {
        "id": _uuid(chain),
        "author": "assistant" if number % 2 else "user",
        "content": chain.text(MESSAGE),
    }
    return {**message, **_metadata(chain)} if number % 2 else message


def _metadata(chain: Chain) -> dict[str, Any]:
    return {
        "usage_metadata": _usage(chain),
        "response_metadata": {
            "model_name": "a-model-2026-01",
            "finish_reason": "stop",
            "id": f"resp-{_uuid(chain)}",
        },
    }


def _uuid(chain: Chain) -> str:
    digits = "".join(f"{chain.number(1 << 32):08x}" for _ in range(4))
    return str(UUID(hex=digits, version=4))


def _usage(chain: Chain) -> dict[str, Any]:
    read, written = 200 + chain.number(4000), 50 + chain.number(600)
    return {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
        "input_token_details": {"cache_read": chain.number(read)},
        "output_token_details": {"reasoning": chain.number(written)},
    }


def _response(chain: Chain, message: Mapping[str, Any]) -> dict[str, Any]:
    """What a provider of models answers, of which the message is the part that is needed."""
    return {
        "id": f"resp-{_uuid(chain)}",
        "object": "chat.completion",
        "created": 1_760_000_000 + chain.number(10**7),
        "model": "a-model-2026-01",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": message["content"]},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": _usage(chain),
        "system_fingerprint": f"fp_{chain.number(16**10):010x}",
    }
