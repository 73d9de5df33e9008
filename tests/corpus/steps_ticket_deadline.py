"""A ticket that was opened long ago is triaged, told of and closed.

It gets an id and is held against its deadline; it is closed with the number of days that it took.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any, TypedDict

import keepset as ks

PIN = ("clock", "uuid")


class Ticket(TypedDict, total=False):
    opened_at: float
    deadline: float
    ticket_id: str
    touched_at: float
    urgent: bool
    channel: str
    summary: str


def register(state: Ticket) -> Ticket:
    return {
        "ticket_id": str(uuid.uuid4()),
        "deadline": state["opened_at"] + 3600,
        "touched_at": time.time(),
    }


def triage(state: Ticket) -> Ticket:
    deadline = state.get("deadline") or state["opened_at"] + 3600
    now = time.time()
    return {"urgent": now > deadline, "touched_at": now}


def tell_owner(state: Ticket) -> Ticket:
    how = "at once" if state["urgent"] else "some day"
    line = f"{state.get('channel', 'mail')}: {state['ticket_id']} {how}\n"
    with Path("told.txt").open("a", encoding="utf-8") as told:
        told.write(line)
    return {"touched_at": time.time()}


def close(state: Ticket) -> Ticket:
    days = int((time.time() - state["opened_at"]) // 86_400)
    return {"summary": f"closed after {days} days"}


def build() -> ks.Workflow:
    return ks.Workflow(Ticket, steps=[register, triage, tell_owner, close])


INPUT: dict[str, Any] = {"opened_at": 86_400.0, "channel": "mail"}
OUTPUT = ("ticket_id", "summary")


def observe() -> list[str]:
    told = Path("told.txt")
    return told.read_text(encoding="utf-8").splitlines() if told.exists() else []


TRUTH: dict[str, str] = {
    "opened_at": "needed",
    "deadline": "not needed",
    "ticket_id": "needed",
    "touched_at": "not needed",
    "urgent": "needed",
    "channel": "not needed",
    "summary": "not needed",
}
FIRST = {"opened_at": "register", "ticket_id": "register", "urgent": "triage"}
WHY: dict[str, str] = {
    "opened_at": "close counts the days from it",
    "deadline": "triage works it out again from the opening",
    "ticket_id": "tell_owner and the caller read it, and no second one is made",
    "touched_at": "nobody reads it",
    "urgent": "tell_owner reads it",
    "channel": "it was given as what tell_owner falls back on",
    "summary": "the last step makes it",
}
