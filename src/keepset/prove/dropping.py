"""Which fields may be declared `Drop`: no resume needs them, and no step misses them either.

A rule takes a field from the next step as well, also in a run that is never ended. So what the
proof found in resumes is tried once more, with the rule itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keepset.prove.compare import Reference, differences
from keepset.prove.flow import Search
from keepset.prove.trials import Outcome, Trial
from keepset.prove.tries import Tries


def droppable(tries: Tries, right: Reference, names: Iterable[str]) -> Search[frozenset[str]]:
    """Try the rule on fields that no resume needs.

    Args:
        tries: Knows what is right at each point.
        right: What is right in a run without an end.
        names: The fields.

    Returns:
        Those that can all be dropped together.
    """
    left = yield from _all_right(tries, right, frozenset(names), [None])
    points = [point for point, stand in tries.stands.items() if stand.reference is not None]
    return (yield from _all_right(tries, right, left, points))


def _all_right(
    tries: Tries, right: Reference, names: frozenset[str], points: Sequence[str | None]
) -> Search[frozenset[str]]:
    """Drop all of them; where that goes wrong, keep those with which it goes right alone."""
    if not names or (yield from _is_right(tries, right, names, points)):
        return names
    left = frozenset[str]()
    for name in names:
        if (yield from _is_right(tries, right, frozenset({name}), points)):
            left |= {name}
    if len(left) > 1 and not (yield from _is_right(tries, right, left, points)):
        return frozenset()
    return left


def _is_right(
    tries: Tries, right: Reference, names: frozenset[str], points: Sequence[str | None]
) -> Search[bool]:
    trials = [tries.trial(point, dropped=names) for point in points]
    outcomes = yield from tries.outcomes(trials)
    return not any(
        _judged(tries, right, trial, outcome)
        for trial, outcome in zip(trials, outcomes, strict=True)
    )


def _judged(tries: Tries, right: Reference, trial: Trial, outcome: Outcome) -> bool:
    """Say whether something goes wrong."""
    if trial.point is not None:
        return bool(tries.judged(trial, outcome))
    spared = trial.dropped | tries.absent
    return bool(differences(outcome, right, spared, tries.question.outputs))
