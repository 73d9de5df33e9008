"""What is right: a run without an end, and resumes at each point with everything there."""

from __future__ import annotations

from keepset.prove.compare import Difference, Reference, differences, reference_of
from keepset.prove.flow import Search
from keepset.prove.tries import Stand, Tries
from keepset.prove.volatile import mask_of

_CONTROLS = 2


def whole(tries: Tries) -> Search[Reference]:
    """Run without an end, until every field that no checkpoint takes is known, and then again."""
    while True:
        (outcome,) = yield from tries.outcomes([tries.trial()])
        if outcome.unstorable is None or outcome.unstorable[0] in tries.stuck:
            break
        name, code = outcome.unstorable
        tries.stuck[name] = code
    trials = [tries.trial(number=number) for number in range(_CONTROLS)]
    return reference_of((yield from tries.outcomes(trials)))


def stand(tries: Tries, point: str, uninterrupted: Reference) -> Search[Stand]:
    """Find out what is right at a point.

    A resume with everything there says it. Where that goes astray, the world has changed in
    between, or a field is stale: there and worse than if it were not.
    """
    trials = [tries.trial(point, number=number) for number in range(_CONTROLS)]
    controls = reference_of((yield from tries.outcomes(trials)))
    if controls.unlike:
        why = f"two resumes with everything there differ in {', '.join(controls.unlike)}"
        return Stand(point, None, why=why)
    around = _around(uninterrupted, controls)
    strayed = differences(controls.right, around, tries.absent, tries.question.outputs)
    if not strayed or controls.right.failure is None:
        return Stand(point, controls, strayed)
    return (yield from _stale(tries, point, around, strayed))


def _around(uninterrupted: Reference, controls: Reference) -> Reference:
    """Let what time alone makes another be volatile: a clock goes on between two lives."""
    both = (*uninterrupted.controls, *controls.controls)
    mask, unlike = mask_of([{**one.state, **one.world} for one in both])
    allowed = {path: at for path, at in mask.items() if path not in unlike}
    return Reference(uninterrupted.right, both, allowed, ())


def _stale(
    tries: Tries, point: str, right: Reference, strayed: tuple[Difference, ...]
) -> Search[Stand]:
    """Look for the field without which a resume does not fail."""
    names = tries.fields
    trials = [tries.trial(point, [name]) for name in names]
    outcomes = yield from tries.outcomes(trials)
    for name, outcome in zip(names, outcomes, strict=True):
        spared = tries.absent | {name}
        if not differences(outcome, right, spared, tries.question.outputs):
            again = yield from tries.outcomes([tries.trial(point, [name], number=1)])
            reference = reference_of([outcome, *again])
            if not reference.unlike:
                return Stand(point, reference, strayed, frozenset({name}))
    why = f"it fails with everything there that a checkpoint takes: {strayed[0].what}"
    return Stand(point, None, strayed, why=why)
