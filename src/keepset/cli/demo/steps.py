"""The steps of the demo's workflow, the same for both ways of saving."""

from __future__ import annotations

import re
from typing import Protocol

from keepset.cli.demo import index
from keepset.cli.demo.gateway import BusyError, Gateway
from keepset.cli.demo.state import Payment, Research, folder, load_documents, order

WANTED = 40
ATTEMPTS = 3
PRICE = 250
"""In cents."""


def retrieve(state: Research) -> Research:
    """Search the index, through the open connection."""
    return {"doc_ids": index.search(state["db"], state["question"], WANTED)}


def read(state: Research) -> Research:
    """Fetch the text of what was found."""
    return {"docs": load_documents(state["doc_ids"])}


def outline(state: Research) -> None:
    """Write the sentences that speak of the question to a temporary file."""
    words = set(re.findall(r"[a-z]{5,}", state["question"].lower()))
    notes = [_best_line(document["text"], words) for document in state["docs"]]
    (state["workdir"] / "notes.txt").write_text("\n".join(notes), "utf-8")


def charge(state: Research) -> Research:
    """Charge for the answer, once; the gateway turns the first call away."""
    payment = Payment(**state["payment"])
    gateway = Gateway(folder(), state["api_key"])
    while not payment["charged"]:
        payment["attempts"] += 1
        try:
            gateway.charge(order(), PRICE)
        except BusyError:
            if payment["attempts"] >= ATTEMPTS:
                raise
        else:
            payment["charged"] = True
    return {"payment": payment}


def deliver(state: Research) -> None:
    """Write the answer in the temporary folder, and move it to its place when it is whole."""
    words = set(re.findall(r"[a-z]{5,}", state["question"].lower()))
    best = [_best_line(document["text"], words) for document in state["docs"][:5]]
    draft = state["workdir"] / "answer.txt"
    draft.write_text("\n".join((state["question"], *best)), "utf-8")
    draft.replace(folder() / f"{order()}.answer.txt")


class Step(Protocol):
    """A step: it is given the state, and gives the fields that it changed, or None."""

    __name__: str

    def __call__(self, state: Research, /) -> Research | None:
        """Take the step."""
        ...


STEPS: tuple[Step, ...] = (
    retrieve,
    read,
    outline,
    charge,
    deliver,
)
NAMES = tuple(step.__name__ for step in STEPS)


def _best_line(text: str, words: set[str]) -> str:
    """Pick the line of a text that has the most of the words."""
    return max(text.splitlines(), key=lambda line: len(words & set(line.lower().split())))
