"""What is proven of each case of the tuned half is its truth, field by field."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from keepset.prove.proof import FieldProof, Proof
from keepset.testing.experiments import Recipe
from keepset.testing.proving import Options, prover

CASES = [path.stem for path in sorted(Path(__file__).parent.glob("steps_*.py"))]
FUNCTIONS = ("world", "observe", "between")


def proof_of(name: str, case: Any) -> Proof:
    """Prove a case by what its module names."""
    module = f"tests.corpus.{name}"
    named = {one: f"{module}:{one}" if hasattr(case, one) else None for one in FUNCTIONS}
    inputs = tuple(getattr(case, "INPUTS", None) or [case.INPUT])
    recipe = Recipe(f"{module}:build", inputs, tuple(getattr(case, "ANSWERS", ())), **named)
    options = Options(
        outputs=tuple(case.OUTPUT),
        pins=tuple(getattr(case, "PIN", ())),
        crash=getattr(case, "CRASH", False),
        jobs=1,
    )
    with prover(recipe, options) as proving:
        return proving.measure(proving.look())


def label(field: FieldProof) -> str:
    return "together" if field.together and field.verdict == "not needed" else str(field.verdict)


@pytest.mark.parametrize("name", CASES)
def test_what_is_proven_is_the_truth(name: str) -> None:
    case = importlib.import_module(f"tests.corpus.{name}")
    proof = proof_of(name, case)
    assert {one.name: label(one) for one in proof.fields} == case.TRUTH
    assert proof.is_conclusive == getattr(case, "REPEATABLE", True)
    found = {group for one in proof.fields for group in one.together}
    assert found == {frozenset(group) for group in getattr(case, "TOGETHER", [])}
    for one in proof.fields:
        step = getattr(case, "FIRST", {}).get(one.name)
        if one.verdict == "needed" and step is not None:
            assert one.first is not None
            assert one.first.point.startswith(f"after {step}")
