"""The report of a proof for a person at a terminal: table, heat map, what suffices, findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from keepset.cli import output
from keepset.cli.counts import counted
from keepset.cli.output import one_row
from keepset.cli.prove import sentences
from keepset.cli.prove.heat import heat_map
from keepset.cli.prove.letters import LOOKS
from keepset.prove.findings import ProofFinding, findings
from keepset.prove.proof import FieldProof, Proof
from keepset.verdict.sentences import size

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"error": "bold red", "advice": "yellow"}


def print_report(proof: Proof, again: str) -> None:
    """Print the report on stdout; coloured and broken into lines on a terminal only.

    Args:
        proof: What was measured.
        again: The command line that it came from; the last line says what to type next.
    """
    output.show(*report(proof, again))


def report(proof: Proof, again: str) -> Iterator[RenderableType]:
    """Give the parts of the report, a blank line between any two."""
    yield Text(one_row(sentences.headline(proof)), style="bold")
    yield from _paragraph(list(sentences.unclear(proof)))
    rows = sentences.ordered(proof)
    if rows:
        yield Text()
        yield _table(rows, proof)
    if rows and proof.points:
        yield Text()
        yield heat_map(rows, proof)
    yield from _paragraph([sentences.sufficient(proof), sentences.saved(proof)])
    yield from _paragraph(sentences.together(proof))
    yield from _paragraph([*sentences.strayed(proof), sentences.left_out(proof)])
    yield from _findings(findings(proof))
    yield from _paragraph([f"Next: {sentences.next_step(proof, again)}"])


def _table(rows: list[FieldProof], proof: Proof) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("field", overflow="fold")
    grid.add_column("verdict", no_wrap=True)
    grid.add_column("what was measured", overflow="fold")
    grid.add_column("bytes", justify="right", no_wrap=True)
    grid.add_column("rule", no_wrap=True)
    for field in rows:
        grid.add_row(
            Text(one_row(field.name)),
            Text(field.verdict, style=LOOKS[field.verdict].style),
            Text(one_row(sentences.measured(field, proof))),
            Text(size(field.size) if field.size else "-"),
            Text(field.rule),
        )
    return grid


def _paragraph(lines: list[str]) -> Iterator[Text]:
    said = [line for line in lines if line]
    if said:
        yield Text()
    for line in said:
        yield Text(one_row(line), overflow="fold")


def _findings(found: tuple[ProofFinding, ...]) -> Iterator[Text]:
    if not found:
        return
    errors = sum(finding.severity == "error" for finding in found)
    yield Text()
    more = "" if errors == len(found) else f", {len(found) - errors} advice"
    yield Text(f"The declared contract: {counted(errors, 'error')}{more}", style="bold")
    for finding in found:
        about = f" {finding.field}:" if finding.field else ""
        text = one_row(f"{about} {finding.message} [{finding.code}]")
        yield Text.assemble((finding.severity, _STYLES[finding.severity]), text, overflow="fold")
        yield Text(one_row(f"  {finding.hint}"), style="dim", overflow="fold")
