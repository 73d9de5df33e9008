"""An agent looks pages up in a library and sends a signed answer.

It ranks the pages and drafts the answer in a folder of its own. Pages, folder and credential come
back by rule.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Any, TypedDict

import keepset as ks


def load_pages(page_ids: list[str]) -> list[dict[str, str]]:
    library = json.loads(Path("library.json").read_text(encoding="utf-8"))
    return [{"id": page_id, "text": library[page_id]} for page_id in page_ids]


def make_folder() -> Path:
    folder = Path("drafts")
    folder.mkdir(exist_ok=True)
    return folder


class Letter(TypedDict, total=False):
    question: str
    page_ids: list[str]
    pages: Annotated[list[dict[str, str]], ks.Refetch(load_pages, using="page_ids")]
    ranking: list[str]
    folder: Annotated[Path, ks.Scratch(make_folder)]
    credential: Annotated[str, ks.Secret("env:KEEPSET_CORPUS_LIBRARY")]
    draft: str


def order(pages: list[dict[str, str]]) -> list[str]:
    return [page["id"] for page in sorted(pages, key=lambda page: len(page["text"]))]


def find(state: Letter) -> Letter:
    library = json.loads(Path("library.json").read_text(encoding="utf-8"))
    found = [page_id for page_id in library if page_id in state["question"]]
    return {"page_ids": found, "pages": load_pages(found)}


def rank(state: Letter) -> Letter:
    return {"ranking": order(state["pages"])}


def compose(state: Letter) -> Letter:
    texts = {page["id"]: page["text"] for page in state["pages"]}
    ranking = state.get("ranking") or order(state["pages"])
    page = state["folder"] / "draft.txt"
    page.write_text(" ".join(texts[page_id] for page_id in ranking), encoding="utf-8")
    return {"draft": page.read_text(encoding="utf-8")}


def send(state: Letter) -> Letter:
    signed = hashlib.sha256(state["credential"].encode()).hexdigest()[:6]
    letter = f"Re: {state['question']} {state['draft']} ({signed})"
    Path("sent.txt").write_text(letter, encoding="utf-8")
    return {}


def build() -> ks.Workflow:
    return ks.Workflow(Letter, steps=[find, rank, compose, send])


INPUT: dict[str, Any] = {"question": "How do login and reset work?"}
OUTPUT = ("draft",)


def world() -> None:
    library = {"reset": "Open Settings, then Reset.", "login": "Use your e-mail.", "tax": "Ask us."}
    Path("library.json").write_text(json.dumps(library), encoding="utf-8")
    os.environ["KEEPSET_CORPUS_LIBRARY"] = "for the corpus only"


def observe() -> str:
    sent = Path("sent.txt")
    return sent.read_text(encoding="utf-8") if sent.exists() else ""


TRUTH: dict[str, str] = {
    "question": "needed",
    "page_ids": "needed",
    "pages": "restored",
    "ranking": "not needed",
    "folder": "restored",
    "credential": "restored",
    "draft": "needed",
}
FIRST = {"question": "find", "page_ids": "find", "draft": "compose"}
WHY: dict[str, str] = {
    "question": "the letter that is sent repeats it",
    "page_ids": "the pages are fetched again by them; no step reads them",
    "pages": "rank and compose read them, and the library gives the same ones again",
    "ranking": "compose ranks the pages again where it is not there",
    "folder": "compose writes into it, and a fresh one does as well",
    "credential": "send signs with it, and the environment still has it",
    "draft": "send reads it, and so does the caller",
}
