"""Everything in one text that is a secret, as parts of it that do not overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Final

from keepset.scan.finding import Span
from keepset.scan.known import KnownValues
from keepset.scan.opening import folded, opened
from keepset.scan.pairs import named, paired
from keepset.scan.prefilter import LONG_RUN, has_prefix, long_runs, prefixed
from keepset.scan.reasons import SECRET_FORMAT, SECRET_NAME, SECRET_VALUE
from keepset.scan.structures import structured, suspected
from keepset.scan.windows import LONG, windowed

_MOST_PASSES: Final = 6
_PRIORITY: Final = {SECRET_VALUE: 0, SECRET_FORMAT: 1, SECRET_NAME: 2}


def marker(kind: str) -> str:
    """Give the text that stands in a stored text in place of a secret."""
    return f"[withheld: {kind}]"


def masked(text: str, spans: Iterable[Span]) -> str:
    """Give a text with a marker in place of each span.

    Args:
        text: The text.
        spans: Parts of it in order, without overlap.
    """
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], marker(span.kind)]
        position = span.end
    return "".join([*pieces, text[position:]])


def matches(text: str, known: KnownValues) -> Iterator[Span]:
    """Yield what each detector finds in a text; parts may overlap."""
    if len(text) >= LONG:
        yield from windowed(text, known)
        return
    clear = opened(text)
    if known.forms and known.find(text, clear):
        yield from known.spans(text)
    if len(text) < LONG_RUN and text.isidentifier():
        return  # one short word: no format is as short, and every other structure has a sign
    data = clear.encode("utf-8", "surrogatepass")
    runs = long_runs(data)
    if runs and has_prefix(runs):
        yield from prefixed(clear)
    structures, pairs = suspected(data, runs), named(data)
    if structures or pairs:
        small = folded(clear)
        yield from structured(clear, small, structures)
        if pairs:
            yield from paired(clear, small)


def secrets(text: str, known: KnownValues) -> list[Span]:
    """Find every secret in a text.

    Masking one can bring another to light (what stood beside it now begins a word), so that the
    masked text is searched again until nothing is found.

    Returns:
        Parts in order, without overlap; once they are masked nothing is found any more.
    """
    spans = _merged(matches(text, known))
    for _ in range(_MOST_PASSES):
        if not spans:
            return []
        again = list(matches(masked(text, spans), known))
        if not again:
            return spans
        spans = _merged([*spans, *map(_back(spans), again)])
    return [Span(0, len(text), spans[0].kind, spans[0].detail)]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Join spans that touch or overlap; the stronger reason names what comes out."""
    out: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not out or span.start > out[-1].end:
            out.append(span)
            continue
        last = out[-1]
        first = min(last, span, key=lambda one: _PRIORITY[one.kind])
        end = max(last.end, span.end)
        out[-1] = Span(
            last.start, end, first.kind, first.detail, carrier=last.carrier or span.carrier
        )
    return out


def _back(spans: list[Span]) -> Callable[[Span], Span]:
    """Give a function that moves a span of the masked text to where it is in the text itself.

    What overlaps a marker takes in all that the marker stands for.
    """
    lengths = [len(marker(span.kind)) for span in spans]
    shifts = list(
        accumulate((n - (s.end - s.start) for s, n in zip(spans, lengths, strict=True)), initial=0)
    )
    starts = [span.start + shift for span, shift in zip(spans, shifts, strict=False)]
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]

    def back(span: Span) -> Span:
        before = bisect_right(ends, span.start)
        after = bisect_left(starts, span.end)
        start = span.start - shifts[before]
        end = span.end - shifts[after]
        if before < after:
            start = min(start, spans[before].start)
            end = max(end, spans[after - 1].end)
        return Span(start, end, span.kind, span.detail, span.carrier)

    return back
