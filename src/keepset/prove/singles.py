"""One field at a time, at one point: is a resume right without it, and right by its rule?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepset.contracts import Drop, Refetch, Rule
from keepset.prove.compare import Difference, differences, is_lost
from keepset.prove.flow import Search
from keepset.prove.proof import Cell, Proven
from keepset.prove.trials import RESTORED, Trial
from keepset.prove.tries import Stand, Tries

Differences = tuple[Difference, ...]

_ONCE = "without it a resume went wrong once and right once"


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one point.

    Attributes:
        stand: What is right there.
        cells: By field.
        misled: What went wrong under the declared rule, by field.
        lost: Fields that are lost at the end without anything else going wrong.
        declared: What went wrong with all fields under their declared rules.
    """

    stand: Stand
    cells: dict[str, Cell]
    misled: dict[str, Differences]
    lost: frozenset[str]
    declared: Differences


def at_point(tries: Tries, point: str, *, grouped: bool) -> Search[Point]:
    """Measure every field at one point.

    Args:
        tries: Knows what is right there.
        point: Its id.
        grouped: Whether fields are left out in groups first.
    """
    stand = tries.stands[point]
    if stand.reference is None:
        return Point(stand, _unknown(tries, stand), {}, frozenset(), ())
    names = [name for name in tries.fields if name not in stand.stale]
    ruled = [name for name in names if is_tried_by_rule(tries.question.rules[name])]
    if grouped:
        groups = yield from _grouped(tries, point, names)
    else:
        yield from tries.outcomes(_certain(tries, point, names, ruled))
        groups = {name: frozenset({name}) for name in names}
    found = yield from tries.without(point, [groups[name] for name in names])
    without = dict(zip(names, found, strict=True))
    doubtful = yield from _doubtful(tries, point, [n for n in names if without[n]])
    misled = yield from _by_rule(tries, point, ruled)
    misled |= {name: stand.strayed for name in names if name in stand.misled}
    declared = yield from _declared(tries, point, names)
    cells = {name: _cell(tries, stand, name, without, misled) for name in tries.question.asked}
    cells |= {name: Cell(point, Proven.INCONCLUSIVE, why=_ONCE) for name in doubtful}
    lost = frozenset(n for n in names if not without[n] and _is_lost(tries, stand, n, groups[n]))
    return Point(stand, cells, misled, lost, declared)


def _doubtful(tries: Tries, point: str, names: Sequence[str]) -> Search[list[str]]:
    """Try once more what went wrong, and give what goes right then: chance decides there."""
    trials = [tries.trial(point, 1, left_out=[name]) for name in names]
    outcomes = yield from tries.outcomes(trials)
    again = [tries.judged(trial, one) for trial, one in zip(trials, outcomes, strict=True)]
    return [name for name, wrong in zip(names, again, strict=True) if not wrong]


def is_tried_by_rule(rule: Rule) -> bool:
    """Say whether a resume by this rule may be another than one with the value itself."""
    return isinstance(rule, Drop | Refetch)


def _certain(tries: Tries, point: str, names: Sequence[str], ruled: Sequence[str]) -> list[Trial]:
    """All that is tried at the point for certain, so that it is carried out in one batch."""
    trials = [
        *(tries.trial(point, left_out=[name]) for name in names),
        *(_ruled(tries, point, name) for name in ruled),
    ]
    return [*trials, tries.trial(point, by_rule=names)] if not tries.question.fields else trials


def _ruled(tries: Tries, point: str, name: str) -> Trial:
    """Try what a rule does against the other thing that may become of the field."""
    if isinstance(tries.question.rules[name], Refetch):
        return tries.trial(point, by_value=[name])
    return tries.trial(point, by_rule=[name])


def _declared(tries: Tries, point: str, names: Sequence[str]) -> Search[Differences]:
    """Try all declared rules together."""
    if tries.question.fields:
        return ()
    trial = tries.trial(point, by_rule=names)
    (outcome,) = yield from tries.outcomes([trial])
    return tries.judged(trial, outcome)


