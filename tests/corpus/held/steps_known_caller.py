"""A caller is identified by any of three things that the message names.

These are an e-mail, a telephone and a customer number. Each later step takes the first one that is
there, for the record that all of them lead to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import keepset as ks

RECORDS = {"ines@example.org": "gold", "0151-200": "gold", "C-88": "gold"}


class Contact(TypedDict, total=False):
    message: str
    email: str
    phone: str
    number: str
    tier: str
    discount: int
    language: str
    offer: str


def tier_of(state: Contact) -> str:
    for known in (state.get("email"), state.get("phone"), state.get("number")):
        if known:
            return RECORDS[known]
    raise LookupError


def identify(state: Contact) -> Contact:
    email, phone, number = state["message"].split()
    return {"email": email, "phone": phone, "number": number}


def look_up(state: Contact) -> Contact:
    tier = tier_of(state)
    return {"tier": tier, "discount": 20 if tier == "gold" else 0}


def check_terms(state: Contact) -> Contact:
    terms = "Gilt bis Mai." if state["language"] == "de" else "Valid until May."
    Path("terms.txt").write_text(f"{tier_of(state)}: {terms}", encoding="utf-8")
    return {}


def make_offer(state: Contact) -> Contact:
    tier = state.get("tier") or tier_of(state)
    return {"offer": f"{state['discount']} % off for {tier}"}


def build() -> ks.Workflow:
    return ks.Workflow(Contact, steps=[identify, look_up, check_terms, make_offer])


INPUT: dict[str, Any] = {"message": "ines@example.org 0151-200 C-88", "language": "de"}
OUTPUT = ("offer",)


def observe() -> str:
    terms = Path("terms.txt")
    return terms.read_text(encoding="utf-8") if terms.exists() else ""


TRUTH: dict[str, str] = {
    "message": "not needed",
    "email": "together",
    "phone": "together",
    "number": "together",
    "tier": "not needed",
    "discount": "needed",
    "language": "needed",
    "offer": "not needed",
}
TOGETHER = [{"email", "phone", "number"}]
FIRST = {"discount": "look_up", "language": "identify"}
WHY: dict[str, str] = {
    "message": "only the first step reads it; what it names is in the state from then on",
    "email": "the telephone and the number lead to the same record",
    "phone": "the e-mail and the number lead to the same record",
    "number": "the e-mail and the telephone lead to the same record",
    "tier": "make_offer looks it up again by whichever of the three is there",
    "discount": "make_offer reads it and does not work it out again",
    "language": "check_terms reads it",
    "offer": "the last step makes it",
}
