"""What is unsound about a contract, found before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from keepset.contracts.classes import named_classes, same_name
from keepset.contracts.contract import Contract
from keepset.contracts.fields import Field, read_fields
from keepset.contracts.markers import misread, nested
from keepset.contracts.order import cycles
from keepset.contracts.problems import Problem
from keepset.contracts.questions import (
    Fields,
    absent_after_drop,
    credential_names,
    nameless_function,
    unbounded,
    unknown_subject,
    unserialisable,
    useless_globs,
    wrong_refetch,
)

_PER_FIELD: Final[tuple[Callable[[Field, Fields], Iterator[Problem]], ...]] = (
    nested,
    misread,
    wrong_refetch,
    absent_after_drop,
    unknown_subject,
    unserialisable,
    credential_names,
    useless_globs,
    nameless_function,
    unbounded,
)


def check(state: object, *, strict: bool = False) -> list[Problem]:
    """Find what is unsound about a contract.

    Args:
        state: A contract, or a state type (also one from which no contract can be made).
        strict: Whether a field without a rule is an error.

    Returns:
        The problems in the order of the fields; docs/contracts.md has every code.

    Raises:
        UsageError: ``contract.not-a-state``.
        SchemaError: ``state.unresolved-name`` where the annotations cannot be read at all.
    """
    fields, problems = read_fields(state.state if isinstance(state, Contract) else state)
    for field in fields.values():
        for find in _PER_FIELD:
            problems += find(field, fields)
        if not field.declared:
            problems.append(_undeclared(field, strict=strict))
    problems += cycles(fields)
    problems += same_name(named_classes(fields.values()))
    order = {name: position for position, name in enumerate(fields)}
    return sorted(problems, key=lambda problem: order.get(_root(problem.path), -1))


def _root(path: str) -> str:
    return path.split("[", maxsplit=1)[0].split(".", maxsplit=1)[0]


def _undeclared(field: Field, *, strict: bool) -> Problem:
    return Problem(
        "field.undeclared",
        "error" if strict else "warning",
        field.name,
        "no rule is declared, so it is kept",
        f"Say what becomes of it: {field.name}: Annotated[…, ks.Keep()], or another rule.",
    )
