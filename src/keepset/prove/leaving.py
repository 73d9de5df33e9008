"""How a field is left out: never stored, and brought back by nothing.

Until the crash it was there, and steps handed it on as they do. What a rule makes of a value when
it enters the state (`Extract`, ``without``) is made of it all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from keepset.contracts import Drop, Extract, Field, Keep, Refetch, Rule, Scratch
from keepset.prove.trials import RESTORED, Trial


class LeftOut(Rule):
    """The field is not stored."""


class _Extracted(Extract, LeftOut):
    stored: ClassVar[bool] = False


class _Kept(Keep, LeftOut):
    stored: ClassVar[bool] = False


def first_rules(fields: Mapping[str, Field], trial: Trial) -> dict[str, Rule]:
    """Give the rule of each field for the life that begins the run.

    A field that is restored by rule is so at the beginning as well, and never stored.

    Args:
        fields: The fields by id, with the rules that are declared.
        trial: What is tried.
    """
    rules = _rules(fields, trial)
    for name in trial.left_out:
        rule = fields[name].rule
        if isinstance(rule, RESTORED):
            rules[name] = replace(rule, pin=None) if isinstance(rule, Refetch) else rule
    return rules


def second_rules(
    fields: Mapping[str, Field], trial: Trial, carried: Mapping[str, Any]
) -> dict[str, Rule]:
    """Give the rule of each field for the life that resumes.

    Args:
        fields: The fields by id, with the rules that are declared.
        trial: What is tried.
        carried: Live values that no checkpoint takes, handed on by the life before.
    """
    rules = _rules(fields, trial)
    for name, value in carried.items():
        if name not in trial.left_out:
            rules[name] = Scratch(_giving(value))
    return rules


def _rules(fields: Mapping[str, Field], trial: Trial) -> dict[str, Rule]:
    return {name: _rule(field.rule, name, trial) for name, field in fields.items()}


def _giving(value: object) -> Callable[[], object]:
    return lambda: value


def _rule(declared: Rule, name: str, trial: Trial) -> Rule:
    is_stuck = name in trial.stuck and isinstance(declared, Keep | Extract | Drop)
    if name in trial.left_out or (is_stuck and name not in trial.by_rule):
        return left_out(declared)
    if name in trial.by_rule:
        return declared
    if name in trial.by_value or isinstance(declared, Drop):
        # In a store of its own a secret is stored: what it does to a run is what is looked at.
        return Keep(secrets="allow")
    if isinstance(declared, Keep):
        return Keep(secrets="allow", without=declared.without, allow=declared.allow)
    return replace(declared, pin="report") if isinstance(declared, Refetch) else declared


def left_out(declared: Rule) -> LeftOut:
    """Give a rule by which a field is left out that has this one."""
    if isinstance(declared, Extract):
        return _Extracted(declared.what, name=declared.name)
    if isinstance(declared, Keep) and declared.without:
        return _Kept(without=declared.without)
    return LeftOut()
