"""A prize is drawn among the entries of a shop, from a seed that chance gives.

The draw has a number from uuid, a time from the clock and a seed from random, so that two runs are
only alike where all three are pinned. The winner is drawn from the seed, in two rounds.
"""

import random
import time
import uuid
from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class Draw(TypedDict, total=False):
    entries: list[str]
    number: str
    seed: int
    opened: float
    short_list: list[str]
    closes: float
    winner: str
    mailed: str


def open_draw(_: Draw) -> Draw:
    return {
        "number": uuid.uuid4().hex,
        "seed": random.randrange(1_000_000),  # noqa: S311 - a prize is no secret
        "opened": time.time(),
    }


def shorten(draw: Draw) -> Draw:
    chosen = random.Random(draw["seed"]).sample(draw["entries"], 4)  # noqa: S311 - the same
    return {"short_list": chosen, "closes": draw["opened"] + 60}


def pick(draw: Draw) -> Draw:
    round_two = random.Random(f"{draw['seed']}")  # noqa: S311 - the same
    order = sorted(draw["short_list"])
    return {"winner": f"{round_two.choice(order)} by {draw['closes']:.0f}"}


def mail(draw: Draw) -> Draw:
    with Path("mails.txt").open("a") as mails:
        mails.write(f"{draw['number']}: {draw['winner']}\n")
    return {"mailed": draw["winner"]}


def build() -> Any:
    builder: Any = StateGraph(Draw)
    for node in (open_draw, shorten, pick, mail):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "open_draw")
    builder.add_edge("open_draw", "shorten")
    builder.add_edge("shorten", "pick")
    builder.add_edge("pick", "mail")
    return builder


def observe() -> list[str]:
    return Path("mails.txt").read_text().splitlines() if Path("mails.txt").exists() else []


INPUT = {"entries": [f"entry-{number}" for number in range(40)]}
OUTPUT = ("winner",)
PIN = ("clock", "uuid", "random")
TRUTH = {
    "entries": "needed",
    "number": "needed",
    "seed": "needed",
    "opened": "needed",
    "short_list": "needed",
    "closes": "needed",
    "winner": "needed",
    "mailed": "not needed",
}
FIRST = {
    "entries": "__start__",
    "number": "open_draw",
    "seed": "open_draw",
    "opened": "open_draw",
    "short_list": "shorten",
    "closes": "shorten",
    "winner": "pick",
}
WHY = {
    "entries": "the short list is drawn from them",
    "number": "only the mail has it; the final state does not need it",
    "seed": "both rounds draw from it",
    "opened": "the closing time is made of it",
    "short_list": "the second round chooses from it",
    "closes": "the winner's line has it",
    "winner": "the mail and the caller read it",
    "mailed": "the last node sets it",
}
