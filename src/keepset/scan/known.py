"""Registered secret values, and where a text holds one of them, plain or encoded.

Each form of each value (as it is, URL-encoded, JSON-escaped, in base64 at each of the three
positions that it can have in a longer text) is looked for by four neighbouring characters of it
that are rare in prose: digits first. One expression finds all of these, so that 200 values cost
little more than one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final
from urllib.parse import quote, quote_plus

from keepset.scan.finding import Span
from keepset.scan.prefilter import LiteralSet, long_words
from keepset.scan.reasons import REASONS, SECRET_VALUE

SHORTEST: Final = 8
"""A value with fewer characters is not looked for: it would be found where it is none."""

# A value that is part of a marker would be found again in what was masked.
_MARKERS: Final = "".join(f"[withheld: {kind}]" * 2 for kind in REASONS)
_AT_ONCE: Final = 1 << 18
"""Characters whose words are looked through at once; there may be many."""
_BASE64_EDGE: Final = 2
_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")


@dataclass(frozen=True, slots=True)
class _Index:
    """All forms at one time; replaced as a whole when a value is added."""

    plain: Mapping[str, str]
    encoded: Mapping[str, str]
    plain_forms: LiteralSet
    encoded_forms: LiteralSet


class KnownValues:
    """The values of secrets that must not be stored. Values can be added, never taken out.

    Any thread may add and search at the same time.

    Attributes:
        forms: How many forms are looked for, which is what `len` gives.

    Args:
        named: The values by name; the name is what findings and `ignored` show.
    """

    def __init__(self, named: Mapping[str, str | bytes] | None = None) -> None:
        """Register the values given."""
        self._lock = Lock()
        self._ignored: tuple[str, ...] = ()
        self._index = _Index({}, {}, LiteralSet(()), LiteralSet(()))
        self.forms = 0
        self._add(named or {})

    def add(self, value: str | bytes, name: str) -> None:
        """Register a value; one of fewer than 8 characters is ignored and its name listed.

        Args:
            value: The secret itself.
            name: What to show in place of it, such as the reference it was resolved from.
        """
        self._add({name: value})

    def _add(self, named: Mapping[str, str | bytes]) -> None:
        with self._lock:
            plain, encoded = dict(self._index.plain), dict(self._index.encoded)
            ignored = []
            for name, value in named.items():
                text, data = _both(value)
                if len(text) < SHORTEST or text in _MARKERS:
                    ignored.append(name)
                    continue
                plain.update(dict.fromkeys(_plain_forms(text, data), name))
                encoded.update(dict.fromkeys(_base64_forms(data), name))
            self._ignored += tuple(ignored)
            if plain.keys() != self._index.plain.keys():
                forms, packed = LiteralSet(tuple(plain)), LiteralSet(tuple(encoded))
                self._index = _Index(plain, encoded, forms, packed)
                self.forms = len(plain)  # after it: who sees so many looks for so many

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of values that are too short to be looked for."""
        return self._ignored

    def __len__(self) -> int:
        """Count the forms that are looked for."""
        return len(self._index.plain)

    def __repr__(self) -> str:
        """Show how many forms there are, and no value."""
        return f"<KnownValues: {len(self)} forms, {len(self._ignored)} ignored>"

    def find(self, text: str, opened: str) -> bool:
        """Tell whether a text holds a registered value.

        Args:
            text: The text.
            opened: The same text, with escapes that no longer hide the beginnings of words.
        """
        index = self._index
        if not index.plain:
            return False
        if next(index.plain_forms.find(text), None) is not None:
            return True
        longest = max(map(len, index.encoded))
        parts = (
            opened[max(0, at - longest) : at + _AT_ONCE] for at in range(0, len(opened), _AT_ONCE)
        )
        return any(next(index.encoded_forms.find(long_words(part)), None) for part in parts)

    def spans(self, text: str) -> Iterator[Span]:
        """Yield every place in a text where a registered value stands; places may overlap."""
        index = self._index
        for start, form in index.plain_forms.find(text):
            yield Span(start, start + len(form), SECRET_VALUE, index.plain[form])
        for start, form in index.encoded_forms.find(text):
            first, last = _widened(text, start, start + len(form))
            yield Span(first, last, SECRET_VALUE, index.encoded[form])


def _both(value: str | bytes) -> tuple[str, bytes]:
    """Give a value as text and as bytes, without whitespace around it."""
    if isinstance(value, str):
        return value.strip(), value.strip().encode("utf-8", "replace")
    data = value.strip()
    try:
        return data.decode(), data
    except UnicodeDecodeError:
        return data.decode("latin-1"), data


def _plain_forms(text: str, data: bytes) -> set[str]:
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    for encoded in (quote(data, safe=""), quote_plus(data)):
        forms |= {encoded, _small_escapes(encoded)}
    # A bytes object is searched as Latin-1, in which UTF-8 looks like this.
    return forms | {data.decode("latin-1")}


def _small_escapes(encoded: str) -> str:
    head, *rest = encoded.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in rest)])


def _base64_forms(data: bytes) -> set[str]:
    forms = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            whole = encode(b"\0" * before + data).decode().rstrip("=")
            # The first and the last character also depend on the bytes beside the value.
            inexact = (len(data) + before) % 3 != 0
            forms.add(whole[(0, 2, 3)[before] : len(whole) - inexact])
    return forms


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Take in the characters beside it that hold some bits of the value, and padding."""
    for _ in range(_BASE64_EDGE):
        start -= start > 0 and text[start - 1] in _BASE64
        end += end < len(text) and text[end] in _BASE64
    while end < len(text) and text[end] == "=":
        end += 1
    return start, end
