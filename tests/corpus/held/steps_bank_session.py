"""A statement is written from a bank's balance.

The session with the bank has run out by the time a run is resumed; the step that finds it so signs
in again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

import keepset as ks

BANK = Path("bank.json")


class Statement(msgspec.Struct):
    account: str
    session: str = ""
    expires_at: int = 0
    balance: int = 0
    fee: int = 5
    due: int = 0
    statement: str = ""


def sign_in() -> str:
    count = json.loads(BANK.read_text(encoding="utf-8"))["count"] + 1
    BANK.write_text(json.dumps({"count": count, "valid": f"s{count}"}), encoding="utf-8")
    return f"s{count}"


def open_session(_state: Statement) -> dict[str, Any]:
    return {"session": sign_in(), "expires_at": 30}


def read_balance(state: Statement) -> dict[str, Any]:
    valid = json.loads(BANK.read_text(encoding="utf-8"))["valid"]
    session = state.session if state.session == valid else sign_in()
    return {"session": session, "expires_at": 30, "balance": 100 * len(state.account)}


def work_out_fee(state: Statement) -> dict[str, Any]:
    return {"due": state.balance * state.fee // 100}


def write_statement(state: Statement) -> dict[str, Any]:
    text = f"{state.balance} less {state.due}"
    Path("statement.txt").write_text(text, encoding="utf-8")
    return {"statement": text}


def build() -> ks.Workflow:
    steps = [open_session, read_balance, work_out_fee, write_statement]
    return ks.Workflow(Statement, steps=steps)


INPUT: dict[str, Any] = {"account": "DE-100-7", "fee": 7}
OUTPUT = ("statement",)


def world() -> None:
    BANK.write_text(json.dumps({"count": 0, "valid": ""}), encoding="utf-8")


def observe() -> str:
    statement = Path("statement.txt")
    return statement.read_text(encoding="utf-8") if statement.exists() else ""


def between() -> None:
    bank = json.loads(BANK.read_text(encoding="utf-8"))
    BANK.write_text(json.dumps({**bank, "valid": ""}), encoding="utf-8")


TRUTH: dict[str, str] = {
    "account": "needed",
    "session": "not needed",
    "expires_at": "not needed",
    "balance": "needed",
    "fee": "needed",
    "due": "needed",
    "statement": "not needed",
}
FIRST = {
    "account": "open_session",
    "balance": "read_balance",
    "fee": "open_session",
    "due": "work_out_fee",
}
WHY: dict[str, str] = {
    "account": "it has no default, so a state cannot be built without it",
    "session": "it has run out by then: with it or without it read_balance signs in again",
    "expires_at": "the bank says whether a session is valid; nobody reads this",
    "balance": "it is read once, and the fee and the statement are made of it",
    "fee": "it was given as 7 and its default is 5",
    "due": "its default is 0, and the statement has it",
    "statement": "the last step makes it",
}
