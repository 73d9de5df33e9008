"""Carry out the lives of one trial: begin a run, end it at a point, resume it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from keepset.contracts import Drop, Extract, Keep
from keepset.errors import KeepsetError, PolicyError
from keepset.prove.leaves import Leaves, leaves_of
from keepset.prove.leaving import Secrets, first_rules, second_rules
from keepset.prove.outside import call, require_data
from keepset.prove.pins import WORLD, pinned
from keepset.prove.place import go_back, place
from keepset.prove.ports import Life, Progress, Script, Target
from keepset.prove.trials import Failure, Outcome, Steps, Trial
from keepset.prove.watch import Halted, Watch
from keepset.store import Store
from keepset.verdict.examine import verdicts_on
from keepset.verdict.field import FieldVerdict

_SEEN: Final = "observe()"
"""Stands for the world where fields have their names; no field is called so."""


@dataclass(frozen=True)
class Experiment:
    """What is proven, and the world in which it is.

    Attributes:
        target: The workflow.
        script: What comes from outside while it runs.
        world: Makes the outside world before a trial, in the current folder.
        observe: Gives what happened outside, as plain data.
        between: Changes the world between the end of one life and the next.
    """

    target: Target
    script: Script
    world: Callable[[], object] | None = None
    observe: Callable[[], object] | None = None
    between: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Lived:
    """What one life gave.

    Attributes:
        steps: The steps that began.
        points: The points that it reached.
        progress: What of the script was used at the last of them.
        halted: Whether it ended at the point that was chosen.
        state: The final state of a run that reached its end.
        failure: How it failed.
        changed: Fields whose rule restored another content.
        waiting: See `Outcome`.
        unstorable: See `Outcome`.
        carried: Live values that no checkpoint takes, for a life in the same process.
    """

    steps: Steps
    points: tuple[str, ...]
    progress: Progress | None
    halted: bool
    state: Mapping[str, Any]
    failure: Failure | None
    changed: frozenset[str]
    waiting: str
    unstorable: tuple[str, str] | None
    carried: Mapping[str, Any]


def make_world(experiment: Experiment, trial: Trial) -> None:
    """Make the outside world of a trial, at a time before its first life."""
    with pinned(trial.pins, WORLD):
        call("world", experiment.world)


def first_life(
    experiment: Experiment,
    trial: Trial,
    store: Store,
    halt: Callable[[Lived], None] | None = None,
    secrets: Secrets = "allow",
) -> Lived:
    """Begin the run and live until the trial's point, or to the end.

    Args:
        experiment: What is proven.
        trial: What is tried.
        store: An empty store.
        halt: Ends the process at the point, once it has been handed what was lived until then.
        secrets: What becomes of a secret in a field that is kept.
    """
    life = Life(store, first_rules(experiment.target.fields, trial, secrets), experiment.script)
    lived = _live(experiment.target, life, trial.point, halt)
    return replace(lived, carried=_carried(experiment.target, trial, lived))


def second_life(
    experiment: Experiment, trial: Trial, store: Store, first: Lived, secrets: Secrets = "allow"
) -> Lived:
    """Let time pass in the world, and resume the run to its end."""
    go_back()
    call("between", experiment.between)
    go_back()
    since = first.progress or Progress()
    rules = second_rules(experiment.target.fields, trial, first.carried, secrets)
    life = Life(store, rules, experiment.script, since)
    return _live(experiment.target, life, None, None)


def _live(
    target: Target, life: Life, stop: str | None, halt: Callable[[Lived], None] | None
) -> Lived:
    def ended(**more: Any) -> Lived:
        given: dict[str, Any] = {"halted": False, "state": {}, "failure": None, "unstorable": None}
        given |= {"steps": watch.steps, "points": tuple(watch.points), "carried": watch.live}
        given |= {"progress": watch.progress, "changed": frozenset(watch.changed)}
        given |= {"waiting": watch.waiting, **more}
        return Lived(**given)

    def end() -> None:
        if halt is not None:
            halt(replace(ended(halted=True), carried={}))

    watch = Watch(stop, end)
    try:
        state = target.live(life, watch)
    except Halted:
        return ended(halted=True)
    except KeyboardInterrupt:
        raise  # of whoever waits for the proof
    except BaseException as error:  # noqa: BLE001 - whatever a step raises is what is looked at
        return ended(failure=_failure(error, watch), unstorable=_unstorable(error, target))
    return ended(state=dict(state))


def _carried(target: Target, trial: Trial, lived: Lived) -> dict[str, Any]:
    """Give what no checkpoint takes and no rule brings back, as it was at the end of a life."""
    kept = (Keep, Extract, Drop)
    names = [name for name in trial.stuck if isinstance(target.fields[name].rule, kept)]
    return {name: lived.carried[name] for name in names if name in lived.carried}


def _failure(error: BaseException, watch: Watch) -> Failure:
    code = error.code if isinstance(error, KeepsetError) else ""
    return Failure(type(error).__qualname__, watch.at, code)


def _unstorable(error: BaseException, target: Target) -> tuple[str, str] | None:
    """Say which field a checkpoint was refused for, by the path in the error's message."""
    if not isinstance(error, PolicyError):
        return None
    # The longest first: of `a` and `a.b` both stand where the second does.
    known = sorted(target.fields, key=len, reverse=True)
    named = re.search(rf"(?<![\w.-])({'|'.join(map(re.escape, known))})(?=[:.\[])", error.message)
    return None if named is None else (named[1], error.code)


def outcome_of(experiment: Experiment, lives: list[Lived], store: Store, began: float) -> Outcome:
    """Put the lives of a trial together, and look at the world.

    Args:
        experiment: What is proven.
        lives: One or two.
        store: Has the detectors.
        began: Moment of the monotonic clock at which the trial began.
    """
    last, here = lives[-1], str(place())
    codec = experiment.target.codec
    state: Leaves = {}
    for name, value in last.state.items():
        state |= leaves_of(value, (name,), codec, here)
    go_back()
    seen = call("observe", experiment.observe)
    world = {} if seen is None else leaves_of(seen, (_SEEN,), codec, here)
    require_data(experiment.observe, world)
    return Outcome(
        steps=tuple(group for life in lives for group in life.steps),
        points=lives[0].points,
        state=state,
        world=world,
        failure=last.failure,
        changed=last.changed,
        waiting=last.waiting,
        unstorable=next((life.unstorable for life in lives if life.unstorable), None),
        judged={} if len(lives) > 1 else _judged(experiment.target, last.state, store),
        seconds=time.monotonic() - began,
    )


def _judged(target: Target, state: Mapping[str, Any], store: Store) -> dict[str, FieldVerdict]:
    known = {name: value for name, value in state.items() if name in target.fields}
    found = verdicts_on(target, known, store.services.scanner, target.codec)
    return {verdict.field: verdict for verdict in found.fields}


def carry_out(experiment: Experiment, trial: Trial, store: Store) -> Outcome:
    """Carry out a trial in this process: what resumes is a fresh instance in the same process."""
    began = time.monotonic()
    make_world(experiment, trial)
    with pinned(trial.pins, 0):
        lives = [first_life(experiment, trial, store)]
        if not lives[0].halted:
            return outcome_of(experiment, lives, store, began)
    with pinned(trial.pins, 1):
        lives.append(second_life(experiment, trial, store, lives[0]))
        return outcome_of(experiment, lives, store, began)
