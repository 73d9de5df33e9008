"""In which order a resumed run restores its fields: a `Refetch` after what it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from keepset.contracts.fields import Field
from keepset.contracts.problems import Problem
from keepset.contracts.rules import Refetch

if TYPE_CHECKING:
    from keepset.contracts.contract import Contract


def uses(field: Field) -> tuple[str, ...]:
    """Give the fields that a field's rule needs when it restores."""
    return tuple(field.rule.using) if isinstance(field.rule, Refetch) else ()


def restore_order(contract: Contract) -> tuple[str, ...]:
    """Order all fields so that each comes after those that it is restored from.

    Stored fields come first; otherwise the order of declaration stays. A depth-first topological
    sort.

    Raises:
        SchemaError: ``rule.cycle``.
    """
    for problem in cycles(contract.fields):
        raise problem.as_error(contract.name)
    fields = contract.fields
    ordered: dict[str, None] = {name: None for name, field in fields.items() if field.rule.stored}

    def place(name: str) -> None:
        for used in uses(fields[name]):
            if used in fields and used not in ordered:
                place(used)
        ordered.setdefault(name)

    for name in fields:
        place(name)
    return tuple(ordered)


def cycles(fields: Mapping[str, Field]) -> Iterator[Problem]:
    """Find the rules that wait for each other; each circle once."""
    done: set[str] = set()
    for start in fields:
        trail: list[str] = []
        circle = _circle(fields, start, trail, done)
        if circle:
            message = f"the rules wait for each other: {' uses '.join(circle)}"
            hint = "Let one of them use a field that is kept."
            yield Problem("rule.cycle", "error", circle[0], message, hint)


def _circle(
    fields: Mapping[str, Field], name: str, trail: list[str], done: set[str]
) -> list[str] | None:
    if name in trail:
        return [*trail[trail.index(name) :], name]
    if name in done or name not in fields:
        return None
    trail.append(name)
    found = None
    for used in uses(fields[name]):
        found = found or _circle(fields, used, trail, done)
    trail.pop()
    done.add(name)
    return found
