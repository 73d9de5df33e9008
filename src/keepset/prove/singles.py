"""One field at a time, at one point: is a resume right without it, and right by its rule?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepset.contracts import Keep, Rule
from keepset.prove.compare import Difference, is_lost
from keepset.prove.flow import Search
from keepset.prove.proof import Cell, Proven
from keepset.prove.trials import RESTORED, Trial
from keepset.prove.tries import Stand, Tries, is_fetched, is_plain

Differences = tuple[Difference, ...]


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
    shaped = [name for name in names if _is_tried_by_rule(tries.question.rules[name])]
    if grouped:
        without = yield from _grouped(tries, point, names)
    else:
        yield from tries.outcomes(_first(tries, point, names, shaped))
        found = yield from tries.without(point, [frozenset({name}) for name in names])
        without = dict(zip(names, found, strict=True))
    misled = yield from _by_rule(tries, point, shaped)
    whole = tries.trial(point, stand.stale, names)
    outcomes = yield from tries.outcomes([whole])
    cells = {name: _cell(tries, stand, name, without, misled) for name in tries.question.rules}
    lost = frozenset(n for n in names if not without[n] and _is_lost(tries, stand, n))
    return Point(stand, cells, misled, lost, tries.judged(whole, outcomes[0]))


def _first(tries: Tries, point: str, names: Sequence[str], shaped: Sequence[str]) -> list[Trial]:
    """All that is tried at the point for certain, so that it is carried out in one batch."""
    stale = tries.stands[point].stale
    return [
        *(tries.trial(point, {name} | stale) for name in names),
        *(tries.trial(point, stale, [name]) for name in shaped),
        tries.trial(point, stale, names),
    ]


def _is_tried_by_rule(rule: Rule) -> bool:
    return not isinstance(rule, RESTORED) and not is_plain(rule)


def _by_rule(tries: Tries, point: str, shaped: Sequence[str]) -> Search[dict[str, Differences]]:
    stale = tries.stands[point].stale
    trials = [tries.trial(point, stale, [name]) for name in shaped]
    outcomes = yield from tries.outcomes(trials)
    return {
        name: tries.judged(trial, outcome)
        for name, trial, outcome in zip(shaped, trials, outcomes, strict=True)
    }


def _grouped(tries: Tries, point: str, names: Sequence[str]) -> Search[dict[str, Differences]]:
    """Leave halves out, and halves of the halves without which a resume is wrong."""
    if not names:
        return {}
    (found,) = yield from tries.without(point, [frozenset(names)])
    if not found or len(names) == 1:
        return dict.fromkeys(names, found)
    middle = len(names) // 2
    first = yield from _grouped(tries, point, names[:middle])
    second = yield from _grouped(tries, point, names[middle:])
    return {**first, **second}


def _is_lost(tries: Tries, stand: Stand, name: str) -> bool:
    outcome = tries.known(tries.trial(stand.point, {name} | stand.stale))
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
    rule = tries.question.rules[name]
    point, wrong, led = stand.point, without.get(name, ()), misled.get(name, ())
    if name not in without:  # no checkpoint takes it, or it is stale: right without it
        return Cell(point, Proven.NOT_NEEDED)
    if not wrong and not (led and not is_fetched(rule)):
        return Cell(point, Proven.NOT_NEEDED)
    if isinstance(rule, RESTORED):
        return Cell(point, Proven.RESTORED, wrong)
    if is_fetched(rule):
        changed = tries.known(tries.trial(point, stand.stale, [name]))
        if changed is not None and name in changed.changed:
            return Cell(point, Proven.REFETCH_DIFFERS, led or wrong)
    if isinstance(rule, Keep) or led or rule.stored:
        return Cell(point, Proven.NEEDED, wrong or led)
    return Cell(point, Proven.RESTORED, wrong)


def _unknown(tries: Tries, stand: Stand) -> dict[str, Cell]:
    """Give the verdicts at a point where it cannot be said what is right.

    Where everything is there but a single field that no checkpoint takes, it is that field.
    """
    alone = tries.absent if len(tries.absent) == 1 and stand.strayed else frozenset()
    return {
        name: Cell(stand.point, Proven.NEEDED, stand.strayed)
        if name in alone
        else Cell(stand.point, Proven.INCONCLUSIVE, why=stand.why)
        for name in tries.question.rules
    }
