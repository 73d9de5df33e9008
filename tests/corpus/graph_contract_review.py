"""A contract is reviewed with what a library has; what need not be stored has a rule.

The library is opened by name, the clauses are read from it by their ids, a key comes from the
environment, and the scan lies in a folder that may be empty again.
"""

import operator
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import keepset as ks


@dataclass
class Library:
    """Clauses in files, one a clause."""

    folder: str

    def read(self, name: str) -> str:
        return (Path(self.folder) / f"{name}.txt").read_text()


def open_library() -> Library:
    return Library("clauses")


def load(ids: list[str]) -> list[str]:
    return [open_library().read(name) for name in ids]


def make_desk() -> str:
    shutil.rmtree("desk", ignore_errors=True)
    Path("desk").mkdir()
    return "desk"


class Review(TypedDict, total=False):
    subject: Annotated[str, ks.Keep()]
    ids: Annotated[list[str], ks.Keep(), operator.add]
    clauses: Annotated[list[str], ks.Refetch(load, using="ids")]
    library: Annotated[Library, ks.Reopen(open_library)]
    signature: Annotated[str, ks.Secret("env:REVIEW_SIGNATURE")]
    desk: Annotated[str, ks.Scratch(make_desk)]
    risks: Annotated[int, ks.Keep(), operator.add]
    verdict: Annotated[str, ks.Keep()]


def search(review: Review) -> Review:
    ids = [f"{review['subject']}-{number}" for number in (1, 2)]
    return {"ids": ids, "clauses": load(ids)}


def read(review: Review) -> Review:
    glossary = review["library"].read("glossary")
    return {"risks": sum(glossary in clause for clause in review["clauses"])}


def scan(review: Review) -> Review:
    (Path(review["desk"]) / "scan.txt").write_text("\n".join(review["clauses"]))
    return {"risks": 1}


def sign(review: Review) -> Review:
    signed = f"{review['risks']} risks in {review['subject']}, signed {review['signature']}"
    Path("signed.txt").write_text(signed)
    return {"verdict": f"{review['risks']} risks"}


def build() -> Any:
    builder: Any = StateGraph(Review)
    for node in (search, read, scan, sign):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "search")
    builder.add_edge("search", "read")
    builder.add_edge("read", "scan")
    builder.add_edge("scan", "sign")
    return builder


def world() -> None:
    os.environ["REVIEW_SIGNATURE"] = "blue-ink-of-the-director"
    Path("clauses").mkdir()
    Path("clauses/lease-1.txt").write_text("The penalty is high.")
    Path("clauses/lease-2.txt").write_text("No pets.")
    Path("clauses/glossary.txt").write_text("penalty")
    Path("desk").mkdir()


def observe() -> str:
    return Path("signed.txt").read_text() if Path("signed.txt").exists() else ""


INPUT = {
    "subject": "lease",
    "library": Library("clauses"),
    "signature": "blue-ink-of-the-director",
    "desk": "desk",
}
OUTPUT = ("verdict",)
TRUTH = {
    "subject": "needed",
    "ids": "needed",
    "clauses": "restored",
    "library": "restored",
    "signature": "restored",
    "desk": "restored",
    "risks": "needed",
    "verdict": "not needed",
}
FIRST = {"subject": "__start__", "ids": "search", "risks": "read"}
WHY = {
    "subject": "the search and the signed text name it",
    "ids": "the clauses are fetched again by them",
    "clauses": "read and scan use them; the files are as they were",
    "library": "read uses it; opened again it is an equal one",
    "signature": "the signed text has it; the environment has it still",
    "desk": "scan writes into it; one that is made afresh and empty does as well",
    "risks": "the sum goes on from what was counted before",
    "verdict": "the last node sets it",
}
