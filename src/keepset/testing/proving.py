"""Prove a workflow from Python: ``proof = keepset.testing.prove("app.flow:build", input)``."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from keepset.errors import UsageError
from keepset.prove.flow import Search
from keepset.prove.here import Here
from keepset.prove.lives import Experiment
from keepset.prove.pins import PINS, can_stop_clocks, require_pins
from keepset.prove.ports import Script
from keepset.prove.processes import Told, workers
from keepset.prove.proof import Proof
from keepset.prove.search import Looked, look, measure
from keepset.prove.tries import Question
from keepset.prove.workflows import WorkflowTarget
from keepset.testing.experiments import Recipe, scripted
from keepset.testing.references import load, reference_of
from keepset.testing.targets import target_of

T = TypeVar("T")

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Options:
    """How a proof is carried out.

    Attributes:
        outputs: Fields that a caller reads from the final state; those that the host names where
            it is empty.
        pins: What is pinned, or ``("auto",)``: all of it where two runs differ.
        crash: Whether each first life ends by SIGKILL and another process resumes.
        jobs: Trials at a time; 0 for as many as there are processors.
        timeout: Seconds after which a trial is given up.
        most: Trials of single fields above which fields are left out in groups.
        quiet: Whether what the workflow prints is thrown away.
        fields: The fields that are tried; all where it is empty.
        points: The points at which they are tried; all where it is empty.
    """

    outputs: tuple[str, ...] = ()
    pins: tuple[str, ...] = (AUTO,)
    crash: bool = False
    jobs: int = 0
    timeout: float = 60.0
    most: int = 1_000
    quiet: bool = True
    fields: tuple[str, ...] = ()
    points: tuple[str, ...] = ()


class Carrier(Protocol):
    """Carries out searches."""

    def carry_out(self, search: Search[T], told: Told | None = None) -> T:
        """Carry one through; `told` hears how many trials are done and were asked for."""
        ...


class Prover:
    """Looks at a workflow, and then measures it.

    Attributes:
        experiment: What is proven.
    """

    def __init__(self, experiment: Experiment, options: Options, carrier: Carrier) -> None:
        """Take what is proven, how, and what carries it out.

        Raises:
            UsageError: ``prove.field`` for a name that is no field's, ``prove.turns`` for more
                inputs than a workflow takes, ``prove.pin`` or ``prove.pin-clock``.
        """
        self.experiment = experiment
        self._target = experiment.target
        self._require_one_turn(experiment.script)
        self._options = options
        self._carrier = carrier
        self._outputs = self._known(options.outputs) or self._target.outputs
        self._fields = self._known(options.fields)
        self._auto = AUTO in options.pins
        self._pins = () if self._auto else require_pins(options.pins)

    def _require_one_turn(self, script: Script) -> None:
        is_one = len(script.inputs) <= 1 and not script.answers
        if is_one or not isinstance(self._target, WorkflowTarget):
            return
        raise UsageError(
            f"{self._target.name} takes one input and no answers",
            code="prove.turns",
            hint="Write the input as one mapping of fields; turns and answers are for graphs.",
        )

    def _known(self, named: Sequence[str]) -> frozenset[str]:
        unknown = [name for name in named if name not in self._target.fields]
        if unknown:
            raise UsageError(
                f"{self._target.name} has no field {unknown[0]}",
                code="prove.field",
                hint=f"Its fields are {', '.join(self._target.fields)}.",
            )
        return frozenset(named)

    def look(self, told: Told | None = None) -> Looked:
        """Run the workflow without an end, and pin what makes two runs differ if asked to."""
        seen = self._carrier.carry_out(look(self._question(self._pins)), told)
        if not self._auto or not (seen.right.unlike or seen.right.mask):
            return seen
        pins = tuple(pin for pin in PINS if pin != "clock" or can_stop_clocks())
        still = self._carrier.carry_out(look(self._question(pins)), told)
        return still if _differing(still) < _differing(seen) else seen

    def measure(self, looked: Looked, told: Told | None = None) -> Proof:
        """Prove which fields a checkpoint needs.

        Raises:
            UsageError: ``prove.point`` for a point that the run does not come to.
        """
        there = looked.right.right.points
        for point in self._options.points:
            if point not in there:
                raise UsageError(
                    f"the run of {self._target.name} does not come to the point {point}",
                    code="prove.point",
                    hint=f"It comes to: {', '.join(there) or 'none'}.",
                )
        return self._carrier.carry_out(measure(looked), told)

    def _question(self, pins: tuple[str, ...]) -> Question:
        return Question(
            name=self._target.name,
            rules={name: field.rule for name, field in self._target.fields.items()},
            outputs=self._outputs,
            most=self._options.most,
            pins=pins,
            carries=self._target.carries and not self._options.crash,
            fields=self._fields,
            points=frozenset(self._options.points),
        )


def _differing(looked: Looked) -> tuple[bool, int, int]:
    right = looked.right
    return (right.right.failure is not None, len(right.unlike), len(right.mask))


@contextmanager
def prover(recipe: Recipe, options: Options) -> Iterator[Prover]:
    """Prove what other processes can import, several trials at a time.

    Args:
        recipe: What is proven, by name.
        options: How.

    Raises:
        UsageError: A name cannot be found, or an option is wrong.
        StoreError: ``prove.worker`` where a process dies that carries out trials.
    """
    experiment = recipe.make()
    with ExitStack() as ends:
        carrier = workers(
            recipe.make,
            jobs=options.jobs,
            crash=options.crash,
            timeout=options.timeout,
            quiet=options.quiet,
        )
        yield Prover(experiment, options, ends.enter_context(carrier))


def prove(  # noqa: PLR0913 - what is proven and the world around it; all but two by keyword
    target: Any,
    input: Any = None,  # noqa: A002 - the field's own word
    *,
    turns: Sequence[Any] = (),
    answers: Sequence[Any] | str = (),
    world: Callable[[], object] | str | None = None,
    observe: Callable[[], object] | str | None = None,
    between: Callable[[], object] | str | None = None,
    options: Options | None = None,
) -> Proof:
    """Measure which fields of a workflow's state a checkpoint needs.

    Where all that is given can be imported by other processes, trials run there, several at a
    time; else here, one after the other, in the folder of the trial.

    Args:
        target: A `keepset.Workflow`, a LangGraph graph or builder, a function that makes one, or
            the name of any of these, ``MODULE:NAME``.
        input: What the run begins with, or the name of that, ``MODULE:NAME``.
        turns: What it begins with turn after turn, instead, for a host that takes several.
        answers: What a human answers, in order; or the name of that.
        world: Makes the outside world before a trial, in the current folder, which is empty.
        observe: Gives what happened outside, as plain data.
        between: Changes the world between the end of one life and the next.
        options: How it is carried out.

    Raises:
        UsageError: The target or an option is wrong; ``prove.crash`` where a process is to be
            killed and others cannot import the target.
        StoreError: ``prove.worker`` where a process dies that carries out trials.
    """
    given = Given(target, world, observe, between, inputs_of(input, turns), answers_of(answers))
    with given.prover(options or Options()) as found:
        return found.measure(found.look())


_NAME: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def inputs_of(input: Any, turns: Sequence[Any]) -> tuple[Any, ...] | str:  # noqa: A002 - as `prove`
    """Give what a run begins with turn after turn, or the name of that."""
    if isinstance(input, str) and _NAME.fullmatch(input):
        return input
    return tuple(turns) or (() if input is None else (input,))


def answers_of(answers: Sequence[Any] | str) -> tuple[Any, ...] | str:
    """Give what a human answers, or the name of that."""
    return answers if isinstance(answers, str) else tuple(answers)


@dataclass(frozen=True, slots=True)
class Given:
    """What a program gives to be proven: objects, or the names of them."""

    target: Any
    world: Callable[[], object] | str | None = None
    observe: Callable[[], object] | str | None = None
    between: Callable[[], object] | str | None = None
    inputs: tuple[Any, ...] | str = ()
    answers: tuple[Any, ...] | str = ()

    @contextmanager
    def prover(self, options: Options) -> Iterator[Prover]:
        """Prove it in other processes where they can import it, and else here."""
        recipe = self.recipe()
        if recipe is not None:
            with prover(recipe, options) as found:
                yield found
            return
        if options.crash:
            raise UsageError(
                "the workflow or its input cannot be imported by another process",
                code="prove.crash",
                hint="Move it, and what makes and observes the world, to a module's top level.",
            )
        functions = [_loaded(one) for one in (self.world, self.observe, self.between)]
        script = scripted(self.inputs, self.answers)
        experiment = Experiment(target_of(_loaded(self.target)), script, *functions)
        yield Prover(experiment, options, Here(experiment))

    def names(self) -> dict[str, str | None]:
        """Give the name of each; None where there is none that other processes can import."""
        given = {name: getattr(self, name) for name in ("target", "world", "observe", "between")}
        return {k: None if one is None else reference_of(one) for k, one in given.items()}

    def recipe(self) -> Recipe | None:
        """Name what is given; None where something has no name that means the same elsewhere."""
        names = self.names()
        target = names.pop("target")
        if target is None or any(getattr(self, k) is not None and not names[k] for k in names):
            return None
        found = Recipe(target, self.inputs, self.answers, **names)
        return found if _is_portable(found) else None


def _is_portable(recipe: Recipe) -> bool:
    """Say whether another process can read what the run begins with."""
    try:
        data = pickle.dumps(recipe)
    except Exception:  # noqa: BLE001 - pickle raises whatever a user's class does
        return False
    return b"__main__" not in data  # a class of the program itself, which is another one there


def _loaded(named: Any) -> Any:
    return load(named) if isinstance(named, str) else named
