"""What is right: a run without an end, and resumes at each point with everything there."""

from __future__ import annotations

from dataclasses import replace

from keepset.contracts import Refetch
from keepset.prove.compare import Difference, Reference, differences, reference_of
from keepset.prove.flow import Search
from keepset.prove.trials import RESTORED
from keepset.prove.tries import Stand, Tries
from keepset.prove.volatile import mask_of

CONTROLS = 2
"""Resumes with everything there, by which it is told what is volatile."""
WHOLE = 4
"""Runs without an end: two of them may be alike by chance where a workflow is not repeatable."""


def whole(tries: Tries) -> Search[Reference]:
    """Run without an end, until every field that no checkpoint takes is known, and then again."""
    while True:
        (outcome,) = yield from tries.outcomes([tries.trial()])
        if outcome.unstorable is None or outcome.unstorable[0] in tries.stuck:
            break
        name, code = outcome.unstorable
        tries.stuck[name] = code
    trials = [tries.trial(number=number) for number in range(WHOLE)]
    return reference_of((yield from tries.outcomes(trials)))


def stand(tries: Tries, point: str, uninterrupted: Reference) -> Search[Stand]:
    """Find out what is right at a point.

    A resume with everything there says it. Where that goes astray, the world has changed in
    between, or a field is stale: there and worse than if it were not.
    """
    trials = [tries.trial(point, number) for number in range(CONTROLS)]
    controls = reference_of((yield from tries.outcomes(trials)))
    if controls.unlike:
        return Stand(point, None, unlike=controls.unlike)
    if controls.right.unstorable is not None:
        tries.stuck.setdefault(*controls.right.unstorable)  # a secret, which no file has
    around = _around(uninterrupted, controls)
    strayed = differences(controls.right, around, tries.absent, tries.question.outputs)
    if not strayed:
        return Stand(point, controls)
    misled = yield from _misled(tries, point, around, controls)
    if misled is not None:
        return misled
    if controls.right.failure is None:
        return Stand(point, controls, strayed)
    return (yield from _stale(tries, point, around, strayed))


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
        tries.stands[point] = replace(before, reference=None, unlike=reference.unlike)
    else:
        tries.stands[point] = replace(before, reference=reference)
    return True


def _around(uninterrupted: Reference, controls: Reference) -> Reference:
    """Let what time alone makes another be volatile: a clock goes on between two lives."""
    both = (*uninterrupted.controls, *controls.controls)
    mask, unlike = mask_of([{**one.state, **one.world} for one in both])
    allowed = {path: at for path, at in mask.items() if path not in unlike}
    return Reference(uninterrupted.right, both, allowed, ())


def _misled(
    tries: Tries, point: str, right: Reference, controls: Reference
) -> Search[Stand | None]:
    """Look for the rules that lead a resume astray: with the fields' own values it is right.

    What such a field is at the end is no matter: a rule may make it afresh.
    """
    rules, outputs = tries.question.rules, tries.question.outputs
    ruled = [name for name in rules if isinstance(rules[name], RESTORED)]
    spared = tries.absent | frozenset(ruled)
    strayed = differences(controls.right, right, spared, outputs)
    stored = (yield from _storable(tries, point, ruled)) if strayed else []
    (outcome,) = yield from tries.outcomes([tries.trial(point, by_value=stored)])
    if not stored or differences(outcome, right, spared, outputs):
        return None
    for name in list(stored):
        fewer = [one for one in stored if one != name]
        (outcome,) = yield from tries.outcomes([tries.trial(point, by_value=fewer)])
        if not differences(outcome, right, spared, outputs):
            stored = fewer
    if controls.right.failure is None:
        # Other content is what a resume has; it is held to what was there field by field.
        stored = [name for name in stored if not isinstance(rules[name], Refetch)]
    if not stored:
        return None
    trials = [tries.trial(point, number, by_value=stored) for number in range(CONTROLS)]
    reference = reference_of((yield from tries.outcomes(trials)))
    if reference.unlike:
        return None
    return Stand(point, reference, strayed, misled=frozenset(stored))


def _storable(tries: Tries, point: str, names: list[str]) -> Search[list[str]]:
    """Give those fields whose values a checkpoint takes."""
    left = list(names)
    while left:
        (outcome,) = yield from tries.outcomes([tries.trial(point, by_value=left)])
        refused = outcome.unstorable[0] if outcome.unstorable else None
        if refused not in left:
            break
        left.remove(refused)
    return left


def _stale(
    tries: Tries, point: str, right: Reference, strayed: tuple[Difference, ...]
) -> Search[Stand]:
    """Look for the field without which a resume does not fail."""
    outputs = tries.question.outputs
    names = [name for name in tries.question.rules if name not in tries.absent]
    trials = [tries.trial(point, left_out=[name]) for name in names]
    outcomes = yield from tries.outcomes(trials)
    for name, outcome in zip(names, outcomes, strict=True):
        if differences(outcome, right, tries.absent | {name}, outputs):
            continue
        again = yield from tries.outcomes([tries.trial(point, 1, left_out=[name])])
        reference = reference_of([outcome, *again])
        if not reference.unlike:
            return Stand(point, reference, strayed, stale=frozenset({name}))
    why = f"it fails with everything there that a checkpoint takes: {strayed[0].what}"
    return Stand(point, None, strayed, why=why)
