"""Verdicts as a table of text, ``candidate | keep | why``, and as plain data for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keepset.verdict.field import FieldVerdict, Verdicts

HEADINGS = ("candidate", "keep", "why", "evidence")


def rows(verdicts: Verdicts) -> list[tuple[str, str, str, str]]:
    """Give one row per field: name, ``yes`` or ``no``, sentence, evidence."""
    return [(v.field, "yes" if v.keep else "no", v.why, v.evidence) for v in verdicts.fields]


def count(verdicts: Verdicts) -> str:
    """Say how many fields belong: ``3 of 7 belong``."""
    return f"{verdicts.kept} of {len(verdicts.fields)} belong"


def as_text(verdicts: Verdicts) -> str:
    """Print the table with its count below; it is valid Markdown, without colour."""
    lines = [HEADINGS, *rows(verdicts)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    printed = [_line(line, widths) for line in lines]
    printed.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join((*printed, "", count(verdicts)))


def as_data(verdicts: Verdicts) -> dict[str, object]:
    """Give the verdicts as plain data: the fields, the count, and the costs in bytes."""
    return {
        "fields": [field_data(verdict) for verdict in verdicts.fields],
        "kept": verdicts.kept,
        "of": len(verdicts.fields),
        "steps": verdicts.steps,
        "runs": verdicts.runs,
        "bytes_now": verdicts.cost(verdicts.bytes_now),
        "bytes_kept": verdicts.cost(verdicts.bytes_kept),
    }


def field_data(verdict: FieldVerdict) -> dict[str, object]:
    """Give one verdict as plain data, its further reasons as a list."""
    return {**asdict(verdict), "also": list(verdict.also)}


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"
