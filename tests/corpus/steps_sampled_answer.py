"""A model that draws its words by chance answers a question.

The chance is the operating system's, and no seed makes two runs the same, so what a field is worth
cannot be told by comparing.
"""

from __future__ import annotations

import random
from typing import Any, TypedDict

import keepset as ks

REPEATABLE = False
WORDS = ["well", "yes", "no", "perhaps", "then", "but", "so", "though"]
CHANCE = random.SystemRandom()


class Talk(TypedDict, total=False):
    question: str
    style: str
    plan: list[str]
    answer: str
    length: int


def sample(count: int) -> list[str]:
    return [CHANCE.choice(WORDS) for _ in range(count)]


def think(state: Talk) -> Talk:
    return {"plan": [state["question"], *sample(24)]}


def answer(state: Talk) -> Talk:
    return {"answer": f"({state['style']}) {' '.join(state['plan'])} {' '.join(sample(24))}"}


def measure(state: Talk) -> Talk:
    return {"length": len(state["answer"])}


def build() -> ks.Workflow:
    return ks.Workflow(Talk, steps=[think, answer, measure])


INPUT: dict[str, Any] = {"question": "Is it late?", "style": "short"}
OUTPUT = ("answer", "length")
TRUTH: dict[str, str] = dict.fromkeys(Talk.__annotations__, "inconclusive")
WHY: dict[str, str] = {
    "question": "the answer that it leads to is another one each time",
    "style": "the same: no two answers can be compared",
    "plan": "it is drawn by chance",
    "answer": "it is drawn by chance",
    "length": "it is the length of what was drawn by chance",
}
