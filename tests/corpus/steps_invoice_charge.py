"""An agent prices an invoice, charges the customer, confirms with the bank and sends a receipt.

A charge whose answer was never noted is sent once more by the step that confirms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import keepset as ks


class Billing(TypedDict, total=False):
    invoice: str
    amount: int
    note: str
    payment_flag: bool
    attempts: int
    receipt: str


def book(state: Billing) -> None:
    with Path("ledger.txt").open("a", encoding="utf-8") as ledger:
        ledger.write(f"{state['invoice']} {state['amount']}\n")


def price(state: Billing) -> Billing:
    return {"amount": 100 + len(state["invoice"])}


def charge(state: Billing) -> Billing:
    book(state)
    return {"note": "accepted", "payment_flag": True, "attempts": state.get("attempts", 0) + 1}


def confirm(state: Billing) -> Billing:
    if state.get("note") != "accepted":
        book(state)
    return {}


def send_receipt(state: Billing) -> Billing:
    return {"receipt": f"Thank you for paying {state['invoice']}."}


def build() -> ks.Workflow:
    return ks.Workflow(Billing, steps=[price, charge, confirm, send_receipt])


INPUT: dict[str, Any] = {"invoice": "INV-7"}
OUTPUT = ("receipt",)


def observe() -> list[str]:
    ledger = Path("ledger.txt")
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


TRUTH: dict[str, str] = {
    "invoice": "needed",
    "amount": "needed",
    "note": "needed",
    "payment_flag": "not needed",
    "attempts": "not needed",
    "receipt": "not needed",
}
FIRST = {"invoice": "price", "amount": "price", "note": "charge"}
WHY: dict[str, str] = {
    "invoice": "charge and send_receipt read it, and nothing else knows it",
    "amount": "charge books it, and only price works it out",
    "note": "without it confirm charges a second time; the final state does not show it",
    "payment_flag": "no step reads it and the caller does not",
    "attempts": "it is counted up from 0 and only ever changes itself; no caller reads it",
    "receipt": "the last step makes it, after every point at which a run can be resumed",
}
