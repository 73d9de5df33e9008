"""A support desk answers from an index, and the index moves on while the run is dead.

Articles and prices are fetched again on resume. The prices are as they were; an article was
rewritten meanwhile, so that what comes back is not what the answer would have been made of.
"""

import json
import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import keepset as ks

ARTICLES = {"a1": "Press the button.", "a2": "Call us."}


def articles(names: list[str]) -> dict[str, str]:
    index = json.loads(Path("index.json").read_text())
    return {name: index[name] for name in names}


def prices(names: list[str]) -> list[int]:
    return [len(name) * 7 for name in names]


class Desk(TypedDict, total=False):
    question: Annotated[str, ks.Keep()]
    found: Annotated[list[str], ks.Keep(), operator.add]
    texts: Annotated[dict[str, str], ks.Refetch(articles, using="found")]
    costs: Annotated[list[int], ks.Refetch(prices, using="found")]
    headline: Annotated[str, ks.Keep()]
    score: Annotated[float, ks.Keep()]
    reply: Annotated[str, ks.Keep()]


def search(desk: Desk) -> Desk:
    found = sorted(ARTICLES) if desk["question"].endswith("?") else []
    return {"found": found, "texts": articles(found), "costs": prices(found), "score": 0.8}


def rank(desk: Desk) -> Desk:
    return {"headline": min(desk["texts"].values(), key=len)}


def answer(desk: Desk) -> Desk:
    body = " ".join(desk["texts"].values())
    return {"reply": f"{desk['headline']} {body} It costs {sum(desk['costs'])}."}


def build() -> Any:
    builder: Any = StateGraph(Desk)
    for node in (search, rank, answer):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "search")
    builder.add_edge("search", "rank")
    builder.add_edge("rank", "answer")
    return builder


def world() -> None:
    Path("index.json").write_text(json.dumps(ARTICLES))


def between() -> None:
    Path("index.json").write_text(
        json.dumps({**ARTICLES, "a1": "Hold the button for ten seconds."})
    )


INPUT = {"question": "How do I reset it?"}
OUTPUT = ("reply",)
TRUTH = {
    "question": "needed",
    "found": "needed",
    "texts": "refetch differs",
    "costs": "restored",
    "headline": "needed",
    "score": "not needed",
    "reply": "not needed",
}
FIRST = {"question": "__start__", "found": "search", "headline": "rank"}
WHY = {
    "question": "the search goes by it",
    "found": "texts and costs are fetched by it",
    "texts": "fetched again they have an article that was rewritten meanwhile",
    "costs": "fetched again they are what they were",
    "headline": "the reply begins with it",
    "score": "nothing reads it",
    "reply": "the last node sets it",
}
