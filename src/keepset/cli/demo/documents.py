"""Real documents that are on every Python installation: the topics of `pydoc`, in passages."""

from __future__ import annotations

from pydoc_data.topics import topics
from typing import TypedDict

PASSAGE = 4_000
"""Characters after which a passage ends at the next blank line."""
SHORTEST = 2_000
"""Characters below which a passage is not worth retrieving."""


class Document(TypedDict):
    """One passage.

    Attributes:
        id: ``<topic>/<number>``, such as ``with/1``.
        title: The topic.
        text: The passage, 2 KB and more.
    """

    id: str
    title: str
    text: str


def library() -> list[Document]:
    """Cut all topics into passages, in the order of their ids; over 90 of 4 KB and more."""
    return [
        Document(id=f"{topic}/{number}", title=topic, text=text)
        for topic in sorted(topics)
        for number, text in enumerate(_passages(topics[topic]), 1)
    ]


def _passages(text: str) -> list[str]:
    passages: list[str] = []
    piece = ""
    for paragraph in text.split("\n\n"):
        piece = f"{piece}\n\n{paragraph}" if piece else paragraph
        if len(piece) >= PASSAGE:
            passages.append(piece)
            piece = ""
    return [*passages, piece] if len(piece) >= SHORTEST else passages
