"""The heat map: fields by points, one cell a point, cut into blocks where a line is too short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from keepset.cli.output import one_row
from keepset.cli.prove.letters import LOOKS
from keepset.prove.proof import FieldProof, Proof, Proven

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_GAP: Final = 2
"""Blanks between the names and the cells, and between the points of the key."""
_SHARE: Final = 3
"""A name takes at most one part of so many of a line."""


@dataclass(frozen=True)
class HeatMap:
    """Lays a proof's cells out for as many columns as a terminal has.

    Attributes:
        fields: The rows.
        points: The columns; a number stands over each, and the key below says what it is.
    """

    fields: list[FieldProof]
    points: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the lines of the map, its key and its legend."""
        del console
        width = options.max_width
        names = [_short(one_row(field.name), width // _SHARE) for field in self.fields]
        margin = max(map(len, names), default=0)
        cell = len(str(len(self.points))) + 1
        most = max((width - margin - 1) // cell, 1)
        for start in range(0, len(self.points), most):
            if start:
                yield Text()
            yield from self._block(names, margin, cell, range(start, start + most))
        yield Text()
        yield from _lines(self._key(), width)
        yield Text()
        yield from _lines(legend(self.fields), width)

    def _block(self, names: list[str], margin: int, cell: int, columns: range) -> Iterator[Text]:
        shown = [number for number in columns if number < len(self.points)]
        heads = "".join(str(number + 1).rjust(cell) for number in shown)
        yield Text(" " * (margin + 1) + heads, style="bold", no_wrap=True)
        for name, field in zip(names, self.fields, strict=True):
            line = Text(f"{name.ljust(margin)} ", no_wrap=True)
            for number in shown:
                look = LOOKS[verdict_at(field, number)]
                line.append(look.letter.rjust(cell), style=look.style)
            yield line

    def _key(self) -> list[Text]:
        return [
            Text.assemble((str(number), "bold"), f" {one_row(point)}")
            for number, point in enumerate(self.points, 1)
        ]


def verdict_at(field: FieldProof, number: int) -> Proven:
    """Give a field's verdict at a point; inconclusive where nothing was measured there."""
    return field.cells[number].verdict if number < len(field.cells) else Proven.INCONCLUSIVE


def heat_map(fields: list[FieldProof], proof: Proof) -> HeatMap:
    """Make the heat map of a proof.

    Args:
        fields: Its fields, in the order of the rows.
        proof: Has the points.
    """
    return HeatMap(fields, proof.points)


def legend(fields: list[FieldProof]) -> list[Text]:
    """Explain the letters that a map of these fields has."""
    there = {cell.verdict for field in fields for cell in field.cells}
    there |= {field.verdict for field in fields if not field.cells}
    return [
        Text.assemble((look.letter, look.style), f" {verdict}")
        for verdict, look in LOOKS.items()
        if verdict in there
    ]


def _lines(entries: list[Text], width: int) -> Iterator[Text]:
    """Put entries side by side, as many as a line takes, in columns where there are several."""
    if not entries:
        return
    wide = max(len(entry) for entry in entries) + _GAP
    a_line = max(width // wide, 1)
    for start in range(0, len(entries), a_line):
        line = Text(overflow="fold")
        for entry in entries[start : start + a_line]:
            line.append(entry)
            line.append(" " * (wide - len(entry)))
        line.rstrip()
        yield line


def _short(name: str, most: int) -> str:
    """Leave out the middle of a long name: names that begin alike mostly end apart."""
    most = max(most, 8)
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"
