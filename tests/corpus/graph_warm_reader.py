"""A reader keeps the pages that it has fetched in memory, as a warm process does.

As long as the process lives nobody misses the page in the state, since the module has it. A fresh
process has an empty memory; there the page in the state is all that is left, since only the first
node fetches. The count of words can be made again from it.
"""

from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

MEMORY: dict[str, str] = {}
TALLY: dict[str, int] = {}


class Reading(TypedDict, total=False):
    address: str
    cache: str
    count: int
    quote: str
    headline: str
    answer: str


def fetch(reading: Reading) -> Reading:
    page = Path("site.txt").read_text()
    MEMORY[reading["address"]] = page
    return {"cache": page, "headline": page.split(".")[0]}


def tally(reading: Reading) -> Reading:
    page = MEMORY.get(reading["address"]) or reading["cache"]
    TALLY[reading["address"]] = len(page.split())
    return {"count": len(page.split())}


def cite(reading: Reading) -> Reading:
    page = MEMORY.get(reading["address"]) or reading["cache"]
    return {"quote": page.split(". ")[-1]}


def answer(reading: Reading) -> Reading:
    words = TALLY.get(reading["address"]) or reading.get("count")
    if words is None:
        words = len((MEMORY.get(reading["address"]) or reading["cache"]).split())
    return {"answer": f"{words} words, ends with: {reading['quote']}"}


def build() -> Any:
    builder: Any = StateGraph(Reading)
    for node in (fetch, tally, cite, answer):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "fetch")
    builder.add_edge("fetch", "tally")
    builder.add_edge("tally", "cite")
    builder.add_edge("cite", "answer")
    return builder


def world() -> None:
    Path("site.txt").write_text("Rain in May. The fields are wet. Bring boots")


INPUT = {"address": "weather"}
OUTPUT = ("answer",)
CRASH = True
TRUTH = {
    "address": "needed",
    "cache": "needed",
    "count": "not needed",
    "quote": "needed",
    "headline": "not needed",
    "answer": "not needed",
}
FIRST = {"address": "__start__", "cache": "fetch", "quote": "cite"}
WHY = {
    "address": "each node asks the memory by it",
    "cache": "a fresh process has no memory, and nothing fetches the page again",
    "count": "the answer counts again where it is missing, from the page",
    "quote": "the answer ends with it",
    "headline": "nothing reads it",
    "answer": "the last node sets it",
}
