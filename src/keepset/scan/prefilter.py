"""Find where the prefix of a known format stands, in one pass over a text.

The prefixes are put into one expression as a tree, branch by first character: `re` looks at a
branch's first character before it enters it, so that most positions cost one comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from keepset.scan.finding import Span
from keepset.scan.formats import PREFIXED, Prefixed
from keepset.scan.reasons import SECRET_FORMAT
from keepset.scan.values import placeholder

_GRAM: Final = 4
_FEW: Final = 12
"""Up to this many literals, one search for each is faster."""

LONG_WORD: Final = 10
"""No encoded value is shorter than this many characters in a row."""

LONG_RUN: Final = 14
"""No format with a prefix, and no structure but those that are looked for everywhere, is shorter
than this many characters in a row."""

_SPACES: Final = b" \t\n\r\x0b\x0c\0"
_MASK: Final = bytes(ord(" ") if byte in _SPACES else ord("x") for byte in range(256))
_RUN: Final = b"x" * LONG_RUN


def tree(words: Iterable[str]) -> str:
    """Give an expression that matches the shortest of the words that a text continues with."""
    return _branch(sorted(set(words)))


def _branch(words: list[str]) -> str:
    if not words[0]:
        return ""
    groups = [(first, [word[1:] for word in some]) for first, some in groupby(words, _first)]
    branches = [re.escape(first) + _branch(rest) for first, rest in groups]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _first(word: str) -> str:
    return word[0]


class LiteralSet:
    """A set of literals, all of at least four characters, to be found anywhere in a text.

    Args:
        literals: The literals, without one twice.
    """

    def __init__(self, literals: tuple[str, ...]) -> None:
        """Choose four characters of each literal to look for, the rarest in prose."""
        self._literals = literals
        grams: dict[str, list[tuple[int, str]]] = {}
        for literal in literals if len(literals) > _FEW else ():
            offset = _rarest(literal)
            grams.setdefault(literal[offset : offset + _GRAM], []).append((offset, literal))
        self._grams = grams
        self._start = re.compile(tree(grams)) if grams else None

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield where each literal stands: its position and itself; places may overlap."""
        if self._start is None:
            for literal in self._literals:
                start = text.find(literal)
                while start >= 0:
                    yield start, literal
                    start = text.find(literal, start + 1)
            return
        gram = self._start.search(text)
        while gram is not None:
            for offset, literal in self._grams[gram.group()]:
                start = gram.start() - offset
                if start >= 0 and text.startswith(literal, start):
                    yield start, literal
            gram = self._start.search(text, gram.start() + 1)


def _rarest(literal: str) -> int:
    ranks = [_rank(character) for character in literal]
    return max(range(len(literal) - _GRAM + 1), key=lambda i: (ranks[i], ranks[i : i + _GRAM]))


def _rank(character: str) -> int:
    if character.isdigit():
        return 3
    if not character.isalnum():
        return 2
    return 1 if character.isupper() else 0


def _by_shortest() -> dict[str, tuple[tuple[str, Prefixed], ...]]:
    """Group formats under the shortest prefix they share, longest prefix first."""
    pairs = [(prefix, rule) for rule in PREFIXED for prefix in rule.prefixes]
    prefixes = {prefix for prefix, _ in pairs}
    groups: dict[str, list[tuple[str, Prefixed]]] = {}
    for prefix, rule in pairs:
        shortest = next(prefix[:n] for n in range(1, len(prefix) + 1) if prefix[:n] in prefixes)
        groups.setdefault(shortest, []).append((prefix, rule))
    return {
        shortest: tuple(sorted(group, key=lambda pair: -len(pair[0])))
        for shortest, group in groups.items()
    }


_RULES: Final = _by_shortest()
_START: Final = re.compile(r"\b" + tree(_RULES), re.ASCII)
_FIRST: Final = "".join(sorted({prefix[0] for prefix in _RULES}))
_START_OF_BYTES: Final = re.compile(f"[^A-Za-z0-9_](?=[{_FIRST}])({tree(_RULES)})".encode())
"""The same with what stands before the word, for which `re` can skip ahead."""


def long_words(text: str) -> str:
    """Give the words of a text that have `LONG_WORD` characters at least, in order."""
    return " ".join([word for word in text.split() if len(word) >= LONG_WORD])


def long_runs(data: bytes) -> bytes:
    """Give what is written without a space over `LONG_RUN` bytes at least, in order.

    Args:
        data: A text in UTF-8. Only spaces of ASCII count, so that nothing is cut too often. Where
            the runs are is looked for in a mask, in which a search skips what is too short.
    """
    return b" ".join([data[begin:end] for begin, end in run_spans(data)])


def run_spans(data: bytes) -> list[tuple[int, int]]:
    """Give where the long runs of a text begin and end; see `long_runs`."""
    mask, spans = data.translate(_MASK), []
    begin = mask.find(_RUN)
    while begin >= 0:
        end = mask.find(b" ", begin)
        if end < 0:
            end = len(mask)
        spans.append((begin, end))
        begin = mask.find(_RUN, end)
    return spans


def has_prefix(words: bytes) -> bool:
    """Tell whether any prefix starts a word; False means that `prefixed` finds nothing."""
    return _START_OF_BYTES.search(b" " + words) is not None


def prefixed(text: str) -> Iterator[Span]:
    """Yield the credentials in a text that begin with a known prefix, in order."""
    start = _START.search(text)
    while start is not None:
        span = prefixed_at(text, start.start(), start.group())
        if span is not None:
            yield span
        start = _START.search(text, span.end if span else start.end())


def next_prefix(words: bytes, begin: int) -> tuple[int, str] | None:
    """Give where the next prefix starts a word, and its shortest form; see `prefixed_at`.

    Args:
        words: Words, with a byte before the first one that belongs to none.
        begin: Where to begin, from 1 on.
    """
    start = _START_OF_BYTES.search(words, begin - 1)
    return None if start is None else (start.start(1), start.group(1).decode())


def prefixed_at(text: str, begin: int, shortest: str) -> Span | None:
    """Give the credential that begins at a prefix; None where there is none.

    Args:
        text: The text.
        begin: Where the prefix stands.
        shortest: The shortest of the prefixes that stand there.
    """
    for prefix, rule in _RULES[shortest]:
        if not text.startswith(prefix, begin):
            continue
        match = rule.pattern.match(text, begin + len(prefix))
        if match is None or _stands_in(rule, match.group()):
            continue
        tail = rule.tail.match(text, match.end()) if rule.tail else None
        return Span(begin, tail.end() if tail else match.end(), SECRET_FORMAT, rule.id)
    return None


def _stands_in(rule: Prefixed, body: str) -> bool:
    if rule.check is not None and not rule.check(body):
        return True
    return placeholder(body) or body.endswith("EXAMPLE")
