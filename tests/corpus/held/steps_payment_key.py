"""An order is paid into a database that takes each key once.

Paying twice does no harm there. The settlement pays again where nobody says that it was paid, and
notes how many tries it took.
"""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing
from typing import Any, TypedDict

import keepset as ks

PIN = ("uuid",)


class Order(TypedDict, total=False):
    order: str
    reference: str
    amount: int
    paid: bool
    attempts: int
    bank_reply: dict[str, str]
    confirmation: str


def execute(statement: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect("bank.db")) as bank, bank:
        return bank.execute(statement, values).fetchall()


def pay_in(state: Order) -> None:
    insert = "INSERT OR IGNORE INTO payment (key, amount) VALUES (?, ?)"
    execute(insert, state["reference"], state["amount"])


def reserve(state: Order) -> Order:
    return {"reference": str(uuid.uuid4()), "amount": 30 * len(state["order"])}


def pay(state: Order) -> Order:
    pay_in(state)
    reply = {"status": "taken", "amount": str(state["amount"])}
    return {"paid": True, "attempts": state.get("attempts", 0) + 1, "bank_reply": reply}


def settle(state: Order) -> Order:
    if not state.get("paid"):
        pay_in(state)
    update = "UPDATE payment SET tries = ? WHERE key = ?"
    execute(update, state.get("attempts", 0), state["reference"])
    return {}


def confirm(state: Order) -> Order:
    return {"confirmation": f"{state['order']} is paid"}


def build() -> ks.Workflow:
    return ks.Workflow(Order, steps=[reserve, pay, settle, confirm])


INPUT: dict[str, Any] = {"order": "two chairs"}
OUTPUT = ("confirmation",)


def world() -> None:
    execute("CREATE TABLE payment (key TEXT PRIMARY KEY, amount INTEGER, tries INTEGER)")


def observe() -> list[list[int]]:
    rows = execute("SELECT amount, tries FROM payment ORDER BY rowid")
    return [list(row) for row in rows]


TRUTH: dict[str, str] = {
    "order": "needed",
    "reference": "needed",
    "amount": "needed",
    "paid": "not needed",
    "attempts": "needed",
    "bank_reply": "not needed",
    "confirmation": "not needed",
}
FIRST = {"order": "reserve", "reference": "reserve", "amount": "reserve", "attempts": "pay"}
WHY: dict[str, str] = {
    "order": "the confirmation names it",
    "reference": "pay and settle find the payment by it, and no second one is made",
    "amount": "pay pays it in",
    "paid": "without it the payment is sent again, and the bank ignores a key that it knows",
    "attempts": "settle notes it at the bank; the final state does not show it",
    "bank_reply": "nobody reads it",
    "confirmation": "the last step makes it",
}
