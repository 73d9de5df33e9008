"""The state of the demo's workflow: the seven candidate fields, each with its rule.

Every process of the demo is given its surroundings in the environment, as a deployed worker is.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from keepset.cli.demo import index
from keepset.contracts import Keep, Refetch, Reopen, Scratch, Secret, contract

if TYPE_CHECKING:
    from keepset.cli.demo.documents import Document

FOLDER = "KEEPSET_DEMO_FOLDER"
API_KEY = "KEEPSET_DEMO_API_KEY"
ORDER = "KEEPSET_DEMO_ORDER"
QUESTION = "How does a with statement release a resource when an exception is raised?"


def folder() -> Path:
    """Give the demo's folder; everything that it writes lies in there."""
    return Path(os.environ[FOLDER])


def order() -> str:
    """Name the order that this process works on; each way of saving has its own."""
    return os.environ[ORDER]


def connect() -> sqlite3.Connection:
    """Open the index of documents."""
    return sqlite3.connect(folder() / "index.db")


def load_documents(doc_ids: list[str]) -> list[Document]:
    """Fetch documents again from their ids."""
    db = connect()
    try:
        return index.fetch(db, doc_ids)
    finally:
        db.close()


def make_workdir() -> Path:
    """Make a temporary folder, where the process has its temporary files."""
    return Path(tempfile.mkdtemp(prefix="work-"))


class Payment(TypedDict):
    """What was tried and what was done; one row of the table.

    Attributes:
        attempts: How often the gateway was asked.
        charged: Whether the customer was charged.
    """

    attempts: int
    charged: bool


@contract(name="demo/research", epoch=1)
class Research(TypedDict, total=False):
    """A question, what was found for it, and whether it was paid for."""

    question: Annotated[str, Keep(personal=True)]
    doc_ids: Annotated[list[str], Keep()]
    docs: Annotated[list[Document], Refetch(load_documents, using="doc_ids")]
    db: Annotated[sqlite3.Connection, Reopen(connect)]
    api_key: Annotated[str, Secret(f"env:{API_KEY}")]
    payment: Annotated[Payment, Keep()]
    workdir: Annotated[Path, Scratch(make_workdir)]


def asked() -> Research:
    """Give what a run begins with; the contract's rules make the rest."""
    return Research(question=QUESTION, doc_ids=[], payment=Payment(attempts=0, charged=False))


def by_hand() -> Research:
    """Give the same with everything that the rules make, for a saver that has no rules."""
    return Research(
        **asked(), docs=[], db=connect(), api_key=os.environ[API_KEY], workdir=make_workdir()
    )
