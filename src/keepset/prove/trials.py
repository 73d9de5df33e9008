"""One trial: a run that is ended at a point and resumed, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from keepset.contracts import Refetch, Reopen, Scratch, Secret
from keepset.prove.leaves import Leaves
from keepset.verdict.field import FieldVerdict

RESTORED: Final = (Refetch, Reopen, Scratch, Secret)
"""Rules that bring back what is not stored; they do so in every trial that says nothing else."""

Steps = tuple[tuple[str, ...], ...]
"""Names of steps; those that run side by side stand together."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        point: Id of the point at which the first life ends; None for a run that is not ended.
        left_out: Ids of the fields that are never stored.
        by_value: Ids of the fields that are stored though they could be fetched again.
        by_rule: Ids of the fields that go by the very rule that is declared for them. Without it
            a field that is declared `Drop` is stored, and there is no budget of bytes.
        dropped: Ids of the fields that are tried under the rule `Drop`.
        stuck: Ids of the fields that no checkpoint takes, so that they are not stored either.
        pins: What is pinned, out of `keepset.prove.pins.PINS`.
        number: Tells repetitions of one trial apart.
    """

    point: str | None = None
    left_out: frozenset[str] = frozenset()
    by_value: frozenset[str] = frozenset()
    by_rule: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    stuck: frozenset[str] = frozenset()
    pins: tuple[str, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """How a run ended that did not reach its end.

    Attributes:
        kind: The exception's type, or ``timeout`` or ``exit`` for a process that never answered.
        steps: The steps that were under way.
        code: Our own code where the error is one of keepset's.
    """

    kind: str
    steps: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial.

    Attributes:
        steps: Those that began, in both lives.
        points: Ids of the points that the first life reached.
        state: The final state; empty where a life failed.
        world: What `observe` gave.
        failure: How it failed; None where the run reached its end.
        changed: Fields whose rule restored another content than was there.
        waiting: Where the run ended at a question that the script has no answer to; else empty.
        unstorable: The field because of which a checkpoint was refused, and the code why.
        judged: What the detectors and the codec say of each field of the final state, by its
            name, where the run was not ended.
        seconds: How long it took.
    """

    steps: Steps = ()
    points: tuple[str, ...] = ()
    state: Leaves = field(default_factory=dict)
    world: Leaves = field(default_factory=dict)
    failure: Failure | None = None
    changed: frozenset[str] = frozenset()
    waiting: str = ""
    unstorable: tuple[str, str] | None = None
    judged: Mapping[str, FieldVerdict] = field(default_factory=dict)
    seconds: float = 0.0
