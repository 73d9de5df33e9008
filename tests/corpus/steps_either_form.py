"""A caller's words are kept as a transcript and as a digest of it.

The price that is quoted is kept as a number and as a text. Each step that needs one of two forms
takes whichever is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import keepset as ks


class Call(TypedDict, total=False):
    question: str
    speaker: str
    transcript: list[str]
    digest: str
    amount_cents: int
    amount_text: str
    reply: str


def condense(transcript: list[str]) -> str:
    return " / ".join(line.split()[-1] for line in transcript)


def listen(state: Call) -> Call:
    transcript = ["Hello there", state["question"]]
    return {"transcript": transcript, "digest": condense(transcript)}


def quote(state: Call) -> Call:
    cents = 250 * len(state["speaker"])
    return {"amount_cents": cents, "amount_text": f"{cents // 100}.{cents % 100:02} EUR"}


def answer(state: Call) -> Call:
    gist = state.get("digest") or condense(state["transcript"])
    return {"reply": f"About {gist}: yes"}


def book(state: Call) -> Call:
    cents = state.get("amount_cents")
    if cents is None:
        cents = int(state["amount_text"].split()[0].replace(".", ""))
    Path("booking.txt").write_text(f"{state['speaker']} {cents}", encoding="utf-8")
    return {}


def build() -> ks.Workflow:
    return ks.Workflow(Call, steps=[listen, quote, answer, book])


INPUT: dict[str, Any] = {"question": "Can you repair a bicycle", "speaker": "Noor"}
OUTPUT = ("reply",)


def observe() -> str:
    booking = Path("booking.txt")
    return booking.read_text(encoding="utf-8") if booking.exists() else ""


TRUTH: dict[str, str] = {
    "question": "not needed",
    "speaker": "needed",
    "transcript": "together",
    "digest": "together",
    "amount_cents": "together",
    "amount_text": "together",
    "reply": "needed",
}
TOGETHER = [{"transcript", "digest"}, {"amount_cents", "amount_text"}]
FIRST = {"speaker": "listen", "reply": "answer"}
WHY: dict[str, str] = {
    "question": "only the first step reads it; the transcript has it from then on",
    "speaker": "quote and book read it",
    "transcript": "answer needs it only where the digest is not there",
    "digest": "answer makes it again from the transcript",
    "amount_cents": "book reads the number off the text where it is missing",
    "amount_text": "book needs it only where the number is missing",
    "reply": "the caller reads it, and the step that makes it is not the last",
}
