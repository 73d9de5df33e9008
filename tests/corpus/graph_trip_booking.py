"""A trip waits for a human's yes while its price is taken next to the question.

The question and the offer run in the same step. Asking for an offer costs a fee each time, so the
answer must meet the offer that was made while the human was thinking.
"""

from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class Trip(TypedDict, total=False):
    place: str
    wording: str
    offer: int
    fee_paid: bool
    answer: str
    seat: str
    receipt: str
    remark: str


def prepare(trip: Trip) -> Trip:
    return {"wording": f"Book a seat to {trip['place']}?", "remark": "asked politely"}


def ask(trip: Trip) -> Trip:
    return {"answer": f"{trip['wording']} {interrupt(trip['wording'])}"}


def price(trip: Trip) -> Trip:
    with Path("market.txt").open("a") as market:
        market.write(f"offer for {trip['place']}\n")
    return {"offer": 40 * len(trip["place"]), "fee_paid": True}


def choose(trip: Trip) -> str:
    return "book" if trip["answer"].endswith("yes") else END


def book(trip: Trip) -> Trip:
    return {"seat": f"12A for {trip['offer']}"}


def confirm(trip: Trip) -> Trip:
    return {"receipt": f"{trip['seat']} ({trip['answer']})"}


def build() -> Any:
    builder: Any = StateGraph(Trip)
    for node in (prepare, ask, price, book, confirm):
        builder.add_node(node.__name__, node)
    builder.add_node("settle", lambda _: {})
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "ask")
    builder.add_edge("prepare", "price")
    builder.add_edge(["ask", "price"], "settle")
    builder.add_conditional_edges("settle", choose, ["book", END])
    builder.add_edge("book", "confirm")
    return builder


def observe() -> str:
    return Path("market.txt").read_text() if Path("market.txt").exists() else ""


INPUT = {"place": "Oslo"}
ANSWERS = ["yes"]
OUTPUT = ("receipt",)
TRUTH = {
    "place": "needed",
    "wording": "needed",
    "offer": "needed",
    "fee_paid": "not needed",
    "answer": "needed",
    "seat": "needed",
    "receipt": "not needed",
    "remark": "not needed",
}
FIRST = {"place": "__start__", "wording": "prepare", "seat": "book"}
WHY = {
    "place": "the question and the offer name it",
    "wording": "the node that asks reads it, also when the answer arrives",
    "offer": "written beside the open question; who answers books at this price",
    "fee_paid": "set when the offer was made, and read by nothing: a task done is not done again",
    "answer": "the edge behind settle and the receipt read it",
    "seat": "the receipt names it",
    "receipt": "the last node sets it",
    "remark": "nothing reads it",
}
