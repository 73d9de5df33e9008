"""How far an audit is, on a terminal: runs, megabytes a second, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from keepset.audit.tally import Tally
from keepset.cli import output

_MEGABYTE: Final = 1_000_000


class Shown:
    """Moves a bar on."""

    def __init__(self, bar: Progress) -> None:
        """Begin at nothing, of which it is not known how much there is."""
        self._bar = bar
        self._task = bar.add_task("reading", total=None, rate="")
        self._begun = time.monotonic()

    def told(self, tally: Tally, planned: int) -> None:
        """Say what was read until now, and how many runs there are to read."""
        seconds = max(time.monotonic() - self._begun, 0.001)
        rate = sum(tally.value_bytes.values()) / _MEGABYTE / seconds
        self._bar.update(self._task, total=planned, completed=tally.read, rate=f"{rate:,.0f} MB/s")


@contextmanager
def showing() -> Iterator[Shown]:
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
        yield Shown(bar)
