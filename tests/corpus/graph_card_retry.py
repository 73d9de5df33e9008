"""A card is charged; the bank fails twice, and the agent tries again within its budget.

The second and third try are told the bank's last complaint. The bank knows a charge by its number,
which has the count of tries in it.
"""

import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict


class Charge(TypedDict, total=False):
    amount: int
    budget: int
    tries: Annotated[int, operator.add]
    complaint: str
    payment_flag: bool
    waits: Annotated[list[int], operator.add]
    request: str
    outcome: str


def prepare(charge: Charge) -> Charge:
    said = f" after {charge['complaint']}" if charge.get("complaint") else ""
    return {"request": f"{charge['amount']} EUR{said}", "payment_flag": False}


def call_bank(charge: Charge) -> Charge:
    number = charge["tries"] + 1
    with Path("bank.txt").open("a") as bank:
        bank.write(f"charge-{number}: {charge['request']}\n")
    if number < 3:
        return {"tries": 1, "complaint": f"timeout {number}", "waits": [2**number]}
    return {"tries": 1, "payment_flag": True, "outcome": "paid"}


def again(charge: Charge) -> str:
    if charge.get("outcome") == "paid":
        return "tell"
    return "prepare" if charge["tries"] < charge["budget"] else END


def tell(charge: Charge) -> Charge:
    return {"outcome": f"paid {charge['amount']}"}


def build() -> Any:
    builder: Any = StateGraph(Charge)
    for node in (prepare, call_bank, tell):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "call_bank")
    builder.add_conditional_edges("call_bank", again, ["prepare", "tell", END])
    return builder


def observe() -> list[str]:
    return Path("bank.txt").read_text().splitlines() if Path("bank.txt").exists() else []


INPUT = {"amount": 30, "budget": 4}
OUTPUT = ("outcome",)
TRUTH = {
    "amount": "needed",
    "budget": "needed",
    "tries": "needed",
    "complaint": "needed",
    "payment_flag": "not needed",
    "waits": "not needed",
    "request": "needed",
    "outcome": "not needed",
}
FIRST = {
    "amount": "__start__",
    "budget": "__start__",
    "tries": "call_bank",
    "complaint": "call_bank",
    "request": "prepare",
}
WHY = {
    "amount": "each request and the last line name it",
    "budget": "the edge compares with it after each failed try",
    "tries": "from the second pass on: without it a number that the bank knows is used again",
    "complaint": "read in the second pass and the third, as part of what the bank is told",
    "payment_flag": "set in each pass and read by nothing; the edge goes by the outcome",
    "waits": "how long one would wait; nothing reads it",
    "request": "the bank gets it, one step after it was made",
    "outcome": "the edge of the step that sets it reads it; then the last node sets it anew",
}
