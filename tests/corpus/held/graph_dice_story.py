"""A storyteller throws real dice: the system's chance, which nobody can pin.

Which way the story goes and how it is told differ from run to run, so that nothing can be said
about any of its fields.
"""

import operator
import random
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

DICE = random.SystemRandom()


class Story(TypedDict, total=False):
    hero: str
    scenes: Annotated[list[str], operator.add]
    luck: int
    mood: str
    ending: str


def begin(story: Story) -> Story:
    return {"luck": DICE.randrange(10**12), "scenes": [f"{story['hero']} sets out"]}


def travel(_: Story) -> Story:
    return {"scenes": [f"meets {DICE.randrange(10**12)} wolves"], "mood": "tense"}


def rest(story: Story) -> Story:
    return {"scenes": [f"sleeps {story['luck']} hours"], "mood": "calm"}


def way(_: Story) -> str:
    return DICE.choice(["travel", "rest"])


def close(story: Story) -> Story:
    return {"ending": f"{story['scenes'][-1]}, {DICE.randrange(10**12)} stars"}


def build() -> Any:
    builder: Any = StateGraph(Story)
    for node in (begin, travel, rest, close):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "begin")
    builder.add_conditional_edges("begin", way, ["travel", "rest"])
    builder.add_edge("travel", "close")
    builder.add_edge("rest", "close")
    return builder


INPUT = {"hero": "Ida"}
OUTPUT = ("ending",)
REPEATABLE = False
TRUTH = dict.fromkeys(Story.__annotations__, "inconclusive")
WHY = {
    "hero": "the story differs with it as well as without it",
    "scenes": "the dice write into them",
    "luck": "it is thrown",
    "mood": "it goes by the way, which is thrown",
    "ending": "its last word is thrown",
}
