"""An audit in the terminal: what does not belong, the fields and what they cost, what is next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from keepset.cli import output
from keepset.cli.audit import sentences
from keepset.cli.output import one_row

if TYPE_CHECKING:
    from rich.console import RenderableType

    from keepset.audit.finding import AuditFinding
    from keepset.audit.report import Audit

MOST_FINDINGS: Final = 8
MOST_FIELDS: Final = 9
_STYLES: Final = {"error": "bold red", "warning": "yellow", "advice": "cyan"}


def print_report(audit: Audit, again: Sequence[str]) -> None:
    """Print an audit.

    Args:
        audit: What was found.
        again: The words of the command line that it came from.
    """
    output.show(*_parts(audit, again))


def _parts(audit: Audit, again: Sequence[str]) -> Iterator[RenderableType]:
    yield Text(one_row(sentences.headline(audit)), style="bold", overflow="fold")
    yield Text(f"{sentences.verdict(audit)} ({sentences.looked(audit)})", overflow="fold")
    for line in (sentences.unfinished(audit), sentences.weights(audit)):
        yield Text(one_row(line), overflow="fold")
    for note in audit.survey.overview.notes:
        yield Text(one_row(note), style="dim", overflow="fold")
    if audit.findings:
        groups = sentences.grouped(audit.findings)
        yield Text()
        yield _findings(audit, groups)
        yield from _more(len(groups) - MOST_FINDINGS)
    if audit.fields:
        yield Text()
        yield _fields(audit)
        yield from _more(len(audit.fields) - MOST_FIELDS)
    yield Text()
    yield Text(one_row(sentences.cost(audit)), overflow="fold")
    if said := sentences.in_keepset(audit):
        yield Text(said, overflow="fold")
    first, *others = sentences.next_steps(audit, again)
    yield Text(f"Next: {one_row(first)}", overflow="fold")
    for line in others:
        yield Text(f"      {one_row(line)}", overflow="fold")


def _more(number: int) -> Iterator[Text]:
    if number > 0:
        yield Text(f"… and {number:,} more: --json and --html have all", style="dim")


def _findings(audit: Audit, groups: list[list[AuditFinding]]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("what does not belong", overflow="fold", ratio=3)
    grid.add_column("where", overflow="fold", ratio=2)
    grid.add_column("times", justify="right", no_wrap=True)
    grid.add_column("runs", justify="right", no_wrap=True)
    grid.add_column("bytes", justify="right", no_wrap=True)
    for several in groups[:MOST_FINDINGS]:
        one = several[0]
        grid.add_row(
            Text(one_row(one.message), style=_STYLES[one.severity]),
            Text(one_row(sentences.where(several))),
            *(Text(one) for one in sentences.figures(audit, several)),
        )
    return grid


def _fields(audit: Audit) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("field", overflow="fold")
    grid.add_column("keep", no_wrap=True)
    grid.add_column("why", overflow="fold", ratio=3)
    grid.add_column("bytes", justify="right", no_wrap=True)
    grid.add_column("share", justify="right", no_wrap=True)
    grid.add_column("how", overflow="fold", ratio=1)
    for one in audit.fields[:MOST_FIELDS]:
        keep = "yes" if one.verdict.keep else "no"
        grid.add_row(
            Text(one_row(one.name)),
            Text(keep, style=output.KEEP_COLOURS[keep]),
            Text(one_row(one.verdict.why)),
            Text(sentences.weight(audit, one)),
            Text(sentences.share(audit, one)),
            Text(sentences.habits(one)),
        )
    return grid
