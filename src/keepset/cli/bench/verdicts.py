"""How right verdicts are, on workflows of which the truth is known: before a proof and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keepset.cli import output
from keepset.cli.bench.corpus import Case
from keepset.prove.proof import FieldProof, Proof, Proven
from keepset.testing.proving import prover

_NEEDED: Final = "needed"
_TOGETHER: Final = "together"
_PARTS: Final = {"open": False, "held back": True}


@dataclass(frozen=True, slots=True)
class Judged:
    """One field of one case.

    Attributes:
        case: Name of the case.
        is_held: Whether the case was held back.
        is_repeatable: Whether two runs of it can be made alike.
        field: The field.
        truth: Its label.
        stored: Whether a checkpoint can take it.
        static: Whether it is kept by what is known before any proof; None where that says nothing.
        proven: The label that was proven.
    """

    case: str
    is_held: bool
    is_repeatable: bool
    field: str
    truth: str
    stored: bool
    static: bool | None
    proven: str


@dataclass(frozen=True, slots=True)
class Score:
    """How right a part of the corpus was judged.

    Attributes:
        workflows: Cases.
        fields: Fields that have a truth.
        static_precision: Of the fields that are kept before a proof, the share that is needed.
        static_recall: Of the fields that are needed, the share that is kept before a proof.
        precision: Of the fields that are proven to be needed, the share that is.
        recall: Of the fields that are needed, the share of which it is proven.
        exact: Share of the fields with just the label that they have.
        unclear: Share of the fields of workflows that cannot be repeated that are inconclusive.
    """

    workflows: int
    fields: int
    static_precision: float | None
    static_recall: float | None
    precision: float | None
    recall: float | None
    exact: float | None
    unclear: float | None


def judge(cases: Sequence[Case], told: Callable[[int, Case], None]) -> list[Judged]:
    """Prove every case.

    Args:
        cases: The corpus.
        told: Is told which case, of which number, is proven next.
    """
    found: list[Judged] = []
    for number, case in enumerate(cases, 1):
        told(number, case)
        with prover(case.recipe, case.options) as proving:
            proof = proving.measure(proving.look())
        found += _judged(case, proof)
    return found


def _judged(case: Case, proof: Proof) -> Iterator[Judged]:
    groups = {group for field in proof.fields for group in field.together}
    for field in proof.fields:
        truth = case.truth[field.name]
        label = field.verdict.value
        if field.verdict is Proven.NOT_NEEDED and field.together:
            right = all(group in case.together for group in groups if field.name in group)
            label = _TOGETHER if right else "together with others"
        yield Judged(
            case=case.name,
            is_held=case.is_held,
            is_repeatable=case.is_repeatable,
            field=field.name,
            truth=truth,
            stored=not field.stuck,
            static=_static(field),
            proven=label,
        )


def _static(field: FieldProof) -> bool | None:
    return None if field.judged is None else field.judged.keep


def score(judged: Iterable[Judged]) -> Score:
    """Count how often verdicts are right.

    What no checkpoint can take, and what is needed only together with others, is no matter of
    being kept or not, and counts for exactness alone.
    """
    every = list(judged)
    known = [one for one in every if one.is_repeatable]
    plain = [one for one in known if one.stored and one.truth != _TOGETHER]
    needed = [one for one in plain if one.truth == _NEEDED]
    proven = [one for one in plain if one.proven == _NEEDED]
    static = [one for one in plain if one.static]
    vague = [one for one in every if not one.is_repeatable]
    return Score(
        workflows=len({one.case for one in every}),
        fields=len(known),
        static_precision=_share(static, lambda one: one.truth == _NEEDED),
        static_recall=_share(needed, lambda one: bool(one.static)),
        precision=_share(proven, lambda one: one.truth == _NEEDED),
        recall=_share(needed, lambda one: one.proven == _NEEDED),
        exact=_share(known, lambda one: one.proven == one.truth),
        unclear=_share(vague, lambda one: one.proven == Proven.INCONCLUSIVE.value),
    )


def _share(of: Sequence[Judged], is_right: Callable[[Judged], bool]) -> float | None:
    return sum(map(is_right, of)) / len(of) if of else None


def document(judged: Sequence[Judged]) -> dict[str, Any]:
    """Give the scores, and every field that was judged otherwise than it is, as plain data."""
    names = Score.__slots__
    scores = {
        part: score(one for one in judged if one.is_held is held) for part, held in _PARTS.items()
    }
    return {
        "verdicts": [
            {"part": part, **{name: getattr(found, name) for name in names}}
            for part, found in scores.items()
        ],
        "wrong": [
            {"case": one.case, "field": one.field, "truth": one.truth, "proven": one.proven}
            for one in judged
            if one.proven != one.truth
        ],
    }


def show(found: dict[str, Any]) -> None:
    """Print the scores for a person."""
    headings = (
        *("part", "workflows", "fields", "before: precision", "recall"),
        *("proven: precision", "recall ", "exact label", "not repeatable: inconclusive"),
    )
    output.table(headings, [_row(one) for one in found["verdicts"]], right="workflows fields")
    for one in found["wrong"]:
        output.text(f"{one['case']}.{one['field']}: {one['proven']}, and it is {one['truth']}")


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    shares = ("static_precision", "static_recall", "precision", "recall", "exact", "unclear")
    counts = (one["part"], str(one["workflows"]), str(one["fields"]))
    return (*counts, *("-" if one[n] is None else f"{one[n]:.1%}" for n in shares))
