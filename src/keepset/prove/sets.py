"""A smallest set of fields with which alone every resume is right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from keepset.prove.flow import Search, side_by_side
from keepset.prove.minimal import smallest
from keepset.prove.tries import Tries


@dataclass(frozen=True, slots=True)
class Sufficient:
    """What a search for a sufficient set gives.

    Attributes:
        kept: The set, in the order of declaration.
        minimal: Whether each of its fields was shown to be needed in it.
        together: The minimal sets, of two fields or more, without which a resume goes wrong
            though it does not without any part of them.
    """

    kept: tuple[str, ...]
    minimal: bool
    together: tuple[frozenset[str], ...]


def sufficient(
    tries: Tries, needed: Collection[str], cost: Mapping[str, int]
) -> Search[Sufficient]:
    """Leave out everything that is not needed by itself, and give back what is needed together.

    Args:
        tries: Knows what is right at each point.
        needed: The fields that are needed by themselves.
        cost: Bytes of each field, by which it is chosen which of several is kept.
    """
    points = [point for point, stand in tries.stands.items() if stand.reference is not None]
    left_out = frozenset(tries.fields) - frozenset(needed)
    together: list[frozenset[str]] = []
    while left_out:
        wrong = yield from side_by_side(_wrong_at(tries, point, left_out) for point in points)
        point = next((p for p, is_wrong in zip(points, wrong, strict=True) if is_wrong), None)
        if point is None:
            break
        found = yield from _smallest(tries, point, left_out)
        if len(found) > 1:
            together.append(found)
        left_out -= {_cheapest(found, tries, cost)}
    left_out = yield from _thinned(tries, points, left_out)
    kept = tuple(name for name in tries.fields if name not in left_out)
    return Sufficient(kept, minimal=bool(points), together=tuple(dict.fromkeys(together)))


def _wrong_at(tries: Tries, point: str, left_out: frozenset[str]) -> Search[bool]:
    return (yield from tries.is_wrong(point, left_out))


def _smallest(tries: Tries, point: str, left_out: frozenset[str]) -> Search[frozenset[str]]:
    items = [name for name in tries.fields if name in left_out]
    return (yield from smallest(items, lambda some: tries.is_wrong(point, some)))


def _cheapest(found: frozenset[str], tries: Tries, cost: Mapping[str, int]) -> str:
    """Choose which of several fields to keep: one that can be stored and is small."""
    order = tries.fields
    return min(found, key=lambda n: (n in tries.stuck, cost.get(n, 0), order.index(n)))


def _thinned(tries: Tries, points: list[str], left_out: frozenset[str]) -> Search[frozenset[str]]:
    """Show that each field that is kept is needed, and leave out those that are not after all."""
    while True:
        before = left_out
        for name in [name for name in tries.fields if name not in left_out]:
            more = left_out | {name}
            wrong = yield from side_by_side(_wrong_at(tries, point, more) for point in points)
            if not any(wrong):
                left_out = more
        if left_out == before:
            return left_out
