"""The whole of a proof, as a search: pure, it only asks for trials and reads outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from keepset.prove.compare import Reference, failed
from keepset.prove.dropping import droppable
from keepset.prove.flow import Search, side_by_side
from keepset.prove.leaves import opaque
from keepset.prove.places import shown
from keepset.prove.proof import Cell, FieldProof, Proof, Proven, worst
from keepset.prove.sets import Sufficient, sufficient
from keepset.prove.singles import Differences, Point, at_point, is_tried_by_rule
from keepset.prove.standing import CONTROLS, later, stand, whole
from keepset.prove.tries import Question, Tries
from keepset.prove.volatile import hidden

_MATTERS = frozenset({Proven.NEEDED, Proven.RESTORED, Proven.REFETCH_DIFFERS})
"""A resume is wrong without such a field, whatever brings it back."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What is known of a workflow once it was run without an end.

    Attributes:
        tries: What was tried until now.
        right: What is right.
    """

    tries: Tries
    right: Reference

    @property
    def points(self) -> tuple[str, ...]:
        """The points that are asked for at which it can be resumed."""
        asked = self.tries.question.points
        return tuple(p for p in self.right.right.points if not asked or p in asked)

    def only(self, fields: Iterable[str], points: Iterable[str]) -> Looked:
        """Give the same for some fields at some points; what was tried is known to both."""
        question = self.tries.question
        asked = replace(question, fields=frozenset(fields), points=frozenset(points))
        return replace(self, tries=replace(self.tries, question=asked, stands={}))

    @property
    def can_be_proven(self) -> bool:
        """Whether it has a point, reaches its end, and does twice the same."""
        return not (self.right.unlike or self.right.right.failure) and bool(self.points)

    @property
    def is_grouped(self) -> bool:
        """Whether there is so much to try that fields are left out in groups."""
        return len(self.points) * len(self.tries.fields) > self.tries.question.most

    @property
    def planned(self) -> int:
        """How many runs it takes to try every field at every point, about."""
        rules = self.tries.question.rules
        shaped = sum(is_tried_by_rule(rules[name]) for name in self.tries.fields)
        single = len(self.tries.fields)
        if self.is_grouped:
            single = 2 * single.bit_length()  # as for one field that is needed
        again = single // 2  # what goes wrong is tried once more, and then in sets
        return len(self.points) * (CONTROLS + 2 + single + again + shaped) + self.tries.resumes


def look(question: Question) -> Search[Looked]:
    """Run a workflow without an end, twice.

    Args:
        question: What is asked.
    """
    tries = Tries(question)
    right = yield from whole(tries)
    return Looked(tries, right)


def measure(looked: Looked) -> Search[Proof]:
    """Prove which fields a checkpoint needs.

    Args:
        looked: What `look` has found.

    Returns:
        The proof. It is not conclusive where the workflow cannot be repeated, fails by itself, or
        has no checkpoint that it could be resumed from.
    """
    tries, right = looked.tries, looked.right
    if not looked.can_be_proven:
        return _inconclusive(tries, right, right.unlike)
    points, grouped = looked.points, looked.is_grouped
    for found in (yield from side_by_side(stand(tries, point, right) for point in points)):
        tries.stands[found.point] = found
    if unlike := _unlike(tries):
        return _inconclusive(tries, right, unlike)
    measured = yield from side_by_side(at_point(tries, p, grouped=grouped) for p in points)
    if any((yield from side_by_side(later(tries, point) for point in points))):
        if unlike := _unlike(tries):
            return _inconclusive(tries, right, unlike)
        measured = yield from side_by_side(at_point(tries, p, grouped=grouped) for p in points)
    needed = {n for one in measured for n, cell in one.cells.items() if cell.verdict in _MATTERS}
    suffices, dropped = None, frozenset[str]()
    if tries.question.is_whole and any(one.reference for one in tries.stands.values()):
        suffices = yield from sufficient(tries, needed, _sizes(right))
        kept = {*suffices.kept, *needed, *tries.question.outputs}
        dropped = yield from droppable(tries, right, set(tries.fields) - kept)
    return _proof(looked, measured, suffices, dropped)


def _sizes(right: Reference) -> dict[str, int]:
    return {name: verdict.bytes_now for name, verdict in right.right.judged.items()}


def _proof(
    looked: Looked, measured: Sequence[Point], found: Sufficient | None, dropped: frozenset[str]
) -> Proof:
    tries, right = looked.tries, looked.right
    together = found.together if found else ()
    fields = [_field(looked, name, measured, together) for name in tries.question.asked]
    fields = [replace(one, is_droppable=one.name in dropped) for one in fields]
    volatile = {*right.volatile}
    for one in tries.stands.values():
        volatile |= set(one.reference.volatile if one.reference else ())
    return Proof(
        name=tries.question.name,
        points=looked.points,
        fields=tuple(fields),
        sufficient=found.kept if found else None,
        minimal=found.minimal if found else False,
        volatile=tuple(sorted(volatile)),
        strayed={p: one.strayed for p, one in tries.stands.items() if one.strayed},
        declared={one.stand.point: one.declared for one in measured if one.declared},
        resumes=tries.resumes,
        outputs=_outputs(tries),
        pins=tries.question.pins,
        waiting=right.right.waiting,
        opaque=tuple(sorted(opaque(right.right.state))),
    )


def _field(
    looked: Looked, name: str, measured: Sequence[Point], together: Sequence[frozenset[str]]
) -> FieldProof:
    tries, right = looked.tries, looked.right.right
    why = _hidden(looked)
    cells = tuple(_unseen(point.cells[name], why) for point in measured)
    misled: Mapping[str, Differences] = {
        point.stand.point: point.misled[name] for point in measured if point.misled.get(name)
    }
    verdict = worst([cell.verdict for cell in cells])
    return FieldProof(
        name=name,
        rule=tries.question.rules[name].kind,
        verdict=verdict,
        cells=cells,
        judged=right.judged.get(name),
        is_at_the_end=(name,) in right.state,
        together=tuple(group for group in together if name in group),
        lost=verdict is Proven.NOT_NEEDED and any(name in point.lost for point in measured),
        stuck=tries.stuck.get(name, ""),
        stale=tuple(point.stand.point for point in measured if name in point.stand.stale),
        misled=misled,
    )


def _hidden(looked: Looked) -> str:
    """Say why a need could not be seen; empty where it could."""
    right, outputs = looked.right, looked.tries.question.outputs
    if right.right.waiting:
        where = right.right.waiting
        return f"the run waits {where}, and no answer was given: what follows was not tried"
    unknown = sorted(opaque(right.right.state) & outputs)
    if unknown:
        return f"what a caller reads is of a type that cannot be compared: {', '.join(unknown)}"
    places = hidden(right.right.state, right.mask, outputs)
    if places:
        named = ", ".join(sorted({shown(path) for path in places}))
        return f"what a caller reads is another number in each run: {named}"
    return ""


def _unseen(cell: Cell, why: str) -> Cell:
    """Say nothing of a field that may be needed where nobody could see it."""
    if not why or cell.verdict is not Proven.NOT_NEEDED:
        return cell
    return replace(cell, verdict=Proven.INCONCLUSIVE, why=why)


def _unlike(tries: Tries) -> tuple[str, ...]:
    """Name what differs between resumes with everything there: one point speaks for all."""
    return tuple(dict.fromkeys(what for one in tries.stands.values() for what in one.unlike))


def _inconclusive(tries: Tries, right: Reference, unlike: tuple[str, ...]) -> Proof:
    failure = right.right.failure
    cells: tuple[Cell, ...] = ()
    return Proof(
        name=tries.question.name,
        points=right.right.points,
        fields=tuple(
            FieldProof(
                name,
                rule.kind,
                Proven.INCONCLUSIVE,
                cells,
                right.right.judged.get(name),
                stuck=tries.stuck.get(name, ""),
            )
            for name, rule in tries.question.rules.items()
        ),
        volatile=right.volatile,
        unlike=unlike,
        resumes=tries.resumes,
        outputs=_outputs(tries),
        pins=tries.question.pins,
        failure=failed(failure) if failure else "",
    )


def _outputs(tries: Tries) -> tuple[str, ...]:
    return tuple(name for name in tries.question.rules if name in tries.question.outputs)
