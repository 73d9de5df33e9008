"""What a proof says: a verdict on each field at each point, and the set that suffices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from keepset.prove.compare import Difference
from keepset.verdict.field import FieldVerdict


class Proven(StrEnum):
    """What was measured of a field; the first that holds at any point decides."""

    NEEDED = "needed"
    REFETCH_DIFFERS = "refetch differs"
    INCONCLUSIVE = "inconclusive"
    RESTORED = "restored"
    NOT_NEEDED = "not needed"


_ORDER = list(Proven)


def worst(verdicts: list[Proven]) -> Proven:
    """Put the verdicts at several points together; inconclusive where there is none."""
    return min(verdicts, key=_ORDER.index) if verdicts else Proven.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Cell:
    """One field at one point.

    Attributes:
        point: Id of the point.
        verdict: What was measured there.
        differences: What went wrong without the field, or with what its rule restored.
        why: Why it is inconclusive.
    """

    point: str
    verdict: Proven
    differences: tuple[Difference, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class FieldProof:
    """One field.

    Attributes:
        name: Its id.
        rule: Kind of the rule that is declared for it, or that holds by default.
        verdict: That of all points together.
        cells: One for each point, in order.
        judged: What the detectors and the codec say of it; None where it had no value to judge.
        together: The minimal sets of fields, this one among them, of which one is needed.
        lost: Whether it is missing at the end, or another one, when a run resumes without it,
            while nothing else differs: then a caller who reads it needs it.
        is_droppable: Whether the rule `Drop` was tried on it, and went right in every run.
        is_at_the_end: Whether the final state has it.
        stuck: Code of the refusal where no checkpoint takes it; empty where one does.
        stale: Points at which resuming is wrong with it and right without it.
        misled: What went wrong under its declared rule, by point.
    """

    name: str
    rule: str
    verdict: Proven
    cells: tuple[Cell, ...]
    judged: FieldVerdict | None = None
    together: tuple[frozenset[str], ...] = ()
    lost: bool = False
    is_droppable: bool = False
    is_at_the_end: bool = False
    stuck: str = ""
    stale: tuple[str, ...] = ()
    misled: Mapping[str, tuple[Difference, ...]] | None = None

    @property
    def size(self) -> int:
        """Bytes of its value at the end of the run; 0 where it has none."""
        return self.judged.bytes_now if self.judged else 0

    @property
    def first(self) -> Cell | None:
        """The first point that makes the verdict what it is; None where none does."""
        return next((cell for cell in self.cells if cell.verdict is self.verdict), None)


@dataclass(frozen=True, slots=True)
class Proof:
    """What was measured of a workflow.

    Attributes:
        name: What a person calls the workflow.
        points: Ids of the points at which runs were ended and resumed, in order.
        fields: One for each field, in the order of their declaration.
        sufficient: A set of fields with which alone every resume is right; one of them that is
            `RESTORED` comes back by its rule, and need not be stored. None where none was found.
        minimal: Whether each of them was shown to be needed in it.
        volatile: What differs between controls and was left out of the comparison.
        unlike: What differs between controls so that nothing can be compared.
        strayed: By point, how a resume with everything there differs from a run without an end.
        declared: By point, what went wrong with the contract as it is declared.
        resumes: Runs that were carried out.
        outputs: The fields that a caller reads.
        pins: What was pinned: ``clock``, ``uuid``, ``random``.
        failure: How the workflow fails by itself; empty where it does not.
        waiting: Where it waits for an answer that was not given, so that nothing behind it was
            tried; empty where it waits for none.
        opaque: Fields of the final state that hold something which cannot be compared.
    """

    name: str
    points: tuple[str, ...]
    fields: tuple[FieldProof, ...]
    sufficient: tuple[str, ...] | None = None
    minimal: bool = False
    volatile: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    strayed: Mapping[str, tuple[Difference, ...]] | None = None
    declared: Mapping[str, tuple[Difference, ...]] | None = None
    resumes: int = 0
    outputs: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    failure: str = ""
    waiting: str = ""
    opaque: tuple[str, ...] = ()

    @property
    def is_conclusive(self) -> bool:
        """Whether every field has a verdict that was measured."""
        return bool(self.fields) and all(
            field.verdict is not Proven.INCONCLUSIVE for field in self.fields
        )
