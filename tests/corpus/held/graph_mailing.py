"""A mailing goes through an address book page by page, and writes to each address once.

The book names some addresses twice. A connection to the book is held in a channel that LangGraph
does not store; who finds none opens one.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from langgraph.channels import UntrackedValue
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

BOOK = ["ann", "bob", "ann", "cat", "bob", "dan"]


class Mailing(TypedDict, total=False):
    text: str
    page: int
    batch: list[str]
    known: list[str]
    book: Annotated[Any, UntrackedValue]
    skipped: int
    finished: bool


def opened(mailing: Mailing) -> sqlite3.Connection:
    found: sqlite3.Connection | None = mailing.get("book")
    return found or sqlite3.connect("book.db", check_same_thread=False)


def read(mailing: Mailing) -> Mailing:
    book = opened(mailing)
    query = "SELECT name FROM book ORDER BY rowid LIMIT 2 OFFSET ?"
    rows = book.execute(query, (2 * mailing.get("page", 0),)).fetchall()
    return {"batch": [name for (name,) in rows], "book": book}


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


def end(mailing: Mailing) -> Mailing:
    opened(mailing).close()
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
    with closing(sqlite3.connect("book.db")) as book, book:
        book.execute("CREATE TABLE book (name TEXT)")
        book.executemany("INSERT INTO book VALUES (?)", [(name,) for name in BOOK])


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
