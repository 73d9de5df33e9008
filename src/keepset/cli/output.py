"""What goes to the terminal: data on stdout, everything else on stderr.

With ``--json`` a command prints one document ``{"schema": "keepset.<command>/1", "result": ...}``
on stdout; an error prints ``{"schema": "keepset.error/1", "error": {...}}`` on stderr and leaves
stdout empty.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from keepset.errors import KeepsetError

WIDTH_OF_A_FILE = 200
"""Columns of a table that goes to a file or a pipe, where nothing says how wide it may be."""

KEEP_COLOURS = {"yes": "green", "no": "red", "ok": "green", "warn": "yellow", "fail": "red"}


def result(command: str, value: object) -> None:
    """Print the result of a command as its JSON document."""
    document = {"schema": f"keepset.{command}/1", "result": value}
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def error(code: str, message: str, *, hint: str = "", retryable: bool = False) -> None:
    """Print an error as its JSON document, on stderr."""
    parts = {"code": code, "message": message, "hint": hint, "retryable": retryable}
    click.echo(json.dumps({"schema": "keepset.error/1", "error": parts}), err=True)


def keepset_error(problem: KeepsetError, *, as_json: bool) -> None:
    """Print one of our errors for a program or for a person, on stderr."""
    if as_json:
        error(problem.code, problem.message, hint=problem.hint, retryable=problem.retryable)
        return
    note(f"error: {problem}")


def note(text: str) -> None:
    """Tell a person about progress or a result in passing, on stderr."""
    click.echo(printable(text), err=True)


def text(line: str = "") -> None:
    """Print data for a person."""
    click.echo(printable(line))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "") -> None:
    """Print rows under headings; colours only on a terminal without NO_COLOR.

    Args:
        headings: Titles of the columns.
        rows: Cells as text; nothing in them is read as markup.
        right: Titles of columns that hold numbers, divided by spaces.
    """
    numbers = right.split()
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        is_number = heading in numbers
        grid.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(printable(cell), style=KEEP_COLOURS.get(cell, "")) for cell in row))
    console = _console()
    with console.capture() as printed:
        console.print(grid)
    for line in printed.get().splitlines():
        click.echo(line.rstrip())


def printable(text: str) -> str:
    """Escape what a terminal would obey or cannot show: control characters, lone surrogates.

    Names of runs and steps come from a store, and may have been made to do harm.
    """
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def _console() -> Console:
    stream = sys.stdout
    if stream.isatty():
        return Console(file=stream, highlight=False)
    return Console(file=stream, highlight=False, width=WIDTH_OF_A_FILE, no_color=True)
