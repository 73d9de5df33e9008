"""Search a long text window by window, and find in it exactly what a search of the whole finds.

Escapes opened, the text in lower case and its long runs take several times the memory of the text;
of a window they take little. A window gives what begins in it. What begins in it may end behind it,
so that each detector sees as much more as a match can need, and a little before it: every decision
is one that it would make with the whole text before it. Where one detector goes on behind a match,
it does so in the next window as well. Few matches have no end of their own; where one reaches the
end of what is seen, more is shown, until it does not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from operator import itemgetter
from typing import Final

from keepset.scan.finding import Span
from keepset.scan.known import KnownValues
from keepset.scan.opening import opened, shaded
from keepset.scan.pairs import paired, words_named
from keepset.scan.prefilter import has_prefix, next_prefix, prefixed_at, run_spans
from keepset.scan.structures import Structure, as_span, candidates, suspected

LONG: Final = 1 << 16
"""A text of fewer characters is searched as one."""

WINDOW: Final = 1 << 18
"""Characters that a match may begin at in one window."""

AHEAD: Final = 36 << 10
"""Characters that are seen behind a window: more than any match with an end of its own has."""

BEHIND: Final = 128
"""Characters that are seen before a window: more than any detector looks back."""

_PREFIX: Final = "prefix"
_CLOSING: Final = 100
"""Characters that may still belong to a match with no end of its own."""

_MORE: Final = 8


class _NotSeen(Exception):  # noqa: N818 - no error: more of the text is to be shown
    """A match may go on behind what is seen."""


def windowed(text: str, known: KnownValues, window: int = WINDOW) -> Iterator[Span]:
    """Yield what each detector finds in a long text; parts may overlap.

    Args:
        text: The text.
        known: Registered values.
        window: How many characters a window has.
    """
    if known.find(text, text):
        yield from known.spans(text)
    reached: dict[str, int] = {}
    for begin in range(0, len(text), window):
        ahead = AHEAD
        while True:
            view = _View(text, begin, window, ahead)
            try:
                spans, further = view.found(reached)
            except _NotSeen:
                ahead *= _MORE
                continue
            break
        reached |= further
        for span in spans:
            yield _moved(span, view.first)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.kind, span.detail, span.carrier)


class _View:
    """What is seen of a text in one window; positions count from its first character.

    Attributes:
        first: Where it begins in the text.
    """

    def __init__(self, text: str, begin: int, window: int, ahead: int) -> None:
        self.first = max(0, begin - BEHIND)
        self._text = opened(text[self.first : begin + window + ahead])
        self._begin = begin - self.first
        self._until = self._begin + window
        self._is_last = begin + window + ahead >= len(text)
        self._further: dict[str, int] = {}

    def found(self, reached: dict[str, int]) -> tuple[list[Span], dict[str, int]]:
        """Search the window.

        Args:
            reached: Where in the text each detector goes on, where that is behind a match.

        Returns:
            What was found, and what of `reached` is new.

        Raises:
            _NotSeen: A match reaches the end of what is seen.
        """
        shade = shaded(self._text)
        places = run_spans(shade)
        runs = b" ".join([shade[begin:end] for begin, end in places])
        spans: list[Span] = []
        if runs and has_prefix(runs):
            spans += self._prefixed(runs, places, self._goes_on(_PREFIX, reached))
        structures, words = suspected(shade, runs), words_named(shade)
        if structures or words:
            small = shade.lower().decode("ascii")
            for rule in structures:
                spans += self._structured(rule, small, self._goes_on(rule.id, reached))
            if words:
                spans += paired(self._text, small, self._begin, self._until, words)
        return spans, self._further

    def _goes_on(self, detector: str, reached: dict[str, int]) -> int:
        return max(self._begin, reached.get(detector, 0) - self.first)

    def _went(self, detector: str, end: int) -> None:
        """Note that a detector goes on behind a match."""
        if end > len(self._text) - _CLOSING and not self._is_last:
            raise _NotSeen
        self._further[detector] = self.first + end

    def _structured(self, rule: Structure, small: str, begin: int) -> list[Span]:
        spans = []
        for match in candidates(rule, self._text, small, begin):
            if match.start() >= self._until:
                break
            self._went(rule.id, match.end())
            if rule.check(match):
                spans.append(as_span(rule, match))
        return spans

    def _prefixed(self, runs: bytes, places: list[tuple[int, int]], begin: int) -> list[Span]:
        """Look at prefixes in the long runs, outside of which there is none that counts."""
        joined = list(accumulate([end - first + 1 for first, end in places], initial=1))
        spans: list[Span] = []
        runs = b" " + runs
        start = next_prefix(runs, _into(begin, places, joined))
        while start is not None:
            place, shortest = start
            run = bisect_right(joined, place) - 1
            at = places[run][0] + place - joined[run]
            if at >= self._until:
                break
            span = prefixed_at(self._text, at, shortest)
            spans += [] if span is None else [span]
            end = at + len(shortest) if span is None else span.end
            self._went(_PREFIX, end)
            start = next_prefix(runs, place + end - at)
        return spans


def _into(position: int, places: list[tuple[int, int]], joined: list[int]) -> int:
    """Give where a position, or what comes behind it, is in the runs that were joined."""
    run = bisect_right(places, position, key=itemgetter(1))
    return joined[run] + max(0, position - places[run][0]) if run < len(places) else joined[-1]
