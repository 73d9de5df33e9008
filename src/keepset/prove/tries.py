"""What a search has tried: each trial once, and what was right at each point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from keepset.contracts import Drop, Extract, Keep, Rule
from keepset.prove.compare import Difference, Reference, differences, is_lost
from keepset.prove.flow import Search
from keepset.prove.trials import Outcome, Trial


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a workflow.

    Attributes:
        name: What a person calls it.
        rules: The declared rule of each field, in order.
        outputs: The fields that a caller reads from the final state.
        most: Trials of single fields above which fields are tried in groups: a group without
            which a resume is right is then taken for fields that are not needed one by one.
        pins: What is pinned.
        carries: Whether what no checkpoint takes is handed to the life that resumes.
        fields: The fields that are tried, and no others; all where it is empty.
        points: The points at which they are tried; all where it is empty.
    """

    name: str
    rules: Mapping[str, Rule]
    outputs: frozenset[str] = frozenset()
    most: int = 1_000
    pins: tuple[str, ...] = ()
    carries: bool = False
    fields: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether all fields are tried at all points."""
        return not (self.fields or self.points)

    @property
    def asked(self) -> list[str]:
        """The fields that are asked for, in order."""
        return [name for name in self.rules if not self.fields or name in self.fields]


@dataclass(frozen=True, slots=True)
class Stand:
    """What is right at a point.

    Attributes:
        point: Its id.
        reference: What is right; None where that cannot be said.
        strayed: How a resume with everything there differs from a run without an end.
        stale: Fields without which a resume is right, and with which it is not.
        misled: Fields that a rule brings back wrong, and with whose values a resume is right.
        why: Why it cannot be said what is right.
        unlike: What differs between resumes with everything there, so that nothing is repeatable.
    """

    point: str
    reference: Reference | None
    strayed: tuple[Difference, ...] = ()
    stale: frozenset[str] = frozenset()
    misled: frozenset[str] = frozenset()
    why: str = ""
    unlike: tuple[str, ...] = ()


@dataclass
class Tries:
    """Carries out trials, each once.

    Attributes:
        question: What is asked.
        stuck: Fields that no checkpoint takes, with the code why.
        stands: What is right at each point.
    """

    question: Question
    stuck: dict[str, str] = field(default_factory=dict)
    stands: dict[str, Stand] = field(default_factory=dict)
    _known: dict[Trial, Outcome] = field(default_factory=dict)

    @property
    def resumes(self) -> int:
        """How many runs were carried out."""
        return len(self._known)

    @property
    def absent(self) -> frozenset[str]:
        """Fields that are left out at all times: no checkpoint takes and no rule restores them."""
        if self.question.carries:
            return frozenset()
        rules = self.question.rules
        return frozenset(n for n in self.stuck if isinstance(rules[n], Keep | Extract | Drop))

    @property
    def fields(self) -> list[str]:
        """The fields that can be left out one by one."""
        return [name for name in self.question.asked if name not in self.absent]

    def trial(self, point: str | None = None, number: int = 0, **sets: Iterable[str]) -> Trial:
        """Make a trial with what is known by now.

        Args:
            point: Id of the point, or None.
            number: Tells repetitions apart.
            sets: ``left_out``, ``by_value``, ``by_rule`` and ``dropped`` of the trial. What is
                stale at the point is left out as well, what is misled stored.
        """
        stand = self.stands.get(point or "")
        stale, misled = (stand.stale, stand.misled) if stand else (frozenset(), frozenset())
        given = {name: frozenset(fields) for name, fields in sets.items()}
        left_out = given.pop("left_out", frozenset()) | stale
        by_value = (given.pop("by_value", frozenset()) | misled) - left_out
        return Trial(
            point=point,
            left_out=left_out,
            by_value=by_value,
            stuck=frozenset(self.stuck),
            pins=self.question.pins,
            number=number,
            **given,
        )

    def outcomes(self, trials: Sequence[Trial]) -> Search[list[Outcome]]:
        """Carry out those trials that were not carried out before."""
        fresh = [trial for trial in dict.fromkeys(trials) if trial not in self._known]
        if fresh:
            self._known.update(zip(fresh, (yield fresh), strict=True))
        return [self._known[trial] for trial in trials]

    def known(self, trial: Trial) -> Outcome | None:
        """Give the outcome of a trial that was carried out; None where it was not."""
        return self._known.get(trial)

    def without(
        self, point: str, sets: Sequence[frozenset[str]]
    ) -> Search[list[tuple[Difference, ...]]]:
        """Leave each of some sets of fields out at a point, and say what goes wrong."""
        trials = [self.trial(point, left_out=left_out) for left_out in sets]
        outcomes = yield from self.outcomes(trials)
        return [self.judged(t, o) for t, o in zip(trials, outcomes, strict=True)]

    def is_wrong(self, point: str, left_out: frozenset[str]) -> Search[bool]:
        """Say whether something goes wrong without a set of fields."""
        (found,) = yield from self.without(point, [left_out])
        return bool(found)

    def judged(self, trial: Trial, outcome: Outcome) -> tuple[Difference, ...]:
        """Compare an outcome with what is right at its point."""
        stand = self.stands[trial.point or ""]
        if stand.reference is None:
            return ()
        spared = self._spared(trial, outcome, stand)
        return differences(outcome, stand.reference, spared, self.question.outputs)

    def _spared(self, trial: Trial, outcome: Outcome, stand: Stand) -> frozenset[str]:
        """Give the fields that may be missing at the end, or others, for want of a checkpoint.

        One that a later step makes right when it alone is left out is none of them: it would hide
        what a step makes of the others.
        """
        rules = self.question.rules
        dropped = {name for name in trial.by_rule if isinstance(rules[name], Drop)}
        out = trial.left_out - stand.stale
        if len(out) > 1:
            out = frozenset(name for name in out if self._is_lost(name, outcome, stand))
        return self.absent | stand.stale | trial.dropped | dropped | out

    def _is_lost(self, name: str, outcome: Outcome, stand: Stand) -> bool:
        """Say whether a field is lost when it alone is left out.

        Where that was not tried, it is what is missing: another value may come of other fields.
        """
        alone = self.known(self.trial(stand.point, left_out=[name]))
        if alone is None or stand.reference is None:
            return not any(path[0] == name for path in outcome.state)
        return is_lost(alone, stand.reference, name)
