"""An experiment by names, so that any process can make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from keepset.errors import UsageError
from keepset.prove.lives import Experiment
from keepset.prove.ports import Script
from keepset.testing.references import load
from keepset.testing.targets import target_of


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an experiment is made of; what is named is ``MODULE:NAME``.

    Attributes:
        target: The workflow; see `target_of`.
        inputs: What the run begins with, one for each turn; or the name of that.
        answers: What a human answers, in order; or the name of that.
        world: Names what makes the outside world.
        observe: Names what tells what happened outside.
        between: Names what changes the world between two lives.
    """

    target: str
    inputs: tuple[Any, ...] | str = ()
    answers: tuple[Any, ...] | str = ()
    world: str | None = None
    observe: str | None = None
    between: str | None = None

    def make(self) -> Experiment:
        """Make the experiment.

        Raises:
            UsageError: A name cannot be found, or names something of another kind.
        """
        return Experiment(
            target=target_of(load(self.target)),
            script=scripted(self.inputs, self.answers),
            world=_function("world", self.world),
            observe=_function("observe", self.observe),
            between=_function("between", self.between),
        )


def scripted(inputs: tuple[Any, ...] | str, answers: tuple[Any, ...] | str) -> Script:
    """Give what comes from outside, where parts of it may be named.

    Raises:
        UsageError: A name cannot be found.
    """
    return Script(_several(inputs), _several(answers))


def _several(given: tuple[Any, ...] | str) -> tuple[Any, ...]:
    """Give what stands in a script; what is named may be one thing or a list of them."""
    if not isinstance(given, str):
        return given
    named = load(given)
    return tuple(named) if isinstance(named, list | tuple) else (named,)


def _function(what: str, reference: str | None) -> Callable[[], object] | None:
    if reference is None:
        return None
    named = load(reference)
    if not callable(named):
        raise UsageError(
            f"what --{what} names is no function but a {type(named).__qualname__}",
            code="prove.function",
            hint=f"Name a function without arguments: --{what} app.checks:{what}.",
        )
    return cast("Callable[[], object]", named)
