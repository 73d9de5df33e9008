"""The documentation is one set of pages: reachable, without dead links, in one language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import ROOT, name, pages

WORDS = {
    *("state", "contract", "rule", "verdict", "run", "incarnation", "line", "checkpoint"),
    *("epoch", "surface", "effect", "subject", "hold", "receipt", "packed", "sealed", "backend"),
}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]+`")


def _text(page: Path) -> str:
    return page.read_text("utf-8")


def _prose(page: Path) -> str:
    """A page without what is code: other tools' words and our own identifiers."""
    blank = FENCE.sub(lambda match: "\n" * match.group().count("\n"), _text(page))
    return INLINE.sub("", blank)


def _links(page: Path) -> Iterator[tuple[Path, str]]:
    """Where a page's links to other files of the tree lead: a file and an anchor in it."""
    for match in LINK.finditer(_prose(page)):
        target, _, anchor = match.group(1).partition("#")
        if not re.match(r"[a-z]+:", target):
            yield (page.parent / target).resolve() if target else page, anchor


def _anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ +(.+)$", FENCE.sub("", _text(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def _rows(page: Path) -> list[list[str]]:
    """The cells of every table row of a page, the head and its rule left out."""
    rows = [line for line in _text(page).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return [row for row in cells if not set(row[0]) <= set("-: ") and row[0] != "word"]


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_link_in_the_docs_leads_somewhere(page: Path) -> None:
    dead = [
        f"{target.name}#{anchor}"
        for target, anchor in _links(page)
        if not target.exists()
        or (anchor and target.suffix == ".md" and anchor not in _anchors(target))
    ]
    assert dead == []


def test_every_page_of_the_docs_is_reached_from_the_index() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "docs" / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in seen and page.suffix == ".md" and page.is_file():
            seen.add(page)
            ahead.extend(target for target, _ in _links(page))
    assert [name(page) for page in pages() if page not in seen] == []


def test_the_docs_have_a_glossary_with_every_word_that_the_design_stands_on() -> None:
    explained = {row[0] for row in _rows(ROOT / "docs" / "glossary.md")}
    assert WORDS - explained == set()


def _banned() -> dict[str, str]:
    return {
        wrong.strip(): row[0]
        for row in _rows(ROOT / "docs" / "glossary.md")
        for wrong in row[2].split(",")
        if wrong.strip()
    }


def test_the_docs_call_each_idea_by_its_one_word() -> None:
    found = []
    for page in [page for page in pages() if page.name != "glossary.md"]:
        for number, line in enumerate(_prose(page).splitlines(), 1):
            found += [
                f"{name(page)}:{number} says {wrong!r}; the word is {right!r}"
                for wrong, right in _banned().items()
                if re.search(rf"\b{re.escape(wrong)}(e?s)?\b", line, re.IGNORECASE)
            ]
    assert found == []


def test_the_docs_do_not_speak_of_threads_where_they_mean_runs() -> None:
    """A thread is the operating system's, or LangGraph's own word, and the line says which."""
    meant = re.compile(
        r"LangGraph|process|lock|writer thread|event loop|thread[- ]safe", re.IGNORECASE
    )
    found = [
        f"{name(page)}:{number}"
        for page in pages()
        for number, line in enumerate(_prose(page).splitlines(), 1)
        if re.search(r"\bthreads?\b", line, re.IGNORECASE) and not meant.search(line)
    ]
    assert found == []


def test_the_change_log_of_the_docs_opens_with_what_is_not_released() -> None:
    text = _text(ROOT / "CHANGELOG.md")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", head) for head in heads[1:])
    kinds = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert kinds


def test_the_docs_name_the_commands_that_the_makefile_has_and_ci_runs() -> None:
    makefile = _text(ROOT / "Makefile")
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    assert {"demo", "test", "check", "bench", "clean"} <= targets
    said = {
        target
        for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
        for target in re.findall(r"\bmake ([a-z]+)\b", _text(page))
    }
    assert {"demo", "test"} <= said
    assert said <= targets
    assert "make test" in _text(ROOT / "README.md")
    ci = _text(ROOT / ".ci" / "run")
    assert "make check" in ci
    assert "make test" in ci


def test_every_extra_that_is_for_a_program_at_work_is_in_the_one_called_all() -> None:
    extras = tomllib.loads(_text(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    everything = ",".join(sorted(set(extras) - {"all", "audit", "bench", "deep"}))
    assert extras["all"] == [f"keepset[{everything}]"]
