"""A writer looks a topic up in an index, plans an outline of the hits and writes with the sources.

While the run lies still the index gets another entry on the topic: the same search gives more, the
same ids give what they gave.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, TypedDict

import keepset as ks

INDEX = Path("index.json")


def entries() -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(INDEX.read_text(encoding="utf-8"))
    return found


def search(topic: str) -> list[str]:
    return [entry["id"] for entry in entries() if entry["topic"] == topic]


def load_sources(hit_ids: list[str]) -> list[dict[str, str]]:
    return [{"id": e["id"], "text": e["text"]} for e in entries() if e["id"] in hit_ids]


class Article(TypedDict, total=False):
    topic: str
    hits: Annotated[list[str], ks.Refetch(search, using="topic")]
    hit_ids: list[str]
    sources: Annotated[list[dict[str, str]], ks.Refetch(load_sources, using="hit_ids")]
    index_version: int
    outline: list[str]
    article: str


def look_up(state: Article) -> Article:
    hits = search(state["topic"])
    sources = load_sources(hits)
    return {
        "hits": hits,
        "hit_ids": list(hits),
        "sources": sources,
        "index_version": len(entries()),
    }


def plan(state: Article) -> Article:
    return {"outline": [f"{number}. {hit}" for number, hit in enumerate(state["hits"], 1)]}


def write(state: Article) -> Article:
    texts = " ".join(source["text"] for source in state["sources"])
    return {"article": f"{'; '.join(state['outline'])}. {texts}"}


def build() -> ks.Workflow:
    return ks.Workflow(Article, steps=[look_up, plan, write])


INPUT: dict[str, Any] = {"topic": "bees"}
OUTPUT = ("article",)


def world() -> None:
    index = [
        {"id": "hive", "topic": "bees", "text": "They build."},
        {"id": "moss", "topic": "plants", "text": "It grows."},
        {"id": "honey", "topic": "bees", "text": "It keeps."},
    ]
    INDEX.write_text(json.dumps(index), encoding="utf-8")


def between() -> None:
    new = {"id": "queen", "topic": "bees", "text": "She rules."}
    INDEX.write_text(json.dumps([*entries(), new]), encoding="utf-8")


TRUTH: dict[str, str] = {
    "topic": "needed",
    "hits": "refetch differs",
    "hit_ids": "needed",
    "sources": "restored",
    "index_version": "not needed",
    "outline": "needed",
    "article": "not needed",
}
FIRST = {"topic": "look_up", "hit_ids": "look_up", "outline": "plan"}
WHY: dict[str, str] = {
    "topic": "the hits are searched again by it, and plan needs the hits",
    "hits": "plan reads them, and the search now gives one more",
    "hit_ids": "the sources are fetched again by them; no step reads them",
    "sources": "write reads them, and the same ids still give the same texts",
    "index_version": "nobody compares it",
    "outline": "write reads it",
    "article": "the last step makes it",
}
