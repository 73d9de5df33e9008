"""From texts to findings: which texts are secrets as a whole, and which only hold one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from keepset.scan.finding import Finding, Path, Span
from keepset.scan.known import KnownValues
from keepset.scan.names import Promise, credential
from keepset.scan.reasons import SECRET_NAME
from keepset.scan.texts import matches, secrets
from keepset.scan.values import plausible

_SEPARATOR: Final = "\n\0\n"
_MOST: Final = 1 << 16
_WRAPPING: Final = re.compile(
    r"(?i:(?:proxy-)?authorization\s*[:=]\s*)?(?i:bearer|basic|token)?\s*"
)


class Entry(NamedTuple):
    """One text to look at.

    Attributes:
        text: The text; bytes as Latin-1.
        parent: Path of what it stands in.
        element: Its own path element; None where `parent` is its path.
        name: The name that it stands under.
        key_at: Where the text is a mapping key: its position.
        indivisible: Whether it cannot be masked in part.
    """

    text: str
    parent: Path
    element: str | int | None
    name: str
    key_at: int | None = None
    indivisible: bool = False


class Judge:
    """Collects texts, looks at many of them at once, and keeps what was found.

    Most texts hold nothing: they are joined and searched as one, and only those in which that
    search hits are looked at one by one. Findings come without advice, and with paths that may
    hold keys which are secrets themselves (`secret_keys`); `keepset.scan.leaves` finishes them.
    """

    def __init__(self, known: KnownValues) -> None:
        """Begin with nothing."""
        self._known = known
        self._entries: list[Entry] = []
        self._size = 0
        self.findings: list[Finding] = []
        self.secret_keys: dict[tuple[Path, str], int] = {}

    def add(self, entry: Entry) -> None:
        """Take a text in."""
        promise = Promise.NOTHING if entry.key_at is not None else credential(entry.name)
        if promise is not Promise.NOTHING:
            self.findings += self._judge(entry, promise)
            return
        self._entries.append(entry)
        self._size += len(entry.text)
        if self._size > _MOST:
            self.flush()

    def flush(self) -> None:
        """Look at all texts taken in so far."""
        entries = self._entries
        self._entries, self._size = [], 0
        if not entries:
            return
        spans = list(matches(_SEPARATOR.join([entry.text for entry in entries]), self._known))
        if not spans:
            return
        lengths = (len(entry.text) + len(_SEPARATOR) for entry in entries)
        starts = list(accumulate(lengths, initial=0))
        hit: set[int] = set()
        for span in spans:
            first = bisect_right(starts, span.start) - 1
            last = bisect_right(starts, span.end - 1)
            hit.update(range(first, min(last, len(entries))))
        for index in sorted(hit):
            self.findings += self._judge(entries[index], Promise.NOTHING)

    def _judge(self, entry: Entry, promise: Promise) -> Iterator[Finding]:
        text = entry.text
        spans = secrets(text, self._known)
        whole = bool(spans) and (entry.indivisible or covers(text, spans))
        if not whole and promise is not Promise.NOTHING and plausible(promise, text):
            detail = f"name.{promise.name.lower()}"
            spans, whole = [Span(0, len(text), SECRET_NAME, detail)], True
        if not spans:
            return
        path = entry.parent if entry.element is None else (*entry.parent, entry.element)
        if entry.key_at is not None:
            self.secret_keys[entry.parent, text] = entry.key_at
        for span in spans[:1] if whole else spans:
            part = None if whole else (span.start, span.end)
            in_key = entry.key_at is not None
            yield Finding(span.kind, path, span.detail, "", whole, part, in_key)


def covers(text: str, spans: list[Span]) -> bool:
    """Tell whether secrets make up a text, with the wrapping of a URL, header or connection."""
    first, last = spans[0], spans[-1]
    if len(spans) == 1 and not (text[: first.start] + text[last.end :]).strip():
        return True
    if not any(span.carrier for span in spans):
        return False
    bare = text.strip()
    if bare[:1] in {"{", "[", '"', "<", "("}:
        return False
    wrapping = _WRAPPING.match(bare)
    return not any(map(str.isspace, bare[wrapping.end() if wrapping else 0 :]))
