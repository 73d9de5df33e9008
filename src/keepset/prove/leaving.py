"""How a field is left out: never stored, and brought back by nothing.

Until the crash it was there, and steps handed it on as they do. What a rule makes of a value when
it enters the state (`Extract`, ``without``) is made of it all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from keepset.contracts import Drop, Extract, Field, Keep, Refetch, Rule, Scratch
from keepset.prove.trials import RESTORED, Trial

Secrets = Literal["withhold", "allow"]
"""What becomes of a secret in a field that is kept: in a store in memory it is stored, so that what
it does to a run is looked at; in a file it is not."""


class LeftOut(Rule):
    """The field is not stored."""


class _Extracted(Extract, LeftOut):
    stored: ClassVar[bool] = False


class _Kept(Keep, LeftOut):
    stored: ClassVar[bool] = False


def first_rules(
    fields: Mapping[str, Field], trial: Trial, secrets: Secrets = "allow"
) -> dict[str, Rule]:
    """Give the rule of each field for the life that begins the run.

    A field that is restored by rule is so at the beginning as well, and never stored.

    Args:
        fields: The fields by id, with the rules that are declared.
        trial: What is tried.
        secrets: What becomes of a secret in a field that is kept.
    """
    rules = _rules(fields, trial, secrets)
    for name in trial.left_out:
        rule = fields[name].rule
        if isinstance(rule, RESTORED):
            rules[name] = replace(rule, pin=None) if isinstance(rule, Refetch) else rule
    return rules


def second_rules(
    fields: Mapping[str, Field],
    trial: Trial,
    carried: Mapping[str, Any],
    secrets: Secrets = "allow",
) -> dict[str, Rule]:
    """Give the rule of each field for the life that resumes.

    Args:
        fields: The fields by id, with the rules that are declared.
        trial: What is tried.
        carried: Live values that no checkpoint takes, handed on by the life before.
        secrets: What becomes of a secret in a field that is kept.
    """
    rules = _rules(fields, trial, secrets)
    for name, value in carried.items():
        if name not in trial.left_out:
            rules[name] = Scratch(_giving(value))
    return rules


def _rules(fields: Mapping[str, Field], trial: Trial, secrets: Secrets) -> dict[str, Rule]:
    return {name: _rule(field.rule, name, trial, secrets) for name, field in fields.items()}


def _giving(value: object) -> Callable[[], object]:
    return lambda: value


def _rule(declared: Rule, name: str, trial: Trial, secrets: Secrets) -> Rule:
    if name in trial.dropped:
        return Drop()
    is_stuck = name in trial.stuck and isinstance(declared, Keep | Extract | Drop)
    if name in trial.left_out or (is_stuck and name not in trial.by_rule):
        return left_out(declared)
    if name in trial.by_rule:
        return declared
    if name in trial.by_value or isinstance(declared, Drop):
        return Keep(secrets=secrets)
    if isinstance(declared, Keep):
        kept = "allow" if declared.secrets == "allow" else secrets
        return Keep(secrets=kept, without=declared.without, allow=declared.allow)
    return replace(declared, pin="report") if isinstance(declared, Refetch) else declared


def left_out(declared: Rule) -> LeftOut:
    """Give a rule by which a field is left out that has this one."""
    if isinstance(declared, Extract):
        return _Extracted(declared.what, name=declared.name)
    if isinstance(declared, Keep) and declared.without:
        return _Kept(without=declared.without)
    return LeftOut()
