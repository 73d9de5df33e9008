"""A search index over the documents, in a SQLite file, ranked by Okapi BM25.

BM25: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with its usual k1 = 1.2 and b = 0.75. A rank depends on how many documents hold a word and on how
long they are, so it moves when documents are added, as it does in live indexes.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING

from keepset.cli.demo.documents import Document, library

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

K1 = 1.2
B = 0.75
LATE = 4
"""Every fourth document is published only after the workflow was killed."""

_WORD = re.compile(r"[a-z_]{3,}")


def create(path: Path) -> int:
    """Build the index as it is before the kill, and say how many documents it has."""
    early = [document for number, document in enumerate(library()) if number % LATE]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE document (id TEXT PRIMARY KEY, title TEXT, text TEXT)")
    return publish(path, early)


def publish_late(path: Path) -> int:
    """Publish the documents that were not there yet, and say how many."""
    return publish(path, library()[::LATE])


def publish(path: Path, documents: Iterable[Document]) -> int:
    """Add documents to an index."""
    rows = [(d["id"], d["title"], d["text"]) for d in documents]
    with closing(sqlite3.connect(path)) as db, db:
        db.executemany("INSERT INTO document VALUES (?, ?, ?)", rows)
    return len(rows)


def search(db: sqlite3.Connection, question: str, limit: int) -> list[str]:
    """Give the ids of the documents that answer a question best, the best first."""
    counts = [(key, Counter(_WORD.findall(text.lower()))) for key, text in _texts(db)]
    lengths = {key: sum(words.values()) for key, words in counts}
    average = sum(lengths.values()) / max(1, len(lengths))
    scores: defaultdict[str, float] = defaultdict(float)
    for word in set(_WORD.findall(question.lower())):
        holders = [(key, words[word]) for key, words in counts if words[word]]
        rarity = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key, times in holders:
            norm = K1 * (1 - B + B * lengths[key] / average)
            scores[key] += rarity * times * (K1 + 1) / (times + norm)
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]


def fetch(db: sqlite3.Connection, ids: Sequence[str]) -> list[Document]:
    """Read documents by id, in the order of the ids.

    Raises:
        KeyError: There is no such document.
    """
    found = {
        key: Document(id=key, title=title, text=text)
        for key, title, text in db.execute("SELECT id, title, text FROM document")
        if key in set(ids)
    }
    return [found[key] for key in ids]


def _texts(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT id, text FROM document ORDER BY id").fetchall()
