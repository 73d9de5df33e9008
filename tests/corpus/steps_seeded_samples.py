"""Two examples for a prompt are drawn with a seeded generator.

Each draw sets it up anew and winds it on to where the draw before it stopped. Then a model is
asked, after a pause by chance.
"""

from __future__ import annotations

import random
from typing import Any, TypedDict

import keepset as ks

PIN = ("random",)
POOL = ["red", "green", "blue", "black", "white", "grey", "pink", "teal"]


class Prompt(TypedDict, total=False):
    seed: int
    draws: int
    examples: list[str]
    temperature: float
    jitter: float
    answer: str


def draw(state: Prompt) -> Prompt:
    generator = random.Random(state["seed"])  # noqa: S311 - examples are drawn, no secret is made
    drawn = state.get("draws", 0)
    for _ in range(drawn):
        generator.random()
    example = POOL[int(generator.random() * len(POOL))]
    return {"examples": [*state.get("examples", []), example], "draws": drawn + 1}


def draw_first(state: Prompt) -> Prompt:
    return draw(state)


def draw_second(state: Prompt) -> Prompt:
    return draw(state)


def ask(state: Prompt) -> Prompt:
    warm = "warmly" if state.get("temperature", 0.0) > 0.5 else "drily"
    jitter = random.random()  # noqa: S311 - a pause, no secret
    return {"jitter": jitter, "answer": f"{warm}: {' and '.join(state['examples'])}"}


def let_go(_state: Prompt) -> Prompt:
    return {"examples": []}


def build() -> ks.Workflow:
    return ks.Workflow(Prompt, steps=[draw_first, draw_second, ask, let_go])


INPUT: dict[str, Any] = {"seed": 11, "temperature": 0.2}
OUTPUT = ("answer",)
TRUTH: dict[str, str] = {
    "seed": "needed",
    "draws": "needed",
    "examples": "needed",
    "temperature": "not needed",
    "jitter": "not needed",
    "answer": "needed",
}
FIRST = {"seed": "draw_first", "draws": "draw_first", "examples": "draw_first", "answer": "ask"}
WHY: dict[str, str] = {
    "seed": "the second draw sets the generator up with it",
    "draws": "without it the second draw gives the first example again",
    "examples": "the answer is made of both, and no draw gives the earlier one again",
    "temperature": "what was given is on the same side of the limit as what ask falls back on",
    "jitter": "nobody reads it",
    "answer": "the caller reads it, and the step that makes it is not the last",
}
