"""Content is found beside the ids that it can be fetched again by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from keepset.scan import Finding, Scanner

TEXT = "A page of text about something. " * 20
IDS = [f"doc-{i}" for i in range(40)]


@dataclass
class Document:
    page_content: str
    id: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


def beside(scanner: Scanner, **fields: object) -> list[Finding]:
    found = scanner.beside(fields)
    return [finding for finding in found if finding.kind == "content.beside-ids"]


CONTENT: dict[str, Any] = {
    "objects": [Document(TEXT, id=one) for one in IDS],
    "mappings": [{"text": TEXT, "doc_id": one} for one in IDS],
    "metadata": [Document(TEXT, metadata={"source": one}) for one in IDS],
    "by id": dict.fromkeys(IDS, TEXT),
    "texts": [TEXT for _ in IDS],
}


@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
def test_content_beside_its_ids_is_found_with_evidence(scanner: Scanner, content: Any) -> None:
    (finding,) = beside(scanner, question="why?", docs=content, doc_ids=IDS)
    assert finding.path == ("docs",)
    assert finding.detail.startswith("40 items, ")
    assert finding.detail.endswith("ids in doc_ids")
    assert finding.advice.startswith('Declare the field Refetch(load, using="doc_ids")')
    assert "page of text" not in repr(finding)


@pytest.mark.parametrize("ids", [tuple(IDS), set(IDS), [*IDS, "doc-99"]])
def test_ids_of_the_items_count_whatever_their_field_is_called(
    scanner: Scanner, ids: object
) -> None:
    assert beside(scanner, docs=CONTENT["objects"], selection=ids)


def test_numbers_are_ids_too(scanner: Scanner) -> None:
    rows = [{"id": i, "body": TEXT} for i in range(40)]
    assert beside(scanner, rows=rows, chosen=list(range(40)))


def test_content_without_its_ids_is_not_found(scanner: Scanner) -> None:
    docs = CONTENT["objects"]
    assert not beside(scanner, docs=docs)
    assert not beside(scanner, docs=docs, doc_ids=IDS[:-1])
    assert not beside(scanner, docs=docs, doc_ids=[f"other-{i}" for i in range(40)])
    assert not beside(scanner, docs=CONTENT["texts"], doc_ids=IDS[:-1])
    assert not beside(scanner, drafts=CONTENT["texts"], doc_ids=IDS)
    assert not beside(scanner, docs=CONTENT["texts"], doc_titles=IDS)


def test_small_content_is_not_found(scanner: Scanner) -> None:
    assert not beside(scanner, docs=[Document("short", id=one) for one in IDS], doc_ids=IDS)


def test_ids_themselves_are_not_content(scanner: Scanner) -> None:
    many = [f"doc-{i:06}" for i in range(2000)]
    assert not beside(scanner, doc_ids=many, seen_ids=list(many))
