"""A newsletter is planned, its sections are written side by side, and then put together.

The plan names the topics; for each of them a `Send` starts a writer that is told topic and style.
The editor puts the sections together, and the printer prints.
"""

import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict


class Letter(TypedDict, total=False):
    brief: str
    style: str
    topics: list[str]
    outline: str
    sections: Annotated[list[str], operator.add]
    words: Annotated[int, operator.add]
    page: str
    printed: bool


def plan(letter: Letter) -> Letter:
    topics = letter["brief"].split(", ")
    return {"topics": topics, "outline": " / ".join(topics)}


def to_writers(letter: Letter) -> list[Send]:
    return [Send("write", f"{topic} ({letter['style']})") for topic in letter["topics"]]


def write(order: str) -> Letter:
    text = f"All about {order}."
    return {"sections": [text], "words": len(text.split())}


def edit(letter: Letter) -> Letter:
    return {"page": "\n".join(letter["sections"])}


def print_it(letter: Letter) -> Letter:
    Path("press.txt").write_text(letter["page"])
    return {"printed": True}


def build() -> Any:
    builder: Any = StateGraph(Letter)
    builder.add_node("plan", plan)
    builder.add_node("write", write)
    builder.add_node("edit", edit)
    builder.add_node("print_it", print_it)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", to_writers, ["write"])
    builder.add_edge("write", "edit")
    builder.add_edge("edit", "print_it")
    return builder


def observe() -> str:
    return Path("press.txt").read_text() if Path("press.txt").exists() else ""


INPUT = {"brief": "tax, roads, schools", "style": "plain"}
OUTPUT = ("words", "printed")
TRUTH = {
    "brief": "needed",
    "style": "needed",
    "topics": "not needed",
    "outline": "not needed",
    "sections": "needed",
    "words": "needed",
    "page": "needed",
    "printed": "not needed",
}
FIRST = {
    "brief": "__start__",
    "style": "__start__",
    "sections": "write",
    "words": "write",
    "page": "edit",
}
WHY = {
    "brief": "the plan is made of it",
    "style": "the edge behind the plan puts it into each writer's order",
    "topics": "plan's own edge reads them; in the checkpoint after it the orders are made",
    "outline": "nothing reads it",
    "sections": "the editor joins them",
    "words": "the caller reads the sum, and the writers do not run again",
    "page": "the printer prints it",
    "printed": "the last node sets it",
}
