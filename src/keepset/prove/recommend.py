"""From a proof to rules: what to declare for a field, and why, in a few words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from keepset.contracts import Drop, Field, Keep
from keepset.prove.proof import Cell, FieldProof, Proof, Proven
from keepset.verdict import reasons

_AFTER_INPUT: Final = "after input"
_LONGEST: Final = 120
"""Characters of a reason."""
_REQUIRED: Final = "[state.missing-field]"
"""How a resume fails without a field that the class itself requires."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to declare for a field.

    Attributes:
        rule: The rule, as ``Keep()`` or ``Drop()``; empty where only a person can say which one:
            then the reason says what to look for.
        reason: What was measured, in one line.
        absent: Whether the class has to allow that the field is absent, which it does not yet.
        declared: Whether a rule is declared for it, in whatever place.
    """

    rule: str
    reason: str
    absent: bool = False
    declared: bool = False


def recommended(
    proof: Proof, fields: Mapping[str, Field], inputs: Collection[str] = ()
) -> dict[str, Recommendation]:
    """Say what to declare, for those fields whose declaration is not right already.

    A field that nobody was proven to need is dropped only where it is known what a caller reads
    at the end (`Proof.outputs`): a rule takes the field from the caller as well.

    Args:
        proof: What was measured.
        fields: The declared fields, by the ids that the proof has for them.
        inputs: Fields that a run begins with. The first step may read them, and where no
            checkpoint comes before it no resume shows that: they are not dropped.
    """
    given_at_first = frozenset(() if _AFTER_INPUT in proof.points else inputs)
    found = {}
    for one in proof.fields:
        field = fields.get(one.name)
        given = (
            None if field is None else _of(one, field, proof, is_given=one.name in given_at_first)
        )
        if field is not None and given is not None:
            rule, reason = given
            absent = rule == "Drop()" and field.required
            reason = shorten(_plain(reason), _LONGEST, placeholder=" ...")
            found[one.name] = Recommendation(rule, reason, absent, field.declared)
    return found


def _of(one: FieldProof, field: Field, proof: Proof, *, is_given: bool) -> tuple[str, str] | None:
    if one.stale:
        what = f"stored, it makes a resume {one.stale[0]} fail"
        return "", f"{what}: declare Scratch(factory) or Reopen(factory)"
    if one.verdict is Proven.REFETCH_DIFFERS:
        what = f"its loader gives other content {_at(one.first)}"
        return "", f"{what}: load by what does not change, or declare Keep()"
    if one.verdict is Proven.NEEDED:
        return _needed(one, field)
    if one.verdict is Proven.NOT_NEEDED and isinstance(field.rule, Keep):
        if is_given:
            why = "no resume needs it, but the first step may"
            return None if field.declared else ("Keep()", why)
        return _not_needed(one, field, proof)
    return None


def _needed(one: FieldProof, field: Field) -> tuple[str, str] | None:
    why = f"needed {_at(one.first)}"
    if field.declared and isinstance(field.rule, Keep) and not one.stuck:
        return None
    if _is_secret(one):
        return "", f"{why}, and a secret: declare Secret(reference)"
    if one.stuck or _is_live(one):
        return "", f"{why}, and no checkpoint can hold it: declare Reopen(factory)"
    if isinstance(field.rule, Keep | Drop):
        return "Keep()", _required(one) or why
    return "", f"{why}, and {one.rule} does not bring it back: mend it, or declare Keep()"


def _required(one: FieldProof) -> str:
    """Say so where it is the class alone that a resume fails by, so that nothing was measured."""
    cells = [cell for cell in one.cells if cell.verdict is Proven.NEEDED]
    if all(any(_REQUIRED in wrong.what for wrong in cell.differences) for cell in cells):
        return "the class requires a value; give it a default and prove again"
    return ""


def _not_needed(one: FieldProof, field: Field, proof: Proof) -> tuple[str, str] | None:
    many = len(one.cells)
    count = f"{many} of {many} point{'' if many == 1 else 's'}"
    if one.stuck or _is_live(one) or _is_secret(one):
        if one.is_droppable:
            return "Drop()", f"no checkpoint should hold it, and it is not needed at {count}"
        return "", "no checkpoint should hold it, and steps hand it on: declare Scratch(factory)"
    kept: str | None = None
    if one.name in proof.outputs:
        kept = "a caller reads it at the end"
    elif one.name in (proof.sufficient or ()):
        others = sorted({name for group in one.together for name in group} - {one.name})
        kept = f"needed where {' and '.join(others) or 'others'} cannot stand in for it"
    elif not one.is_droppable:
        kept = f"not needed at {count}, but steps hand it on: Drop() goes wrong"
    elif not proof.outputs:
        kept = f"not needed at {count}; drop it if no caller reads it at the end"
    if kept is None:
        return "Drop()", f"not needed at {count}"
    return None if field.declared else ("Keep()", kept)


def _is_live(one: FieldProof) -> bool:
    if one.judged is None or one.judged.keep:
        return False
    return reasons.is_unserialisable(one.judged.reason) or one.judged.reason == reasons.TEMPORARY


def _is_secret(one: FieldProof) -> bool:
    if reasons.is_secret(one.stuck):
        return True
    return one.judged is not None and not one.judged.keep and reasons.is_secret(one.judged.reason)


def _at(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{cell.point}: {cell.differences[0].what}" if cell.differences else cell.point


def _plain(text: str) -> str:
    """Keep a text to one line of a comment: names in it may have been made to do harm."""
    return "".join(c if c.isprintable() and c != "#" else " " for c in text)