def _by_rule(tries: Tries, point: str, ruled: Sequence[str]) -> Search[dict[str, Differences]]:
    trials = [_ruled(tries, point, name) for name in ruled]
    outcomes = yield from tries.outcomes(trials)
    return {
        name: tries.judged(trial, outcome)
        for name, trial, outcome in zip(ruled, trials, outcomes, strict=True)
    }


def _grouped(tries: Tries, point: str, names: Sequence[str]) -> Search[dict[str, frozenset[str]]]:
    """Leave halves out, and halves of the halves without which a resume is wrong.

    Returns:
        By field, the group that it was left out with last.
    """
    if not names:
        return {}
    group = frozenset(names)
    if len(names) == 1 or not (yield from tries.is_wrong(point, group)):
        return dict.fromkeys(names, group)
    middle = len(names) // 2
    first = yield from _grouped(tries, point, names[:middle])
    second = yield from _grouped(tries, point, names[middle:])
    return {**first, **second}


def _is_lost(tries: Tries, stand: Stand, name: str, group: frozenset[str]) -> bool:
    outcome = tries.known(tries.trial(stand.point, left_out=group))
    right = stand.reference
    return outcome is not None and right is not None and is_lost(outcome, right, name)


def _cell(
    tries: Tries,
    stand: Stand,
    name: str,
    without: dict[str, Differences],
    misled: dict[str, Differences],
) -> Cell:
    """Weigh what went wrong without a field against what went wrong by its rule."""
    rule, point = tries.question.rules[name], stand.point
    if name in stand.misled:
        is_fetched = isinstance(rule, Refetch)
        verdict = Proven.REFETCH_DIFFERS if is_fetched else Proven.NEEDED
        return Cell(point, verdict, stand.strayed)
    wrong, led = without.get(name, ()), misled.get(name, ())
    if isinstance(rule, Drop):
        if led:
            return Cell(point, Proven.NEEDED, led)
        return Cell(point, Proven.RESTORED if wrong else Proven.NOT_NEEDED, wrong)
    if not wrong:
        elsewhere = _elsewhere(tries, stand, name) if isinstance(rule, Refetch) else ()
        verdict = Proven.REFETCH_DIFFERS if elsewhere else Proven.NOT_NEEDED
        return Cell(point, verdict, elsewhere)
    if isinstance(rule, Refetch) and (led or _is_changed(tries, point, name)):
        return Cell(point, Proven.REFETCH_DIFFERS, led or wrong)
    return Cell(point, Proven.RESTORED if isinstance(rule, RESTORED) else Proven.NEEDED, wrong)


def _elsewhere(tries: Tries, stand: Stand, name: str) -> Differences:
    """Say what but the field itself is another with its own value than with what is fetched.

    A loader that gives nothing any more is as wrong as no loader, and the field no less needed.
    """
    outcome = tries.known(tries.trial(stand.point, by_value=[name]))
    if outcome is None or stand.reference is None:
        return ()
    spared = tries.absent | {name}
    return differences(outcome, stand.reference, spared, tries.question.outputs)


def _is_changed(tries: Tries, point: str, name: str) -> bool:
    control = tries.known(tries.trial(point))
    return control is not None and name in control.changed


def _unknown(tries: Tries, stand: Stand) -> dict[str, Cell]:
    """Give the verdicts at a point where it cannot be said what is right.

    Where everything is there but a single field that no checkpoint takes, it is that field.
    """
    alone = tries.absent if len(tries.absent) == 1 and stand.strayed else frozenset()
    return {
        name: Cell(stand.point, Proven.NEEDED, stand.strayed)
        if name in alone
        else Cell(stand.point, Proven.INCONCLUSIVE, why=stand.why)
        for name in tries.question.asked
    }
