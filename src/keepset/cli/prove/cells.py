"""The heat map of a proof's page: one link a cell, and beside it the card that it opens."""

from __future__ import annotations

from collections.abc import Callable

from keepset.cli.prove.heat import verdict_at
from keepset.cli.prove.letters import LOOKS
from keepset.prove.proof import Cell, FieldProof, Proof, Proven

Escape = Callable[[str], str]


def heat_map(fields: list[FieldProof], proof: Proof, text: Escape) -> str:
    """Give the map with its key and its legend.

    Args:
        fields: The rows.
        proof: Has the points.
        text: Escapes a text for the page.
    """
    heads = "".join(
        f'<th scope=col title="{text(point)}" aria-label="{text(point)}">{number}</th>'
        for number, point in enumerate(proof.points, 1)
    )
    rows = "".join(_row(number, field, proof, text) for number, field in enumerate(fields))
    key = "".join(
        f"<li><b>{number}</b> {text(point)}</li>" for number, point in enumerate(proof.points, 1)
    )
    longest = max(len(field.name) for field in fields)
    return (
        f'<div class="scroll fit" tabindex=0 role=region aria-label="Fields by points">'
        f"<table class=map style='--names:{longest}ch'><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        f'</div><ul class=key aria-label="Points">{key}</ul>{_legend(fields, proof)}'
    )


def _row(row: int, field: FieldProof, proof: Proof, text: Escape) -> str:
    cells = "".join(_cell(row, column, field, proof, text) for column in range(len(proof.points)))
    return f"<tr><th scope=row class=name>{text(field.name)}</th>{cells}</tr>"


def _cell(row: int, column: int, field: FieldProof, proof: Proof, text: Escape) -> str:
    verdict, point = verdict_at(field, column), proof.points[column]
    look = LOOKS[verdict]
    cell = field.cells[column] if column < len(field.cells) else None
    said = _said(cell)
    title = text(f"{field.name}, {point}: {verdict}{'. ' if said else ''}{'; '.join(said)}")
    place = f"cell-{row + 1}-{column + 1}"
    items = "".join(f"<li>{text(one)}</li>" for one in said)
    more = f"<ul>{items}</ul>" if items else ""
    return (
        f'<td><a class={look.name} href="#{place}" title="{title}" aria-label="{title}">'
        f"{_letter(verdict)}</a><section class=card id={place}>"
        f"<h3><span class=name>{text(field.name)}</span> {text(point)}</h3>"
        f"<p><span class='tag {look.name}'>{text(verdict)}</span> {text(look.meaning)}</p>{more}"
        f'<a class=close href="#map">Close</a></section></td>'
    )


def _letter(verdict: Proven) -> str:
    """Give the letter of a cell; a dot stands in its middle."""
    letter = LOOKS[verdict].letter
    return "·" if letter == "." else letter


def _said(cell: Cell | None) -> list[str]:
    if cell is None:
        return ["nothing could be measured"]
    return [one.what for one in cell.differences] + ([cell.why] if cell.why else [])


def _legend(fields: list[FieldProof], proof: Proof) -> str:
    there: set[Proven] = {
        verdict_at(field, number) for field in fields for number in range(len(proof.points))
    }
    items = "".join(
        f"<li><span class='tag {look.name}'>{_letter(verdict)}</span> "
        f"{verdict}: {look.meaning}</li>"
        for verdict, look in LOOKS.items()
        if verdict in there
    )
    return f'<ul class=legend aria-label="Letters">{items}</ul>'
