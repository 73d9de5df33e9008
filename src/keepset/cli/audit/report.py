"""An audit in the terminal: what does not belong, the fields and what they cost, what is next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from keepset.cli import output
from keepset.cli.audit import sentences
from keepset.cli.audit.folding import Row, rows
from keepset.cli.output import one_row

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import OverflowMethod, RenderableType

    from keepset.audit.judging import Judged
    from keepset.audit.report import Audit

MOST_FINDINGS: Final = 7
MOST_FIELDS: Final = 9
_MOST_SURFACES: Final = 3
_MOST_CODES: Final = 3
_STYLES: Final = {"error": "bold red", "warning": "yellow", "advice": "cyan"}


def print_report(
    audit: Audit,
    again: Sequence[str],
    done: Mapping[str, Path] | None = None,
    *,
    every: bool = False,
) -> None:
    """Print an audit.

    Args:
        audit: What was found.
        again: The words of the command line that it came from.
        done: The options that it had to write a file, and the files.
        every: Whether each place and each field has a row, and rows are broken where they are
            long; else the worst are told, on one screen.
    """
    output.show(*_parts(audit, every=every))
    # A command line is not broken into lines, so that it can be taken from the screen as it is.
    for number, line in enumerate(sentences.next_steps(audit, again, done or {})):
        output.text(f"{'Next: ' if not number else '      '}{one_row(line)}")


def _parts(audit: Audit, *, every: bool) -> Iterator[RenderableType]:
    yield from _head(audit, every=every)
    shown, left = rows(audit.findings, None if every else MOST_FINDINGS)
    if shown:
        yield Text()
        yield _findings(audit, shown, every=every)
        yield from _left(left)
    fields = audit.fields if every else audit.fields[:MOST_FIELDS]
    if fields:
        yield Text()
        yield _all_of(audit, fields) if every else _in_short(audit, fields)
        more = len(audit.fields) - len(fields)
        if more:
            yield Text(f"… and {more:,} more fields: --all", style="dim")
    yield Text(one_row(sentences.cost(audit)), overflow="fold")
    if said := sentences.in_keepset(audit):
        yield Text(said, overflow="fold")


def _head(audit: Audit, *, every: bool) -> Iterator[Text]:
    yield Text(one_row(sentences.headline(audit)), style="bold", overflow="fold")
    yield Text(f"{sentences.verdict(audit)} ({sentences.looked(audit)})", overflow="fold")
    if audit.survey.tally.runs.runs:
        yield Text(one_row(sentences.unfinished(audit)), overflow="fold")
    if said := sentences.ages(audit):
        yield Text(said, overflow="fold")
    yield Text(sentences.weights(audit, None if every else _MOST_SURFACES), overflow="fold")
    if notes := audit.survey.overview.notes:
        yield Text(one_row(" ".join(notes)), style="dim", overflow="fold")


def _left(left: Sequence[Row]) -> Iterator[Text]:
    """Name what has no row of its own: it is no error."""
    if not left:
        return
    codes = list(dict.fromkeys(row.findings[0].code for row in left))
    more = f" and {len(codes) - _MOST_CODES} more" if len(codes) > _MOST_CODES else ""
    said = f"… and {len(left):,} more (--all): {', '.join(codes[:_MOST_CODES])}{more}"
    yield Text(said, style="dim")


def _findings(audit: Audit, shown: Sequence[Row], *, every: bool) -> Table:
    grid = _grid("what does not belong", "where", right=("times", "runs", "bytes"))
    for row in shown:
        grid.add_row(
            _cell(row.message, _STYLES[row.severity], every=every),
            _cell(row.where, every=every),
            *(Text(one) for one in sentences.figures(audit, row.findings)),
        )
    return grid


def _in_short(audit: Audit, fields: Sequence[Judged]) -> Table:
    """Give fields with their figures in columns, a row each."""
    grid = _grid("field", "keep", "why", right=("bytes", "share", "same", "a step", "again"), gap=1)
    for one in fields:
        figures = sentences.measures(audit, one)
        grid.add_row(*_begin(one, every=False), *(Text(cell) for cell in figures))
    return grid


def _all_of(audit: Audit, fields: Sequence[Judged]) -> Table:
    """Give fields with what is said of each, in as many rows as it takes."""
    grid = _grid("field", "keep", "why", right=("bytes", "share"))
    grid.add_column("how", overflow="fold")
    for one in fields:
        size, share = sentences.weight(audit, one), sentences.share(audit, one)
        habits = sentences.habits(one)
        grid.add_row(*_begin(one, every=True), Text(size), Text(share), Text(habits))
    return grid


def _begin(one: Judged, *, every: bool) -> tuple[Text, Text, Text]:
    keep = "yes" if one.verdict.keep else "no"
    style = output.KEEP_COLOURS[keep]
    return (
        _cell(one.name, every=every),
        Text(keep, style=style),
        _cell(one.verdict.why, every=every),
    )


def _grid(*left: str, right: Sequence[str], gap: int = 2) -> Table:
    """Make a table; where there is no room, the columns on the left are made narrower."""
    grid = Table(
        box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0), collapse_padding=True
    )
    for heading in left:
        grid.add_column(heading, overflow="fold", no_wrap=heading == "keep")
    for heading in right:
        grid.add_column(heading, justify="right", no_wrap=True)
    return grid


def _cell(text: str, style: str = "", *, every: bool) -> Text:
    """Make a cell of text, which is cut where there is no room unless all is to be shown."""
    overflow: OverflowMethod = "fold" if every else "ellipsis"
    return Text(one_row(text), style=style, no_wrap=not every, overflow=overflow)
