"""A shop's checkout with a pydantic model for its state.

Each node gets the whole model, so that a field without a default is asked for by the class, even
where no node reads it. A field with a default is only missed where it held another value.
"""

import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from pydantic import BaseModel, Field


class Basket(BaseModel):
    items: dict[str, int]
    shop: str
    coupon: str = ""
    retries: int = 3
    stage: str = "new"
    remarks: Annotated[list[str], operator.add] = Field(default_factory=list)
    total: int = 0
    country: str = "FR"
    shipping: int | None = None


def price(basket: Basket) -> dict[str, Any]:
    total = sum(basket.items.values())
    return {
        "total": total - 10 if basket.coupon == "SPRING" else total,
        "stage": "priced",
        "remarks": [f"{len(basket.items)} items"],
    }


def ship(basket: Basket) -> dict[str, Any]:
    cost = 9 if basket.country == "FR" else 25
    return {"shipping": cost * (2 if basket.retries < 3 else 1), "stage": "shipped"}


def pay(basket: Basket) -> dict[str, Any]:
    shipping = 9 if basket.shipping is None else basket.shipping
    with Path("till.txt").open("a") as till:
        till.write(f"{basket.total + shipping}\n")
    return {"stage": "paid", "remarks": ["thanks"]}


def build() -> Any:
    builder: Any = StateGraph(Basket)
    for node in (price, ship, pay):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "price")
    builder.add_edge("price", "ship")
    builder.add_edge("ship", "pay")
    return builder


def observe() -> str:
    return Path("till.txt").read_text() if Path("till.txt").exists() else ""


INPUT = {
    "items": {"lamp": 40, "rug": 60},
    "shop": "north",
    "coupon": "SPRING",
    "retries": 3,
    "country": "FR",
}
OUTPUT = ("stage",)
TRUTH = {
    "items": "needed",
    "shop": "needed",
    "coupon": "needed",
    "retries": "not needed",
    "stage": "not needed",
    "remarks": "not needed",
    "total": "needed",
    "country": "not needed",
    "shipping": "not needed",
}
FIRST = {"items": "__start__", "shop": "__start__", "coupon": "__start__", "total": "price"}
WHY = {
    "items": "the total is made of them, and the class has no default for them",
    "shop": "no node reads it, but the class has no default: without it each node fails",
    "coupon": "the price reads it, and it is not the class's default",
    "retries": "read by ship, but what it holds is the class's default",
    "stage": "each node sets it anew and none reads it",
    "remarks": "nothing reads them",
    "total": "the till gets it, and the default is 0",
    "country": "read by ship, but what it holds is the class's default",
    "shipping": "where it is missing pay takes 9, and 9 is what it was",
}
