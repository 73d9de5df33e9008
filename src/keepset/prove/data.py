"""A proof as plain data for JSON: every verdict, what it was measured by, and the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from keepset.prove.compare import Difference
from keepset.prove.findings import findings
from keepset.prove.proof import Cell, FieldProof, Proof, Proven
from keepset.verdict.table import field_data


def as_data(proof: Proof) -> dict[str, Any]:
    """Give all of a proof as plain data; docs/schemas/prove.json describes it.

    Sets are lists in the order of the fields' declaration, and what is told by point stands in the
    order of the points.
    """
    found = findings(proof)
    counts = Counter(field.verdict for field in proof.fields)
    errors = sum(finding.severity == "error" for finding in found)
    return {
        "name": proof.name,
        "conclusive": proof.is_conclusive,
        "points": list(proof.points),
        "counts": {verdict.value: counts[verdict] for verdict in Proven},
        "fields": [_field(field, proof) for field in proof.fields],
        "sufficient": None if proof.sufficient is None else list(proof.sufficient),
        "minimal": proof.minimal,
        "volatile": list(proof.volatile),
        "opaque": list(proof.opaque),
        "unlike": list(proof.unlike),
        "strayed": _by_point(proof.strayed, proof),
        "declared": _by_point(proof.declared, proof),
        "findings": [asdict(finding) for finding in found],
        "errors": errors,
        "advice": len(found) - errors,
        "outputs": list(proof.outputs),
        "pins": list(proof.pins),
        "runs": proof.resumes,
        "failure": proof.failure,
        "waiting": proof.waiting,
    }


def in_order(names: Iterable[str], proof: Proof) -> list[str]:
    """Give fields in the order of their declaration."""
    chosen = frozenset(names)
    return [field.name for field in proof.fields if field.name in chosen]


def _field(field: FieldProof, proof: Proof) -> dict[str, Any]:
    return {
        "name": field.name,
        "rule": field.rule,
        "verdict": field.verdict.value,
        "first": field.first.point if field.first else None,
        "bytes": field.size,
        "cells": [_cell(cell) for cell in field.cells],
        "together": [in_order(group, proof) for group in field.together],
        "lost": field.lost,
        "stuck": field.stuck,
        "stale": list(field.stale),
        "misled": _by_point(field.misled, proof),
        "judged": None if field.judged is None else field_data(field.judged),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "point": cell.point,
        "verdict": cell.verdict.value,
        "differences": _differences(cell.differences),
        "why": cell.why,
    }


def _by_point(
    wrong: Mapping[str, tuple[Difference, ...]] | None, proof: Proof
) -> list[dict[str, Any]]:
    given = wrong or {}
    return [
        {"point": point, "differences": _differences(given[point])}
        for point in proof.points
        if point in given
    ]


def _differences(found: Iterable[Difference]) -> list[dict[str, str]]:
    return [{"kind": one.kind, "what": one.what} for one in found]
