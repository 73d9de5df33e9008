"""Verdicts on fields with what was measured: ``proven`` is the strongest evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from keepset.prove.proof import FieldProof, Proof, Proven
from keepset.verdict.field import FieldVerdict
from keepset.verdict.reasons import TEMPORARY, is_secret, is_unserialisable

_OUT: Final = frozenset({Proven.NOT_NEEDED, Proven.RESTORED})


def proven(verdicts: tuple[FieldVerdict, ...], proof: Proof) -> tuple[FieldVerdict, ...]:
    """Give verdicts the evidence that a proof has for them.

    What cannot be serialised, is a secret or lies in a temporary folder stays out whatever a proof
    says, so that its evidence stays what it is.

    Args:
        verdicts: What the contract declares and the detectors found.
        proof: Of the same workflow.
    """
    measured = {field.name: field for field in proof.fields}
    return tuple(
        _proven(verdict, measured[verdict.field]) if verdict.field in measured else verdict
        for verdict in verdicts
    )


def _proven(verdict: FieldVerdict, field: FieldProof) -> FieldVerdict:
    cell = field.first
    if verdict.keep and field.verdict is Proven.NEEDED and cell is not None and cell.differences:
        why = f"{verdict.why} (without it, {cell.point}: {cell.differences[0].what})"
        return replace(verdict, why=why, evidence="proven")
    if not verdict.keep and field.verdict in _OUT and not _is_ruled_out(verdict.reason):
        return replace(verdict, evidence="proven")
    return verdict


def _is_ruled_out(reason: str) -> bool:
    return is_unserialisable(reason) or is_secret(reason) or reason == TEMPORARY
