"""A parcel is late and the customer is told, by whichever way there is.

A mail address is good and so is a telephone number; where both are lost nobody is told. In the same
way the parcel is found by its number, or by the order it belongs to.
"""

from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

PARCELS = {"p-7": "Lyon", "o-3": "Lyon"}


class Parcel(TypedDict, total=False):
    ticket: str
    parcel_id: str
    order_id: str
    mail: str
    phone: str
    place: str
    told: bool
    slot: str


def look_up(parcel: Parcel) -> Parcel:
    number = parcel["ticket"].removeprefix("late-")
    return {
        "parcel_id": f"p-{number}",
        "order_id": "o-3",
        "mail": "kim at example.org",
        "phone": "555-0100",
    }


def locate(parcel: Parcel) -> Parcel:
    found = parcel.get("parcel_id") or parcel.get("order_id") or "?"
    return {"place": PARCELS.get(found, "nowhere"), "slot": "morning"}


def tell(parcel: Parcel) -> Parcel:
    known = bool(parcel.get("mail") or parcel.get("phone"))
    if known:
        with Path("sent.txt").open("a") as sent:
            sent.write(f"your parcel is in {parcel['place']}\n")
    return {"told": known}


def close(parcel: Parcel) -> Parcel:
    with Path("sent.txt").open("a") as sent:
        sent.write(f"{parcel['ticket']} closed, told: {parcel['told']}\n")
    return {"slot": "none"}


def build() -> Any:
    builder: Any = StateGraph(Parcel)
    for node in (look_up, locate, tell, close):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "look_up")
    builder.add_edge("look_up", "locate")
    builder.add_edge("locate", "tell")
    builder.add_edge("tell", "close")
    return builder


def observe() -> list[str]:
    return Path("sent.txt").read_text().splitlines() if Path("sent.txt").exists() else []


INPUT = {"ticket": "late-7"}
OUTPUT = ("told", "place")
TRUTH = {
    "ticket": "needed",
    "parcel_id": "together",
    "order_id": "together",
    "mail": "together",
    "phone": "together",
    "place": "needed",
    "told": "needed",
    "slot": "not needed",
}
TOGETHER = [{"parcel_id", "order_id"}, {"mail", "phone"}]
FIRST = {"ticket": "__start__", "place": "locate", "told": "tell"}
WHY = {
    "ticket": "the first node reads its number and the last one writes it down",
    "parcel_id": "locate takes the order where it is missing, which leads to the same place",
    "order_id": "locate only takes it where the parcel is missing",
    "mail": "tell is content with the telephone",
    "phone": "tell is content with the mail address",
    "place": "what is sent names it, and the caller reads it",
    "told": "the closing line and the caller read it",
    "slot": "the last node overwrites it, and nothing reads it before",
}
