"""A proof as one page of HTML that needs nothing else: no network, no script, no other file.

Every text in it comes from the user's code and is escaped. As a second lock the page forbids itself
to load or to run anything. A cell is a link to a card that says what went wrong there; the card
opens when the cell is clicked or reached by the keyboard, and its address can be passed on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from keepset.cli.page import framed, text
from keepset.cli.prove import sentences
from keepset.cli.prove.cells import heat_map
from keepset.cli.prove.letters import LOOKS
from keepset.cli.prove.sheet import SHEET
from keepset.prove.findings import ProofFinding, findings
from keepset.prove.proof import FieldProof, Proof, Proven
from keepset.verdict.sentences import size


def page(proof: Proof, again: str, how: Sequence[tuple[str, str]] = ()) -> str:
    """Give the page.

    Args:
        proof: What was measured.
        again: The command line that it came from.
        how: More about how it was measured, as pairs of what and how much.
    """
    body = "\n".join(_body(proof, again, how))
    return framed(f"What {proof.name} needs to resume", body, command="prove", sheet=SHEET)


def _body(proof: Proof, again: str, how: Sequence[tuple[str, str]]) -> Iterator[str]:
    rows = sentences.ordered(proof)
    yield f"<header><h1>What <span class=name>{text(proof.name)}</span> needs to resume</h1>"
    yield f"<p class=soft>Made by <code>{text(again)}</code></p>{_counts(proof)}</header><main>"
    yield _paragraphs(sentences.unclear(proof))
    yield _paragraphs([sentences.sufficient(proof), sentences.saved(proof)])
    yield _paragraphs(sentences.together(proof))
    if rows and proof.points:
        yield '<h2 id="map">Fields by points</h2>'
        yield "<p class=soft>Each cell is a run that was ended at the point and resumed without "
        yield "the field. Choose a cell for what went wrong there.</p>"
        yield heat_map(rows, proof, text)
    yield f"<h2>Verdicts</h2>{_table(rows, proof)}"
    found = findings(proof)
    if found:
        yield f"<h2>The declared contract</h2>{''.join(_finding(one) for one in found)}"
    yield f"<h2>How it was measured</h2>{_how(proof, how)}"
    yield _paragraphs([*sentences.strayed(proof), sentences.left_out(proof)])
    yield f"<p>Next: <code>{text(sentences.next_step(proof, again))}</code></p></main>"


def _counts(proof: Proof) -> str:
    found = Counter(field.verdict for field in proof.fields)
    items = "".join(
        f"<li class={look.name}>{found[verdict]} {text(verdict)}</li>"
        for verdict, look in LOOKS.items()
        if found[verdict]
    )
    return f'<ul class=counts aria-label="Fields by verdict">{items}</ul>'


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{text(line)}</p>" for line in lines if line)


def _table(rows: list[FieldProof], proof: Proof) -> str:
    heads = "field", "verdict", "what was measured", "bytes", "rule"
    head = "".join(f"<th scope=col>{one}</th>" for one in heads)
    body = "".join(_row(field, proof) for field in rows)
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="Verdicts"><table class=facts>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(field: FieldProof, proof: Proof) -> str:
    look = LOOKS[field.verdict]
    weight = size(field.size) if field.size else "-"
    where = "".join(f"<br><span class='soft paper'>{text(one)}</span>" for one in _elsewhere(field))
    return (
        f"<tr><th scope=row class=name>{text(field.name)}</th>"
        f"<td><span class='tag {look.name}'>{text(field.verdict)}</span></td>"
        f"<td>{text(sentences.measured(field, proof))}{where}</td>"
        f'<td class=number data-head="bytes">{text(weight)}</td>'
        f'<td data-head="rule">{text(field.rule)}</td></tr>'
    )


def _elsewhere(field: FieldProof) -> Iterator[str]:
    """Say for paper, which has no cards, what went wrong at the other points."""
    seen = {cell.differences for cell in (field.first,) if cell}
    for cell in field.cells:
        if cell.differences and cell.differences not in seen:
            seen.add(cell.differences)
            yield f"{cell.point}: {cell.differences[0].what}"


def _finding(finding: ProofFinding) -> str:
    about = f"<span class=name>{text(finding.field)}</span>: " if finding.field else ""
    return (
        f"<div class='finding {finding.severity}'><p><b>{finding.severity}</b> "
        f"{about}{text(finding.message)} <code>{text(finding.code)}</code></p>"
        f"<p class=soft>{text(finding.hint)}</p></div>"
    )


def _how(proof: Proof, more: Sequence[tuple[str, str]]) -> str:
    facts = [
        ("Points", f"{len(proof.points)}: after each of them a run was ended and resumed"),
        ("Runs", f"{proof.resumes}, among them two or more at each point with everything there"),
        ("Read by a caller", ", ".join(proof.outputs) or "not said: all but the one left out"),
        ("Pinned", ", ".join(proof.pins) or "nothing"),
        *more,
    ]
    if any(field.verdict is Proven.INCONCLUSIVE for field in proof.fields):
        facts.append(("Conclusive", "no: see the fields that are inconclusive"))
    pairs = "".join(f"<dt>{text(what)}</dt><dd>{text(much)}</dd>" for what, much in facts)
    return f"<dl>{pairs}</dl>"
