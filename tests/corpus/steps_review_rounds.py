"""A writer and a reviewer take two rounds over a text.

What the reviewer asked for matters in the second round only; then the text is published in the tone
that was ordered.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

import keepset as ks


class Piece(BaseModel):
    brief: str
    draft: str = ""
    feedback: str = ""
    round: int = 0
    approved: bool = False
    reviewer: str = "Ann"
    tone: str = "plain"
    published: str = ""


def write(piece: Piece) -> dict[str, Any]:
    if piece.round == 0:
        return {"draft": f"A text about {piece.brief}", "round": 1}
    return {"draft": f"{piece.draft} [{piece.feedback}]", "round": piece.round + 1}


def write_first(piece: Piece) -> dict[str, Any]:
    return write(piece)


def review_first(piece: Piece) -> dict[str, Any]:
    return {"feedback": f"{piece.reviewer}: cut {len(piece.draft)} letters to 10"}


def write_second(piece: Piece) -> dict[str, Any]:
    return write(piece)


def review_second(piece: Piece) -> None:
    piece.approved = "cut" in piece.draft


def publish(piece: Piece) -> dict[str, Any]:
    text = piece.draft if piece.approved else "withdrawn"
    return {"published": f"<{piece.tone}> {text}"}


def build() -> ks.Workflow:
    steps = [write_first, review_first, write_second, review_second, publish]
    return ks.Workflow(Piece, steps=steps)


INPUT: dict[str, Any] = {"brief": "tides", "reviewer": "Ann", "tone": "formal"}
OUTPUT = ("published",)
TRUTH: dict[str, str] = {
    "brief": "needed",
    "draft": "needed",
    "feedback": "needed",
    "round": "needed",
    "approved": "needed",
    "reviewer": "not needed",
    "tone": "needed",
    "published": "not needed",
}
FIRST = {
    "brief": "write_first",
    "draft": "write_first",
    "feedback": "review_first",
    "round": "write_first",
    "approved": "review_second",
    "tone": "write_first",
}
WHY: dict[str, str] = {
    "brief": "it has no default, so a state cannot be built without it",
    "draft": "the reviewer counts its letters, and the second round goes on from it",
    "feedback": "the second round puts it into the text",
    "round": "at its default of 0 the second round would begin afresh, without the feedback",
    "approved": "its default withdraws the text; before the last review it is its default",
    "reviewer": "it was given as what its default is",
    "tone": "it was given as something else than its default, and publish reads it",
    "published": "the last step makes it",
}
