"""How far a command is, on a terminal: runs, megabytes a second, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from keepset.cli import output

_MEGABYTE: Final = 1_000_000


class Shown:
    """Moves a bar on."""

    def __init__(self, bar: Progress, doing: str, runs: int | None) -> None:
        """Begin at nothing.

        Args:
            bar: Where it is shown.
            doing: What is done.
            runs: How many runs there are; None where that is not known.
        """
        self._bar = bar
        self._task = bar.add_task(doing, total=runs, rate="")
        self._begun = time.monotonic()

    def expects(self, runs: int) -> None:
        """Say how many runs there are."""
        self._bar.update(self._task, total=runs)

    def told(self, runs: int, size: int) -> None:
        """Say how many runs are done, and how many bytes were read for it."""
        seconds = max(time.monotonic() - self._begun, 0.001)
        rate = f"{size / _MEGABYTE / seconds:,.1f} MB/s"
        self._bar.update(self._task, completed=runs, rate=rate)


@contextmanager
def showing(doing: str, runs: int | None = None) -> Iterator[Shown]:
    """Show a bar on stderr where one may be drawn; it is gone at the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    console = Console(file=sys.stderr)
    off = not output.may_draw()
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        yield Shown(bar, doing, runs)
