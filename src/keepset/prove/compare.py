"""Is an outcome the right one? What differs from the controls, worst first, without any value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from keepset.codec import Path
from keepset.prove.leaves import Leaves
from keepset.prove.places import shown
from keepset.prove.trials import Failure, Outcome, Steps
from keepset.prove.volatile import Mask, compared, mask_of, pattern

Kind = Literal["effect", "failure", "order", "output", "state"]

_MOST: Final = 8
"""Step names that a message has at most."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which an outcome is not the right one.

    Attributes:
        kind: ``effect`` (on the outside world), ``failure``, ``order`` (of steps), ``output``, or
            ``state`` for any other field of the final state.
        what: The same for a person; names, types and paths, never a value.
    """

    kind: Kind
    what: str


@dataclass(frozen=True)
class Reference:
    """What is right at one point, as two controls or more have shown it.

    Attributes:
        right: The first control.
        controls: All of them.
        mask: What differs between them and may.
        unlike: What differs and may not: the workflow is not repeatable.
    """

    right: Outcome
    controls: tuple[Outcome, ...]
    mask: Mask
    unlike: tuple[str, ...]

    @property
    def volatile(self) -> tuple[str, ...]:
        """Names of what is left out of the comparison."""
        return tuple(sorted({shown(path) for path in self.mask}))


def reference_of(controls: Sequence[Outcome]) -> Reference:
    """Learn from controls what is right and what is volatile.

    Args:
        controls: Outcomes of the same trial, two or more.
    """
    mask, paths = mask_of([_all(outcome) for outcome in controls])
    unlike = [shown(path) for path in paths]
    if len({outcome.failure for outcome in controls}) > 1:
        unlike.insert(0, "whether and how it fails")
    if len({outcome.steps for outcome in controls}) > 1:
        unlike.insert(0, "the steps and their order")
    return Reference(controls[0], tuple(controls), mask, tuple(unlike))


def differences(
    outcome: Outcome,
    reference: Reference,
    left_out: Iterable[str] = (),
    outputs: Iterable[str] = (),
) -> tuple[Difference, ...]:
    """Compare an outcome with what is right, the worst difference first.

    Args:
        outcome: What came of a trial.
        reference: What is right.
        left_out: Fields that were left out: they may be missing from the final state, or others …
        outputs: … but for those that a caller reads.
    """
    spared = frozenset(left_out) - frozenset(outputs)
    failures = list(_failures(outcome, reference))
    found = [*_effects(outcome, reference, is_cut_short=bool(failures)), *failures]
    found += _orders(outcome, reference)
    if outcome.failure is None and reference.right.failure is None:
        found += _states(outcome, reference, spared, frozenset(outputs))
        if not found and not _same_pattern(outcome, reference, spared):
            found.append(Difference("state", "ids or times that were the same are no longer"))
    return tuple(found)


def is_lost(outcome: Outcome, reference: Reference, name: str) -> bool:
    """Say whether a field of the right final state is missing or another one."""
    ours, theirs = _below(outcome.state, name), _below(reference.right.state, name)
    return any(not _same(path, ours, theirs, reference.mask) for path in {*ours, *theirs})


def _all(outcome: Outcome) -> Leaves:
    return {**outcome.state, **outcome.world}


def _below(leaves: Leaves, name: str) -> Leaves:
    return {path: leaf for path, leaf in leaves.items() if path[0] == name}


def _same(path: Path, ours: Leaves, theirs: Leaves, mask: Mask) -> bool:
    one, other = ours.get(path), theirs.get(path)
    if one is None or other is None:
        return one is other
    return compared(one, path, mask) == compared(other, path, mask)


def _effects(outcome: Outcome, reference: Reference, *, is_cut_short: bool) -> Iterator[Difference]:
    """Say what else has happened; of a run that ended early, only what has happened too often."""
    ours, theirs = outcome.world, reference.right.world
    paths = dict.fromkeys((*theirs, *ours))
    wrong = [path for path in paths if not _same(path, ours, theirs, reference.mask)]
    if is_cut_short:
        wrong = [path for path in wrong if (_parts(ours, path) or 0) > (_parts(theirs, path) or 0)]
    counted = [p for p in wrong if _parts(ours, p) is not None and _parts(theirs, p) is not None]
    for path in (counted or wrong)[:1]:
        place = shown(path, "what observe gave")
        if counted:
            what = f"{_parts(ours, path)} instead of {_parts(theirs, path)}"
        else:
            what = "another effect"
        yield Difference("effect", f"{place}: {what}")


def _parts(leaves: Leaves, path: Path) -> int | None:
    return leaves[path].parts if path in leaves else None


def _failures(outcome: Outcome, reference: Reference) -> Iterator[Difference]:
    ours, theirs = outcome.failure, reference.right.failure
    if ours == theirs:
        return
    if ours is not None:
        yield Difference("failure", failed(ours))
    elif theirs is not None:
        yield Difference("failure", f"no {failed(theirs)}, where there was one")


def failed(failure: Failure) -> str:
    """Say how a run failed, and in which step."""
    code = f" [{failure.code}]" if failure.code else ""
    where = f" in {' and '.join(failure.steps)}" if failure.steps else ""
    return f"{failure.kind}{code}{where}"


def _orders(outcome: Outcome, reference: Reference) -> Iterator[Difference]:
    ours, theirs = outcome.steps, reference.right.steps
    if outcome.failure is not None and outcome.failure != reference.right.failure:
        return  # that it ended early is said already
    if ours != theirs:
        yield Difference("order", f"other steps: {_named(ours)} instead of {_named(theirs)}")


def _named(steps: Steps) -> str:
    names = ["+".join(group) for group in steps]
    more = f" … ({len(names)})" if len(names) > _MOST else ""
    return f"{', '.join(names[:_MOST])}{more}"


def _states(
    outcome: Outcome, reference: Reference, spared: frozenset[str], outputs: frozenset[str]
) -> Iterator[Difference]:
    ours, theirs = outcome.state, reference.right.state
    wrong: dict[str, bool] = {}
    for path in dict.fromkeys((*theirs, *ours)):
        name = str(path[0])
        if (
            name not in spared
            and name not in wrong
            and not _same(path, ours, theirs, reference.mask)
        ):
            wrong[name] = (name,) in ours
    for name, is_there in sorted(wrong.items(), key=lambda item: item[0] not in outputs):
        what = f"another {name}" if is_there else f"no {name} at the end"
        yield Difference("output" if name in outputs else "state", what)


def _same_pattern(outcome: Outcome, reference: Reference, spared: frozenset[str]) -> bool:
    def is_compared(path: Path) -> bool:
        return path[0] not in spared

    patterns = {pattern(_all(one), reference.mask, is_compared) for one in reference.controls}
    if len(patterns) > 1:
        return True  # the controls agree on none
    return pattern(_all(outcome), reference.mask, is_compared) in patterns
