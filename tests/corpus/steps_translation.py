"""A text is downloaded, translated, proofread and delivered.

The module remembers texts and clients for as long as its process lives, so that only a new process
shows what a checkpoint has to hold.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import keepset as ks

CRASH = True
TEXTS: dict[str, str] = {}
CLIENTS: dict[str, str] = {}


class Translation(TypedDict, total=False):
    doc_id: str
    style: str
    text: str
    connected: bool
    glossary: dict[str, str]
    draft: str
    translation: str


@cache
def glossary_of(style: str) -> dict[str, str]:
    return {"dear": "honoured" if style == "formal" else "hi"}


def download(state: Translation) -> Translation:
    text = f"dear reader of {state['doc_id']}"
    TEXTS[state["doc_id"]] = text
    CLIENTS["translator"] = "open"
    return {"text": text, "connected": True, "glossary": glossary_of(state["style"])}


def translate(state: Translation) -> Translation:
    CLIENTS.setdefault("translator", "open")
    text = TEXTS.get(state["doc_id"]) or state["text"]
    glossary = state.get("glossary") or glossary_of(state["style"])
    return {"draft": " ".join(glossary.get(word, word) for word in text.split())}


def proofread(state: Translation) -> Translation:
    return {"translation": state["draft"].capitalize() + "."}


def deliver(state: Translation) -> Translation:
    tone = "with kind regards" if state["style"] == "formal" else "bye"
    Path("delivered.txt").write_text(f"{state['doc_id']} {tone}", encoding="utf-8")
    return {}


def build() -> ks.Workflow:
    return ks.Workflow(Translation, steps=[download, translate, proofread, deliver])


INPUT: dict[str, Any] = {"doc_id": "d-3", "style": "formal"}
OUTPUT = ("translation",)


def observe() -> str:
    delivered = Path("delivered.txt")
    return delivered.read_text(encoding="utf-8") if delivered.exists() else ""


TRUTH: dict[str, str] = {
    "doc_id": "needed",
    "style": "needed",
    "text": "needed",
    "connected": "not needed",
    "glossary": "not needed",
    "draft": "needed",
    "translation": "needed",
}
FIRST = {
    "doc_id": "download",
    "style": "download",
    "text": "download",
    "draft": "translate",
    "translation": "proofread",
}
WHY: dict[str, str] = {
    "doc_id": "translate and deliver read it",
    "style": "deliver reads it",
    "text": "a new process has not the module's copy; the old one would hide that",
    "connected": "translate looks at the client itself and not at the flag",
    "glossary": "it is worked out again from the style",
    "draft": "proofread reads it",
    "translation": "the caller reads it, and the step that makes it is not the last",
}
