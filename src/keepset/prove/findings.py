"""The declared contract beside the proof: what is kept for nothing, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from keepset.prove.proof import FieldProof, Proof, Proven
from keepset.verdict.sentences import size

Severity = Literal["error", "advice"]

_ADVICE: Final[Severity] = "advice"
_ERROR: Final[Severity] = "error"

CONTRACT_WRONG: Final = "prove.contract-wrong"
"""Code of what goes wrong under all rules together and under none of them alone."""
WITHHELD: Final = "secret.withheld"
"""Code of the refusal to use a secret that was not stored."""


@dataclass(frozen=True, slots=True)
class ProofFinding:
    """One thing that the declared contract has wrong, or could do without.

    Attributes:
        code: Its stable name.
        severity: ``error`` where a resume goes wrong, ``advice`` where something could be saved.
        field: The field; empty where it is about the whole.
        message: What was measured.
        hint: What to do.
    """

    code: str
    severity: Severity
    field: str
    message: str
    hint: str


def findings(proof: Proof) -> tuple[ProofFinding, ...]:
    """Compare the declared contract with a proof; errors come first."""
    found = [finding for field in proof.fields for finding in _field(field, proof)]
    if proof.declared and not any(finding.severity == _ERROR for finding in found):
        point, wrong = next(iter(proof.declared.items()))
        message = f"a resume by the declared rules goes wrong {point}: {wrong[0].what}"
        hint = "Look at the rules together: none of them goes wrong alone."
        found.append(ProofFinding(CONTRACT_WRONG, _ERROR, "", message, hint))
    return tuple(sorted(found, key=lambda finding: finding.severity != _ERROR))


def _field(field: FieldProof, proof: Proof) -> Iterator[ProofFinding]:
    yield from _errors(field)
    if field.verdict is not Proven.NOT_NEEDED or field.stale or proof.sufficient is None:
        return  # what was tried at some points only says nothing of the whole
    if field.rule in {"Refetch", "Reopen", "Scratch", "Secret"}:
        if field.is_droppable:
            message = f"a resume is right without what {field.rule} brings back, and so is a run"
            yield ProofFinding(
                "prove.rule-not-needed", _ADVICE, field.name, message, "Declare Drop()."
            )
    elif field.rule == "Keep" and not field.stuck:
        yield from _kept(field, proof)


def _kept(field: FieldProof, proof: Proof) -> Iterator[ProofFinding]:
    if field.name in (proof.sufficient or ()) or field.name in proof.outputs:
        return  # needed where the others are left out, or by the caller at the end
    saved = f", which saves {size(field.size)} a checkpoint" if field.size else ""
    if not field.is_droppable:
        message = f"not needed at any of {len(field.cells)} points, but steps hand it on"
        hint = f"Declare Scratch(factory) where a fresh one will do{saved}; Drop() goes wrong."
        yield ProofFinding("prove.kept-between-steps", _ADVICE, field.name, message, hint)
    elif field.is_at_the_end and not proof.outputs:
        message = "no step needs it after a resume, and the final state has it"
        hint = f"Name it with --output {field.name} if a caller reads it; else declare Drop()."
        yield ProofFinding("prove.kept-for-the-end", _ADVICE, field.name, message, hint)
    else:
        message = f"kept, and not needed at any of {len(field.cells)} points"
        hint = f"Declare Drop(){saved}."
        yield ProofFinding("prove.kept-not-needed", _ADVICE, field.name, message, hint)


def _errors(field: FieldProof) -> Iterator[ProofFinding]:
    cell = field.first
    if field.stale:
        message = f"stored, it makes a resume {field.stale[0]} fail, and without it none does"
        hint = "Declare Scratch(factory) or Reopen(factory), which make it afresh."
        yield ProofFinding("prove.stale", _ERROR, field.name, message, hint)
    elif cell is None or field.verdict in {Proven.NOT_NEEDED, Proven.RESTORED}:
        return
    elif field.verdict is Proven.REFETCH_DIFFERS:
        message = f"its loader gives other content {cell.point}{_what(field)}"
        hint = "Load by what does not change, or declare Keep."
        yield ProofFinding("prove.refetch-differs", _ERROR, field.name, message, hint)
    elif field.verdict is Proven.NEEDED:
        yield from _needed(field)


def _needed(field: FieldProof) -> Iterator[ProofFinding]:
    cell = field.first
    at = cell.point if cell else ""
    if field.stuck:
        message = f"needed {at}{_what(field)}, and no checkpoint takes it [{field.stuck}]"
        hint = "Declare Reopen(factory) or another rule that brings it back."
        if field.stuck == WITHHELD:
            hint = 'Declare Secret("env:NAME"): a resumed run reads it afresh, and no store has it.'
        yield ProofFinding("prove.needed-and-not-stored", _ERROR, field.name, message, hint)
    elif field.rule == "Drop":
        message = f"dropped, and needed {at}{_what(field)}"
        hint = "Declare Keep()."
        yield ProofFinding("prove.dropped-but-needed", _ERROR, field.name, message, hint)
    elif field.misled:
        point, wrong = next(iter(field.misled.items()))
        message = f"{field.rule} does not bring back what is needed {point}: {wrong[0].what}"
        hint = "Mend the rule, or declare Keep()."
        yield ProofFinding("prove.rule-goes-wrong", _ERROR, field.name, message, hint)


def _what(field: FieldProof) -> str:
    cell = field.first
    return f": {cell.differences[0].what}" if cell and cell.differences else ""
