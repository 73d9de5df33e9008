"""A mailing goes through an address book page by page, and writes to each address once.

The book names some addresses twice. Who reads in it holds it open, in a channel that LangGraph does
not store; who finds none opens it.
"""

import threading
from pathlib import Path
from typing import Annotated, Any

from langgraph.channels import UntrackedValue
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class Book:
    """An open address book, which one reader has at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def page(self, number: int) -> list[str]:
        with self._lock:
            return Path("book.txt").read_text().split()[2 * number : 2 * number + 2]


class Mailing(TypedDict, total=False):
    text: str
    page: int
    batch: list[str]
    known: list[str]
    book: Annotated[Any, UntrackedValue]
    skipped: int
    finished: bool


def read(mailing: Mailing) -> Mailing:
    book = mailing.get("book") or Book()
    return {"batch": book.page(mailing.get("page", 0)), "book": book}


def post(mailing: Mailing) -> Mailing:
    known = mailing.get("known", [])
    new = [name for name in mailing["batch"] if name not in known]
    with Path("posted.txt").open("a") as posted:
        posted.writelines(f"{name}: {mailing['text']}\n" for name in new)
    return {
        "known": known + new,
        "page": mailing.get("page", 0) + 1,
        "skipped": len(mailing["batch"]) - len(new),
        "finished": False,
    }


def more(mailing: Mailing) -> str:
    return "read" if mailing["page"] < 3 else "end"


def end(_: Mailing) -> Mailing:
    return {"finished": True, "known": [], "book": None}


def build() -> Any:
    builder: Any = StateGraph(Mailing)
    for node in (read, post, end):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "read")
    builder.add_edge("read", "post")
    builder.add_conditional_edges("post", more, ["read", "end"])
    return builder


def world() -> None:
    Path("book.txt").write_text("ann bob ann cat bob dan")


def observe() -> list[str]:
    return Path("posted.txt").read_text().splitlines() if Path("posted.txt").exists() else []


INPUT = {"text": "Hello"}
OUTPUT = ("finished",)
TRUTH = {
    "text": "needed",
    "page": "needed",
    "batch": "needed",
    "known": "needed",
    "book": "not needed",
    "skipped": "not needed",
    "finished": "not needed",
}
FIRST = {"text": "__start__", "page": "post", "batch": "read", "known": "post"}
WHY = {
    "text": "each mail has it",
    "page": "without it the book is read from the beginning again",
    "batch": "post writes to those in it, one step after they were read",
    "known": "only for what is posted: without it someone gets a second mail; the end empties it",
    "book": "never stored by LangGraph itself; who finds none opens another",
    "skipped": "nothing reads it",
    "finished": "the last node sets it; until then it is set and read by nothing",
}
