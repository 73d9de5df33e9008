"""An agent reads rows off an open cursor in two goes and looks each of them up with a client.

The cursor and a lock are live objects that no rule restores; the client is opened again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import keepset as ks


@dataclass
class Client:
    host: str
    lock: Any = field(default_factory=threading.Lock, compare=False, repr=False)

    def price(self, row: str) -> int:
        with self.lock:
            return len(self.host) * len(row)


def connect() -> Client:
    return Client("prices")


class Reading(TypedDict, total=False):
    query: str
    rows: Iterator[str]
    lock: Any
    client: Annotated[Client, ks.Reopen(connect)]
    connection_id: int
    taken: list[str]
    report: str


def select(query: str) -> Iterator[str]:
    return (f"{query}-{number}" * number for number in range(1, 5))


def take(state: Reading) -> Reading:
    rows = state["rows"]
    with state.get("lock") or threading.Lock():
        found = [next(rows), next(rows)]
    priced = [f"{row}={state['client'].price(row)}" for row in found]
    return {"taken": [*state.get("taken", []), *priced]}


def open_rows(state: Reading) -> Reading:
    return {"rows": select(state["query"]), "lock": threading.Lock(), "connection_id": 7}


def take_two(state: Reading) -> Reading:
    return take(state)


def take_rest(state: Reading) -> Reading:
    return take(state)


def report(state: Reading) -> None:
    state["report"] = f"{state['query']}: {', '.join(state['taken'])}"
    state.pop("rows", None)
    state.pop("lock", None)


def build() -> ks.Workflow:
    return ks.Workflow(Reading, steps=[open_rows, take_two, take_rest, report])


INPUT: dict[str, Any] = {"query": "r"}
OUTPUT = ("report",)
TRUTH: dict[str, str] = {
    "query": "needed",
    "rows": "needed",
    "lock": "not needed",
    "client": "restored",
    "connection_id": "not needed",
    "taken": "needed",
    "report": "not needed",
}
FIRST = {"query": "open_rows", "rows": "open_rows", "taken": "take_two"}
WHY: dict[str, str] = {
    "query": "report reads it",
    "rows": "each take reads on where the one before stopped, and nobody opens it again",
    "lock": "a step makes one of its own where there is none",
    "client": "both takes ask it for prices, and a reopened one gives the same",
    "connection_id": "nobody reads it",
    "taken": "take_rest adds to it, and report reads all",
    "report": "the last step makes it",
}
