"""A claim is checked by a graph inside, which waits for an assessor's answer; a second one decides.

The first answer stays inside of the check until an opinion is made of it; then the desk outside
asks whether the amount is right, and pays.
"""

from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class Claim(TypedDict, total=False):
    number: str
    amount: int
    branch: str
    priority: int
    opinion: str
    decision: str
    logged: bool


class Check(TypedDict, total=False):
    number: str
    amount: int
    opinion: str
    damage: str
    polite: str
    photos: int


def register(claim: Claim) -> Claim:
    return {"amount": 100 * len(claim["number"]), "branch": "north", "priority": 3}


def gather(check: Check) -> Check:
    return {"photos": check["amount"] // 100, "polite": "please"}


def damage(check: Check) -> Check:
    return {"damage": f"{interrupt('What is broken?')} ({check['photos']} photos)"}


def judge(check: Check) -> Check:
    return {"opinion": f"{check['damage']}: total loss"}


def decide(claim: Claim) -> Claim:
    answer = interrupt(f"Is {claim['amount']} right?")
    verdict = "paid" if answer == "yes" else "refused"
    return {"decision": f"{claim['branch']}/{claim['number']} {verdict}, {claim['opinion']}"}


def pay(claim: Claim) -> Claim:
    with Path("bank.txt").open("a") as bank:
        bank.write(f"{claim['amount']} {claim['decision']}\n")
    return {"logged": True}


def build() -> Any:
    check: Any = StateGraph(Check)
    for step in (gather, damage, judge):
        check.add_node(step.__name__, step)
    check.add_edge(START, "gather")
    check.add_edge("gather", "damage")
    check.add_edge("damage", "judge")
    builder: Any = StateGraph(Claim)
    builder.add_node("register", register)
    builder.add_node("check", check.compile())
    builder.add_node("decide", decide)
    builder.add_node("pay", pay)
    builder.add_edge(START, "register")
    builder.add_edge("register", "check")
    builder.add_edge("check", "decide")
    builder.add_edge("decide", "pay")
    return builder


def observe() -> list[str]:
    return Path("bank.txt").read_text().splitlines() if Path("bank.txt").exists() else []


INPUT = {"number": "c-12"}
ANSWERS = ["the roof", "yes"]
OUTPUT = ("decision", "logged")
TRUTH = {
    "number": "needed",
    "amount": "needed",
    "branch": "needed",
    "priority": "not needed",
    "opinion": "needed",
    "decision": "needed",
    "logged": "not needed",
    "check.damage": "needed",
    "check.polite": "not needed",
    "check.photos": "needed",
}
FIRST = {
    "number": "__start__",
    "amount": "register",
    "branch": "register",
    "check.damage": "damage",
    "check.photos": "gather",
    "opinion": "check",
    "decision": "decide",
}
WHY = {
    "number": "the amount, the check and the decision are made of it",
    "amount": "the bank is told it, and the check counts photos by it",
    "branch": "the decision names it, and only register sets it",
    "priority": "nothing reads it",
    "opinion": "the decision ends with it",
    "decision": "the bank is told it, and the caller reads it",
    "logged": "the last node sets it",
    "check.damage": "the opinion is made of it, one step after the answer has come",
    "check.polite": "written and never read",
    "check.photos": "put together with the answer when that arrives",
}
