"""From texts to findings: which texts are secrets as a whole, and which only hold one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from keepset.scan.below import promised_above
from keepset.scan.binary import readable
from keepset.scan.finding import Finding, Path, Span
from keepset.scan.known import SHORTEST, KnownValues
from keepset.scan.names import Promise, credential
from keepset.scan.plain import SEPARATOR, TOGETHER
from keepset.scan.reasons import SECRET_NAME
from keepset.scan.texts import matches, secrets
from keepset.scan.values import plausible

_WRAPPING: Final = re.compile(
    r"(?i:(?:proxy-)?authorization\s*[:=]\s*)?(?i:bearer|basic|token)?\s*"
)
_BLANK: Final = re.compile(r"\s*+")


class Entry(NamedTuple):
    """One text to look at.

    Attributes:
        text: The text; bytes as Latin-1.
        parent: Path of what it stands in.
        element: Its own path element; None where `parent` is its path.
        key_at: Where the text is a mapping key: what stands for it in a path.
        indivisible: Whether it cannot be masked in part.
        keys: Where the text is the keys of one mapping, joined: each of them.
    """

    text: str
    parent: Path
    element: str | int | None
    key_at: str | int | None = None
    indivisible: bool = False
    keys: tuple[str, ...] = ()


class Judge:
    """Collects texts, looks at many of them at once, and keeps what was found.

    Most texts hold nothing: they are joined and searched as one, and only those in which that
    search hits are looked at one by one. Findings come without advice, and with paths that may
    hold keys which are secrets themselves (`secret_keys`); `keepset.scan.leaves` finishes them.
    """

    def __init__(self, known: KnownValues) -> None:
        """Begin with nothing."""
        self._known = known
        self._texts: list[str] = []
        self._entries: list[Entry | tuple[Path, str | int | None]] = []
        self._size = 0
        self.findings: list[Finding] = []
        self.secret_keys: dict[tuple[Path, str | int], str | int] = {}

    def text(
        self, text: str, parent: Path, element: str | int | None, name: str, above: str
    ) -> None:
        """Take in a text that stands under a name, and below that of a credential."""
        promise = credential(name)
        if above and not promise:
            promise = promised_above(above, name, text)
        if promise:
            self.findings += self._judge(Entry(text, parent, element), promise)
            return
        self._add(text, (parent, element))

    def add(self, entry: Entry, name: str = "") -> None:
        """Take in any other text."""
        promise = credential(name)
        if promise:
            self.findings += self._judge(entry, promise)
            return
        self._add(entry.text, entry)

    def keys(self, keys: tuple[str, ...], parent: Path) -> None:
        """Take in the keys of one mapping; in a path, each is stood for by its position."""
        text = SEPARATOR.join(keys)
        if len(text) >= SHORTEST:
            self._add(text, Entry(text, parent, None, None, False, keys))  # noqa: FBT003 - in the hot path

    def is_clean(self, data: bytes) -> bool:
        """Tell whether bytes that are no text hold no secret, by what can be read in them."""
        text = readable(data).decode("latin-1")
        if len(self._known) and self._known.find(data.decode("latin-1"), text):
            return False
        return next(matches(text, self._known), None) is None

    def flush(self) -> None:
        """Look at all texts taken in so far."""
        texts, entries = self._texts, self._entries
        self._texts, self._entries, self._size = [], [], 0
        spans = list(matches(SEPARATOR.join(texts), self._known)) if texts else []
        if not spans:
            return
        lengths = (len(text) + len(SEPARATOR) for text in texts)
        starts = list(accumulate(lengths, initial=0))
        # Nothing that is looked for goes across a separator.
        for index in sorted({bisect_right(starts, span.start) - 1 for span in spans}):
            entry = entries[index]
            if not isinstance(entry, Entry):
                entry = Entry(texts[index], *entry)
            self.findings += self._judge(entry, Promise.NOTHING)

    def _add(self, text: str, entry: Entry | tuple[Path, str | int | None]) -> None:
        if len(text) > TOGETHER:  # not joined with others: that would take its memory once more
            one = entry if isinstance(entry, Entry) else Entry(text, *entry)
            # Keys are many, and are looked at one by one only where there is something in them.
            if not one.keys or next(matches(text, self._known), None) is not None:
                self.findings += self._judge(one, Promise.NOTHING)
            return
        self._texts.append(text)
        self._entries.append(entry)
        self._size += len(text)
        if self._size > TOGETHER:
            self.flush()

    def _judge(self, entry: Entry, promise: Promise) -> Iterator[Finding]:
        if entry.keys:
            for position, key in enumerate(entry.keys):
                one = Entry(key, entry.parent, key, key_at=position)
                yield from self._judge(one, Promise.NOTHING)
            return
        text = entry.text
        spans = secrets(text, self._known)
        whole = bool(spans) and (entry.indivisible or covers(text, spans))
        if not whole and promise is not Promise.NOTHING and plausible(promise, text):
            detail = f"name.{promise.name.lower()}"
            spans, whole = [Span(0, len(text), SECRET_NAME, detail)], True
        path = entry.parent if entry.element is None else (*entry.parent, entry.element)
        in_key = entry.key_at is not None
        if spans and entry.key_at is not None and entry.element is not None:
            self.secret_keys[entry.parent, entry.element] = entry.key_at
        for span in spans[:1] if whole else spans:
            part = None if whole else (span.start, span.end)
            yield Finding(span.kind, path, span.detail, "", whole, part, in_key)


def covers(text: str, spans: list[Span]) -> bool:
    """Tell whether secrets make up a text, with the wrapping of a URL, header or connection."""
    first, last = spans[0], spans[-1]
    around = (0, first.start), (last.end, len(text))
    if len(spans) == 1 and all(_BLANK.fullmatch(text, *part) for part in around):
        return True
    if not any(span.carrier for span in spans):
        return False
    bare = text.strip()
    if bare[:1] in {"{", "[", '"', "<", "("}:
        return False
    wrapping = _WRAPPING.match(bare)
    return not any(map(str.isspace, bare[wrapping.end() if wrapping else 0 :]))
