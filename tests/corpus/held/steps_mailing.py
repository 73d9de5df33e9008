"""A model writes a greeting for each reader of a newsletter, and the mails go out in two halves.

The greetings are checked before the second half where nobody says that they were.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import keepset as ks


@dataclass
class Mailing:
    audience: list[str]
    cache: dict[str, str] = field(default_factory=dict)
    position: int = 0
    charged: bool = False
    verified: bool = False
    batch_size: int = 2
    summary: str = ""


def check(greetings: dict[str, str]) -> bool:
    return all(greeting.isprintable() for greeting in greetings.values())


def mail(state: Mailing, end: int) -> None:
    with Path("outbox.txt").open("a", encoding="utf-8") as outbox:
        names = state.audience[state.position : end]
        outbox.writelines(f"{state.cache.get(name, 'Hello')}\n" for name in names)


def prepare(state: Mailing) -> None:
    state.cache = {name: f"{name}, we thought of you" for name in state.audience}
    state.charged = True
    state.verified = check(state.cache)


def send_first_half(state: Mailing) -> dict[str, Any]:
    mail(state, state.batch_size)
    return {"position": state.batch_size}


def send_second_half(state: Mailing) -> dict[str, Any]:
    if not state.verified and not check(state.cache):
        raise ValueError
    mail(state, len(state.audience))
    return {"position": len(state.audience)}


def report(state: Mailing) -> dict[str, Any]:
    return {"summary": f"mailed {len(state.audience)} readers"}


def build() -> ks.Workflow:
    steps = [prepare, send_first_half, send_second_half, report]
    return ks.Workflow(Mailing, steps=steps)


INPUT: dict[str, Any] = {"audience": ["Ada", "Bo", "Cy", "Di"], "batch_size": 2}
OUTPUT = ("summary",)


def observe() -> list[str]:
    outbox = Path("outbox.txt")
    return outbox.read_text(encoding="utf-8").splitlines() if outbox.exists() else []


TRUTH: dict[str, str] = {
    "audience": "needed",
    "cache": "needed",
    "position": "needed",
    "charged": "not needed",
    "verified": "not needed",
    "batch_size": "not needed",
    "summary": "not needed",
}
FIRST = {"audience": "prepare", "cache": "prepare", "position": "send_first_half"}
WHY: dict[str, str] = {
    "audience": "it has no default, so a state cannot be built without it",
    "cache": "no step writes the greetings again: without them everybody gets a plain one",
    "position": "without it the first half is mailed twice; the final state does not show it",
    "charged": "nobody reads it",
    "verified": "without it the greetings are checked once more, with the same outcome",
    "batch_size": "it was given as what its default is",
    "summary": "the last step makes it",
}
