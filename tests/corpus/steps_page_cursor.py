"""A listing is read page by page with a cursor, and a digest is made of all that was seen.

The digest ends with the last title of the last page, which each page brings along.
"""

from __future__ import annotations

from typing import Any, TypedDict

import keepset as ks

CATALOGUE = {"papers": ["graphs", "trees", "sets", "heaps", "tries", "ropes"]}


class Listing(TypedDict, total=False):
    source: str
    cursor: int
    page_size: int
    titles: list[str]
    last_page: list[str]
    seen_total: int
    digest: str


def fetch(state: Listing) -> Listing:
    start = state.get("cursor", 0)
    page = CATALOGUE[state["source"]][start : start + state.get("page_size", 2)]
    titles = [*state.get("titles", []), *page]
    return {
        "cursor": start + len(page),
        "titles": titles,
        "last_page": page,
        "seen_total": len(titles),
    }


def open_listing(state: Listing) -> Listing:
    if state["source"] not in CATALOGUE:
        raise LookupError(state["source"])
    return {"cursor": 0, "page_size": 2}


def fetch_first(state: Listing) -> Listing:
    return fetch(state)


def fetch_second(state: Listing) -> Listing:
    return fetch(state)


def fetch_third(state: Listing) -> Listing:
    return fetch(state)


def summarise(state: Listing) -> Listing:
    newest = state["last_page"][-1]
    return {"digest": f"{', '.join(state['titles'])}; newest: {newest}"}


def build() -> ks.Workflow:
    steps = [open_listing, fetch_first, fetch_second, fetch_third, summarise]
    return ks.Workflow(Listing, steps=steps)


INPUT: dict[str, Any] = {"source": "papers"}
OUTPUT = ("digest",)
TRUTH: dict[str, str] = {
    "source": "needed",
    "cursor": "needed",
    "page_size": "not needed",
    "titles": "needed",
    "last_page": "needed",
    "seen_total": "not needed",
    "digest": "not needed",
}
FIRST = {
    "source": "open_listing",
    "cursor": "fetch_first",
    "titles": "fetch_first",
    "last_page": "fetch_third",
}
WHY: dict[str, str] = {
    "source": "each fetch reads it",
    "cursor": "without it a fetch begins at 0 again; before the first fetch it is 0 anyway",
    "page_size": "a fetch falls back on the same number",
    "titles": "what earlier pages gave is nowhere else",
    "last_page": "summarise reads it, and until the last fetch another page overwrites it",
    "seen_total": "each fetch counts the titles afresh, and nobody reads the number",
    "digest": "the last step makes it",
}
