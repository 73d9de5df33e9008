"""What goes to the terminal: data on stdout, everything else on stderr.

With ``--json`` a command prints one document ``{"schema": "keepset.<command>/1", "result": ...}``
on stdout; an error prints ``{"schema": "keepset.error/1", "error": {...}}`` on stderr and leaves
stdout empty.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, TextIO

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from keepset.errors import KeepsetError

WIDTH_OF_A_FILE = 100_000
"""Columns of a table that goes to a file or a pipe: no row is broken, whatever is in it."""

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
    note(f"error: {one_row(problem.message)} [{problem.code}]")
    if problem.hint:
        note(problem.hint)


def note(text: str) -> None:
    """Tell a person about progress or a result in passing, on stderr."""
    click.echo(printable(text), err=True)


def text(line: str = "") -> None:
    """Print data for a person."""
    click.echo(printable(line))


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "", whole: str = ""
) -> None:
    """Print rows under headings; colours only on a terminal without NO_COLOR.

    Args:
        headings: Titles of the columns.
        rows: Cells as text; nothing in them is read as markup, and each stays one row.
        right: Titles of columns that hold numbers, divided by spaces.
        whole: Titles of further columns whose cells are never broken, such as ids and times.
    """
    numbers, unbroken = right.split(), (*right.split(), *whole.split())
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        grid.add_column(
            heading,
            justify="right" if heading in numbers else "left",
            overflow="fold",
            no_wrap=heading in unbroken,
        )
    for row in rows:
        grid.add_row(*(Text(one_row(cell), style=KEEP_COLOURS.get(cell, "")) for cell in row))
    show(grid)


def show(*parts: RenderableType) -> None:
    """Print what rich lays out, one part below the other; it holds nothing to be escaped."""
    console = _console()
    with console.capture() as printed:
        for part in parts:
            console.print(part)
    for line in printed.get().splitlines():
        click.echo(line.rstrip())


def one_row(text: str) -> str:
    """Escape what a terminal would obey, line breaks and tabs as well: a name forges no row."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def printable(text: str) -> str:
    """Escape what a terminal would obey or cannot show: control characters, lone surrogates.

    Names of runs and steps come from a store, and may have been made to do harm.
    """
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def may_draw() -> bool:
    """Tell whether progress may be drawn on stderr: on a terminal, and by escapes alone."""
    stream: TextIO | None = sys.stderr  # None where it is closed
    return stream is not None and stream.isatty() and not _is_plain()


def _is_plain() -> bool:
    return bool(os.environ.get("NO_COLOR"))


def _console() -> Console:
    stream = sys.stdout
    if not stream.isatty():
        return Console(file=stream, highlight=False, width=WIDTH_OF_A_FILE, color_system=None)
    # Without colours rich would still print bold; without a colour system it prints no escapes.
    return Console(file=stream, highlight=False, color_system=None if _is_plain() else "auto")
