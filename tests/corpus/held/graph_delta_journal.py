"""A captain's journal grows by a line a watch, in a channel that is stored as differences.

The watches go round in a loop until the journal is full. Whether it is full is seen in the journal
itself, so that there is a count in the state that nobody needs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from langgraph.channels import DeltaChannel
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


def joined(lines: list[str], more: Sequence[list[str]]) -> list[str]:
    return [*lines, *(line for part in more for line in part)]


class Ship(TypedDict, total=False):
    course: int
    journal: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=3)]
    smells: Annotated[list[str], DeltaChannel(joined)]
    watches: int
    wind: int
    port: str


def look(ship: Ship) -> Ship:
    return {"wind": 10 + len(ship["journal"]), "smells": ["salt"]}


def steer(ship: Ship) -> Ship:
    course = (ship["course"] + ship["wind"]) % 360
    return {
        "course": course,
        "journal": [f"course {course}"],
        "watches": ship.get("watches", 0) + 1,
    }


def round_again(ship: Ship) -> str:
    return "look" if len(ship["journal"]) < 4 else "moor"


def moor(ship: Ship) -> Ship:
    Path("harbour.txt").write_text("\n".join(ship["journal"]))
    return {"port": "Lisbon" if ship["course"] < 180 else "Madeira"}


def build() -> Any:
    builder: Any = StateGraph(Ship)
    for node in (look, steer, moor):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "look")
    builder.add_edge("look", "steer")
    builder.add_conditional_edges("steer", round_again, ["look", "moor"])
    return builder


def observe() -> str:
    return Path("harbour.txt").read_text() if Path("harbour.txt").exists() else ""


INPUT = {"course": 120, "journal": ["left Porto"]}
OUTPUT = ("port",)
TRUTH = {
    "course": "needed",
    "journal": "needed",
    "smells": "not needed",
    "watches": "not needed",
    "wind": "needed",
    "port": "not needed",
}
FIRST = {"course": "__start__", "journal": "__start__", "wind": "look"}
WHY = {
    "course": "each watch goes on from it",
    "journal": "its length ends the loop, and all of it goes to the harbour",
    "smells": "nothing reads them",
    "watches": "counted, and read only to count on",
    "wind": "steer reads it one step after it was seen",
    "port": "the last node sets it",
}
