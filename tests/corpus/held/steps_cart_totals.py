"""A cart is priced, a coupon is taken off the subtotal, tax is added, and the order is placed.

The order works its total out once more from the subtotal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import keepset as ks

PRICES = {"lamp": 4000, "bulb": 350}


class Cart(TypedDict, total=False):
    items: dict[str, int]
    prices: dict[str, int]
    subtotal: int
    coupon: str
    total: int
    rounding: float


def look_up(items: dict[str, int]) -> dict[str, int]:
    return {item: PRICES[item] for item in items}


def with_tax(subtotal: int) -> int:
    return round(subtotal * 1.19)


def price_items(state: Cart) -> Cart:
    prices = look_up(state["items"])
    subtotal = sum(prices[item] * count for item, count in state["items"].items())
    return {"prices": prices, "subtotal": subtotal}


def take_off(state: Cart) -> Cart:
    off = 10 if state.get("coupon") == "SPRING" else 0
    return {"subtotal": state["subtotal"] * (100 - off) // 100}


def add_tax(state: Cart) -> Cart:
    total = with_tax(state["subtotal"])
    return {"total": total, "rounding": total - state["subtotal"] * 1.19}


def place(state: Cart) -> Cart:
    prices = state.get("prices") or look_up(state["items"])
    total = with_tax(state["subtotal"])
    lines = [f"{count} {item} at {prices[item]}" for item, count in state["items"].items()]
    Path("order.txt").write_text("\n".join([*lines, f"total {total}"]), encoding="utf-8")
    return {"total": total}


def build() -> ks.Workflow:
    return ks.Workflow(Cart, steps=[price_items, take_off, add_tax, place])


INPUT: dict[str, Any] = {"items": {"lamp": 1, "bulb": 3}, "coupon": "SPRING"}
OUTPUT = ("total",)


def observe() -> list[str]:
    order = Path("order.txt")
    return order.read_text(encoding="utf-8").splitlines() if order.exists() else []


TRUTH: dict[str, str] = {
    "items": "needed",
    "prices": "not needed",
    "subtotal": "needed",
    "coupon": "needed",
    "total": "not needed",
    "rounding": "not needed",
}
FIRST = {"items": "price_items", "subtotal": "price_items", "coupon": "price_items"}
WHY: dict[str, str] = {
    "items": "the order lists them",
    "prices": "place looks them up again for the items",
    "subtotal": "what the coupon took off cannot be seen in the items",
    "coupon": "without it nothing is taken off",
    "total": "place works it out again from the subtotal and sets it",
    "rounding": "nobody reads it",
}
