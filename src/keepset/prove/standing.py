"""What is right: a run without an end, and resumes at each point with everything there."""

from __future__ import annotations

from dataclasses import replace

from keepset.contracts import Refetch
from keepset.prove.compare import Difference, Reference, differences, reference_of
from keepset.prove.flow import Search
from keepset.prove.trials import Trial
from keepset.prove.tries import Stand, Tries
from keepset.prove.volatile import mask_of

CONTROLS = 2
"""Resumes with everything there, by which it is told what is volatile."""
_UNLIKE = "two resumes with everything there differ in"


def whole(tries: Tries) -> Search[Reference]:
    """Run without an end, until every field that no checkpoint takes is known, and then again."""
    while True:
        (outcome,) = yield from tries.outcomes([tries.trial()])
        if outcome.unstorable is None or outcome.unstorable[0] in tries.stuck:
            break
        name, code = outcome.unstorable
        tries.stuck[name] = code
    trials = [tries.trial(number=number) for number in range(CONTROLS)]
    return reference_of((yield from tries.outcomes(trials)))


def stand(tries: Tries, point: str, uninterrupted: Reference) -> Search[Stand]:
    """Find out what is right at a point.

    A resume with everything there says it. Where that goes astray, the world has changed in
    between, or a field is stale: there and worse than if it were not.
    """
    trials = [tries.trial(point, number) for number in range(CONTROLS)]
    controls = reference_of((yield from tries.outcomes(trials)))
    if controls.unlike:
        why = f"{_UNLIKE} {', '.join(controls.unlike)}"
        return Stand(point, None, why=why)
    if controls.right.unstorable is not None:
        tries.stuck.setdefault(*controls.right.unstorable)  # a secret, which no file has
    around = _around(uninterrupted, controls)
    strayed = differences(controls.right, around, tries.absent, tries.question.outputs)
    if not strayed or controls.right.failure is None:
        return Stand(point, controls, strayed)
    return (yield from _mended(tries, point, around, strayed))


def later(tries: Tries, point: str) -> Search[bool]:
    """Hold a resume of now to those of before: what a slow clock has changed is volatile as well.

    Returns:
        Whether something has changed.
    """
    before = tries.stands[point]
    if before.reference is None:
        return False
    (outcome,) = yield from tries.outcomes([tries.trial(point, CONTROLS)])
    if not differences(outcome, before.reference, tries.absent, tries.question.outputs):
        return False
    reference = reference_of([*before.reference.controls, outcome])
    if reference.unlike:
        why = f"{_UNLIKE} {', '.join(reference.unlike)}"
        tries.stands[point] = replace(before, reference=None, why=why)
    else:
        tries.stands[point] = replace(before, reference=reference)
    return True


def _around(uninterrupted: Reference, controls: Reference) -> Reference:
    """Let what time alone makes another be volatile: a clock goes on between two lives."""
    both = (*uninterrupted.controls, *controls.controls)
    mask, unlike = mask_of([{**one.state, **one.world} for one in both])
    allowed = {path: at for path, at in mask.items() if path not in unlike}
    return Reference(uninterrupted.right, both, allowed, ())


def _mended(
    tries: Tries, point: str, right: Reference, strayed: tuple[Difference, ...]
) -> Search[Stand]:
    """Look for the field without which, or with whose own value, a resume does not fail."""
    names = tries.fields
    fetched = [name for name in names if isinstance(tries.question.rules[name], Refetch)]
    mends = [*((name, True) for name in fetched), *((name, False) for name in names)]
    outcomes = yield from tries.outcomes([_mend(tries, point, one) for one in mends])
    for (name, stored), outcome in zip(mends, outcomes, strict=True):
        out = frozenset() if stored else frozenset({name})
        if differences(outcome, right, tries.absent | out, tries.question.outputs):
            continue
        again = yield from tries.outcomes([_mend(tries, point, (name, stored), 1)])
        reference = reference_of([outcome, *again])
        if not reference.unlike:
            return Stand(point, reference, strayed, stale=out, misled=frozenset({name}) - out)
    why = f"it fails with everything there that a checkpoint takes: {strayed[0].what}"
    return Stand(point, None, strayed, why=why)


def _mend(tries: Tries, point: str, mend: tuple[str, bool], number: int = 0) -> Trial:
    name, stored = mend
    if stored:
        return tries.trial(point, number, by_value=[name])
    return tries.trial(point, number, left_out=[name])
