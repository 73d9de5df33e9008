"""A page is downloaded, checked, parsed and reported on.

The folder of downloads is emptied while the run lies still, as temporary folders are; whoever
misses the file downloads it again.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any, TypedDict

import keepset as ks


class Page(TypedDict, total=False):
    url: str
    local_path: str
    checksum: str
    lines: list[str]
    count: int
    language: str
    report: str


def copy(url: str) -> str:
    folder = Path("downloads")
    folder.mkdir(exist_ok=True)
    return str(shutil.copy(Path("remote") / url, folder / url))


def text_of(state: Page) -> str:
    local = state.get("local_path")
    if not local or not Path(local).exists():
        local = copy(state["url"])
    return Path(local).read_text(encoding="utf-8")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def download(state: Page) -> Page:
    local = copy(state["url"])
    return {"local_path": local, "checksum": digest(Path(local).read_text(encoding="utf-8"))}


def verify(state: Page) -> Page:
    if digest(text_of(state)) != state["checksum"]:
        raise ValueError
    return {}


def parse(state: Page) -> Page:
    lines = text_of(state).splitlines()
    language = "de" if "Guten" in lines[0] else "en"
    return {"lines": lines, "count": len(lines), "language": language}


def report(state: Page) -> Page:
    lines = state.get("lines") or text_of(state).splitlines()
    return {"report": f"{state['count']} lines ({state['language']}): {lines[0]}"}


def build() -> ks.Workflow:
    return ks.Workflow(Page, steps=[download, verify, parse, report])


INPUT: dict[str, Any] = {"url": "greeting.txt"}
OUTPUT = ("report",)


def world() -> None:
    Path("remote").mkdir()
    Path("remote/greeting.txt").write_text("Guten Tag\nWie geht es?\n", encoding="utf-8")


def between() -> None:
    shutil.rmtree("downloads", ignore_errors=True)


TRUTH: dict[str, str] = {
    "url": "needed",
    "local_path": "not needed",
    "checksum": "needed",
    "lines": "not needed",
    "count": "needed",
    "language": "needed",
    "report": "not needed",
}
FIRST = {"url": "download", "checksum": "download", "count": "parse", "language": "parse"}
WHY: dict[str, str] = {
    "url": "the file is gone after a while, and verify downloads it again",
    "local_path": "the file that it names is gone; without it the same download follows",
    "checksum": "verify compares with it",
    "lines": "report reads them off the page again",
    "count": "report reads it and does not count again",
    "language": "report reads it and does not guess again",
    "report": "the last step makes it",
}
