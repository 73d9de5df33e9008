"""A workflow that is known by its truth alone: it answers a search as its trials would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from keepset.contracts import Keep, Rule
from keepset.prove.flow import Search
from keepset.prove.leaves import Leaf, Leaves
from keepset.prove.proof import Proof
from keepset.prove.search import look, measure
from keepset.prove.trials import Failure, Outcome, Trial
from keepset.prove.tries import Question

T = TypeVar("T")


@dataclass
class Oracle:
    """What goes wrong at a point without a set of fields: the type of an error, or None."""

    points: tuple[str, ...]
    wrong: Callable[[str, frozenset[str]], str | None]
    tried: list[Trial] = field(default_factory=list)

    def outcome(self, trial: Trial) -> Outcome:
        self.tried.append(trial)
        state: Leaves = {("answer",): Leaf("str", "yes")}
        if trial.point is None:
            return Outcome(points=self.points, state=state)
        kind = self.wrong(trial.point, trial.left_out)
        if kind is not None:
            return Outcome(points=self.points, failure=Failure(kind))
        return Outcome(points=self.points, state=state)


def answered(search: Search[T], answer: Callable[[Trial], Outcome]) -> T:
    """Carry a search through."""
    try:
        batch = next(search)
        while True:
            batch = search.send([answer(trial) for trial in batch])
    except StopIteration as end:
        result: T = end.value
        return result


def proven(oracle: Oracle, rules: Mapping[str, Rule] | list[str], *, most: int = 1_000) -> Proof:
    """Prove what an oracle answers for."""
    named = rules if isinstance(rules, Mapping) else dict.fromkeys(rules, Keep())
    question = Question("oracle", named, most=most)
    looked = answered(look(question), oracle.outcome)
    return answered(measure(looked), oracle.outcome)
