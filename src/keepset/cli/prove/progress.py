"""How far a proof is, on a terminal: a bar with the time that is left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from keepset.cli import output


class Shown:
    """Moves a bar on."""

    def __init__(self, bar: Progress) -> None:
        """Begin at nothing, of which it is not known how much there is."""
        self._bar = bar
        self._task = bar.add_task("looking", total=None)
        self._planned = 0

    def plan(self, runs: int) -> None:
        """Say how many runs there will be, about."""
        self._planned = runs
        self._bar.update(self._task, description="resuming", total=runs)

    def told(self, done: int, asked: int) -> None:
        """Say how many runs are done, and how many were asked for until now."""
        total = max(self._planned, asked) if self._planned else None
        self._bar.update(self._task, completed=done, total=total)


@contextmanager
def showing() -> Iterator[Shown]:
    """Show a bar on stderr where one may be drawn; it is gone at the end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(file=sys.stderr)
    off = not output.may_draw()
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=off
    ) as bar:
        yield Shown(bar)
