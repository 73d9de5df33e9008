"""A proof in sentences, the same for a terminal and for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from keepset.cli.counts import counted
from keepset.prove.data import in_order
from keepset.prove.findings import findings
from keepset.prove.proof import FieldProof, Proof, Proven
from keepset.verdict.sentences import size

_ORDER = list(Proven)


def ordered(proof: Proof) -> list[FieldProof]:
    """Give the fields, those with the most telling verdict first, else as they are declared."""
    return sorted(proof.fields, key=lambda field: _ORDER.index(field.verdict))


def headline(proof: Proof) -> str:
    """Say how many fields have which verdict, and how much was done for it."""
    found = Counter(field.verdict for field in proof.fields)
    counts = ", ".join(f"{found[verdict]} {verdict}" for verdict in Proven if found[verdict])
    done = f"{counted(len(proof.points), 'point')}, {counted(proof.resumes, 'run')}"
    return f"{proof.name}: {counts or 'no fields'} ({done})"


def measured(field: FieldProof, proof: Proof) -> str:
    """Say what was measured of a field: where it is needed first, and what went wrong."""
    cell = field.first
    wrong = cell.differences[0].what if cell and cell.differences else ""
    if field.verdict is Proven.NOT_NEEDED:
        return _not_needed(field, proof)
    if cell is None:
        return "nothing could be measured"
    if field.verdict is Proven.INCONCLUSIVE:
        return f"{cell.point}: {cell.why}"
    if field.verdict is Proven.RESTORED:
        return f"{field.rule} brings it back; without it {cell.point}: {wrong}"
    return f"{cell.point}: {wrong}"


def _not_needed(field: FieldProof, proof: Proof) -> str:
    if field.stale:
        return f"stored, it makes a resume {field.stale[0]} fail"
    if field.stuck:
        return f"no checkpoint takes it [{field.stuck}], and no resume needs it"
    if field.together:
        return f"one of {', '.join(in_order(field.together[0], proof))} is needed"
    if field.lost:
        return "no step needs it; at the end it is missing, or another one"
    return f"at none of {counted(len(field.cells), 'point')}"


def unclear(proof: Proof) -> Iterator[str]:
    """Say why there is no answer, where there is none at all, and what would help."""
    if proof.failure:
        yield f"Inconclusive: the workflow fails by itself: {proof.failure}."
    elif not proof.points:
        yield "Inconclusive: there is no checkpoint that a run could be resumed from."
    elif proof.unlike:
        yield (
            "Inconclusive: this workflow is not repeatable. Two runs of which nothing was changed "
            f"differ in {', '.join(proof.unlike)}."
        )
        yield "Give it the same each time: a seed, a fake model, a pinned clock."


def sufficient(proof: Proof) -> str:
    """Say which fields suffice; empty where that could not be measured."""
    if proof.sufficient is None:
        return ""
    kinds = {field.name: field.verdict for field in proof.fields}
    back = [name for name in proof.sufficient if kinds.get(name) is Proven.RESTORED]
    kept = [name for name in proof.sufficient if name not in back]
    fields = counted(len(proof.fields), "field")
    verb = "suffices" if len(kept) == 1 else "suffice"
    said = f"{len(kept)} of {fields} {verb}: {', '.join(kept)}"
    if len(kept) == len(proof.fields):
        said = f"All {fields} {'is' if len(kept) == 1 else 'are'} needed"
    if not kept:
        said = f"0 of {fields} have to be stored"
    if back:
        said += f"; {', '.join(back)} {'comes' if len(back) == 1 else 'come'} back by rule"
    if kept and proof.minimal:
        said += "; dropping any one breaks a resume"
    if not proof.is_conclusive:
        said += ". That holds for the points that could be measured"
    return f"{said}."


def saved(proof: Proof) -> str:
    """Say what a checkpoint of the sufficient set weighs; empty where it saves nothing."""
    if proof.sufficient is None:
        return ""
    whole = sum(field.size for field in proof.fields)
    kinds = {Proven.RESTORED}
    kept = sum(
        field.size
        for field in proof.fields
        if field.name in proof.sufficient and field.verdict not in kinds
    )
    if kept >= whole:
        return ""
    return f"That is {size(kept)} of {size(whole)} at the end of a run."


def together(proof: Proof) -> list[str]:
    """Name the sets of fields of which one is needed, each once."""
    groups = dict.fromkeys(group for field in proof.fields for group in field.together)
    return [_group(group, proof) for group in groups]


def _group(group: frozenset[str], proof: Proof) -> str:
    kept = in_order(group & frozenset(proof.sufficient or ()), proof)
    said = f"Needed together: one of {', '.join(in_order(group, proof))}"
    return f"{said} (kept here: {', '.join(kept)})." if kept else f"{said}."


def left_out(proof: Proof) -> str:
    """Say what was not compared; empty where all was."""
    if proof.unlike:
        return ""
    said = []
    if proof.volatile:
        names = ", ".join(proof.volatile)
        said.append(f"Not compared, since runs of which nothing was changed differ in it: {names}.")
    if proof.opaque:
        names = ", ".join(proof.opaque)
        said.append(f"Not compared, since its type cannot be: {names}.")
    return " ".join(said)


def strayed(proof: Proof) -> list[str]:
    """Say how a resume with everything there strays from a run without an end, and where."""
    places: dict[str, list[str]] = {}
    for point, found in (proof.strayed or {}).items():
        for one in found[:1]:
            places.setdefault(one.what, []).append(point)
    return [
        f"Resumed with everything there, it strays from a run without an end: {what} "
        f"({_places(points, len(proof.points))})."
        for what, points in places.items()
    ]


def _places(points: list[str], of: int) -> str:
    return "at every point" if len(points) == of > 1 else ", ".join(points)


def next_step(proof: Proof, again: str) -> str:
    """Say what to type next.

    Args:
        proof: What was measured.
        again: The command line that this proof came from.
    """
    if proof.unlike:
        missing = [pin for pin in ("clock", "uuid", "random") if pin not in proof.pins]
        pins = "".join(f" --pin {pin}" for pin in missing)
        return f"{again}{pins}" if pins else again
    if proof.failure or not proof.points:
        return again
    found = findings(proof)
    if any(finding.code == "prove.kept-for-the-end" for finding in found) and not proof.outputs:
        return f"{again} --output FIELD, for each field that a caller reads"
    return f"{again} --write-contract" if found else f"{again} --html proof.html"
