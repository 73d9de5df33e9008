"""Trials of graphs, each in a store of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import keepset as ks
from keepset.adapters.langgraph.proving import GraphTarget
from keepset.prove.lives import Experiment, carry_out
from keepset.prove.ports import Script
from keepset.prove.trials import Outcome, Trial


class Proof:
    """One graph with what comes from outside."""

    def __init__(
        self, build: Callable[[], Any], *inputs: Any, answers: tuple[Any, ...] = ()
    ) -> None:
        self.target = GraphTarget(build)
        self.experiment = Experiment(self.target, Script(inputs, answers))

    def outcome(self, point: str | None = None, *left_out: str, **more: Any) -> Outcome:
        """Carry out one trial."""
        with ks.open("memory:") as store:
            return carry_out(
                self.experiment, Trial(point, left_out=frozenset(left_out), **more), store
            )

    def points(self) -> list[str]:
        """Give the points of a run that is not ended."""
        outcome = self.outcome()
        assert outcome.failure is None, outcome.failure
        return list(outcome.points)

    def wrong_at(self, *left_out: str) -> list[str]:
        """Give the points from which a run goes wrong that lacks some fields, they apart.

        It is compared with one that goes on there and lacks nothing, which ends as the run does
        that is not ended.
        """
        whole = self.outcome()
        found = []
        for point in whole.points:
            control = self.outcome(point)
            assert (control.failure, state_of(control)) == (None, state_of(whole)), point
            if told(self.outcome(point, *left_out), left_out) != told(control, left_out):
                found.append(point)
        return found


def told(outcome: Outcome, left_out: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """Give what of an outcome is compared; of the final state without some fields."""
    return (outcome.steps, outcome.failure, outcome.unstorable, state_of(outcome, left_out))


def state_of(outcome: Outcome, without: tuple[str, ...] = ()) -> dict[Any, Any]:
    """Give the leaves of a final state; the ids that LangGraph makes up do not count."""
    state = outcome.state.items()
    return {path: leaf for path, leaf in state if path[-1] != "id" and path[0] not in without}


def texts(outcome: Outcome, field: str) -> list[str]:
    """Give the texts of a field, without how many there are."""
    found = [leaf.text for path, leaf in outcome.state.items() if path[0] == field]
    return [text for text in found if text and not text.endswith(" parts")]


def threads() -> frozenset[str]:
    """Give the names of the threads that LangGraph has started and not ended."""
    return frozenset(one.name for one in threading.enumerate() if "ThreadPool" in one.name)
