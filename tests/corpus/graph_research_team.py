"""A desk has a question looked into by a team, which is a graph of its own.

The team makes queries, searches and picks; the desk hands over the question and takes the notes.
A process may die while the team is at work, so what only the team knows counts as well.
"""

import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class Desk(TypedDict, total=False):
    question: str
    notes: Annotated[list[str], operator.add]
    deadline: str
    article: str


class Team(TypedDict, total=False):
    question: str
    notes: Annotated[list[str], operator.add]
    queries: list[str]
    hits: list[str]
    visited: list[str]


def frame(desk: Desk) -> Desk:
    return {"notes": [f"asked: {desk['question']}"], "deadline": "Friday"}


def think(team: Team) -> Team:
    return {"queries": [f"{word}?" for word in team["question"].split()]}


def search(team: Team) -> Team:
    with Path("searches.txt").open("a") as log:
        log.write(f"{len(team['queries'])} queries\n")
    return {
        "hits": [f"hit for {query}" for query in team["queries"]],
        "visited": list(team["queries"]),
    }


def pick(team: Team) -> Team:
    return {"notes": [team["hits"][-1]]}


def publish(desk: Desk) -> Desk:
    return {"article": " | ".join(desk["notes"])}


def build() -> Any:
    team: Any = StateGraph(Team)
    for step in (think, search, pick):
        team.add_node(step.__name__, step)
    team.add_edge(START, "think")
    team.add_edge("think", "search")
    team.add_edge("search", "pick")
    builder: Any = StateGraph(Desk)
    builder.add_node("frame", frame)
    builder.add_node("team", team.compile())
    builder.add_node("publish", publish)
    builder.add_edge(START, "frame")
    builder.add_edge("frame", "team")
    builder.add_edge("team", "publish")
    return builder


def observe() -> str:
    return Path("searches.txt").read_text() if Path("searches.txt").exists() else ""


INPUT = {"question": "why is it so cold"}
OUTPUT = ("article",)
TRUTH = {
    "question": "needed",
    "notes": "needed",
    "deadline": "not needed",
    "article": "not needed",
    "team.queries": "needed",
    "team.hits": "needed",
    "team.visited": "not needed",
}
FIRST = {
    "question": "__start__",
    "notes": "frame",
    "team.queries": "think",
    "team.hits": "search",
}
WHY = {
    "question": "the desk's first note and the team's queries are made of it",
    "notes": "the article joins them, and the first one is written before the team begins",
    "deadline": "nothing reads it",
    "article": "the last node sets it",
    "team.queries": "the team's search reads them, inside of the node",
    "team.hits": "the team's pick reads the last one",
    "team.visited": "written for nobody",
}
