"""What the detectors find in a graph, told by the keys of its state.

LangGraph stores the input of a graph whole before it enters the channels, and the argument of a
`Send` whole as well. What is found in one of them is found in a key of the state as a user knows
it: that key has the rule, and advice about any other one helps nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from keepset.adapters.langgraph.advice import RULES
from keepset.codec import Buffer, Path, Withheld, format_path
from keepset.contracts import Field
from keepset.plan.guard import Guard, allowed, refusal
from keepset.run.reporting import Report
from keepset.scan import Finding
from keepset.scan.reasons import HANDLE, PATH_TEMPORARY, SECRET_KINDS, advice

_START: Final = "__start__"
_TASKS: Final = "__pregel_tasks"
_ARGUMENT: Final = "arg"
_BY_PATH: Final = SECRET_KINDS | {HANDLE, PATH_TEMPORARY}
"""Kinds whose advice names the field."""


def in_state(path: Path) -> Path:
    """Give the path of a value as the state has it; the path itself where it is in no key of it."""
    inside: Path = ()
    if path[:1] == (_START,):
        inside = path[1:]
    elif path[:1] == (_TASKS,) and _ARGUMENT in path[1:3]:
        inside = path[path.index(_ARGUMENT) + 1 :]
    return inside if inside and isinstance(inside[0], str) else path


def as_told(finding: Finding, *, bound: bool) -> Finding:
    """Give a finding with the path and the advice that a user of the graph can follow."""
    inside, said = in_state(finding.path), finding.advice
    if inside != finding.path and finding.kind in _BY_PATH:
        said = advice(finding.kind, inside, whole=finding.whole, in_key=finding.in_key)
    if not bound and RULES not in said:
        said = f"{said} {RULES}"
    return replace(finding, path=_shown(finding.path), advice=said)


def _shown(path: Path) -> Path:
    """Give the path that is told: of what is sent, without its place among all that is."""
    if path[:1] == (_TASKS,):
        return (_TASKS, *path[2 if len(path) > 1 and isinstance(path[1], int) else 1 :])
    return in_state(path)


class StateReport(Report):
    """Counts what is found in a thread; what is in the input and in its channel counts as one."""

    def __init__(self, thread: str, *, bound: bool) -> None:
        """Begin with nothing.

        Args:
            thread: The thread's id.
            bound: Whether its graph is known, so that rules apply.
        """
        super().__init__(thread)
        self._bound = bound

    def add(self, step: str, findings: Iterable[Finding]) -> None:
        """Count findings of a step, and log the first one of each kind and place."""
        told = [as_told(finding, bound=self._bound) for finding in findings]
        if told:
            super().add(step, told)


def _marked(path: Path, marker: object) -> object:
    """Give a marker that says where the state has what it stands for."""
    inside = in_state(path)
    if not isinstance(marker, Withheld) or path[:1] != (_START,) or inside is path:
        return marker
    return Withheld(marker.kind, format_path(inside))


@dataclass(frozen=True, slots=True)
class StateGuard(Guard):
    """Decides on what is found in the input by the rule of the key that it is in.

    Attributes:
        fields: The fields of the graph; none where it is not known.
    """

    fields: Mapping[str, Field] = field(default_factory=dict, hash=False)

    def look(
        self, field: Field, value: Any, path: Path, packed: Buffer | None = None
    ) -> list[Finding]:
        """Look at every leaf of a value; what the rule of its key allows is left out."""
        found = Guard.look(self, field, value, path, packed)
        return found and [one for one in found if not allowed(self._of(field, one), one)]

    def look_around(self, field: Field, value: Any) -> list[Finding]:
        """Look at a field of which only parts are new, for what its parts give away together."""
        found = Guard.look_around(self, field, value)
        return found and [one for one in found if not allowed(self._of(field, one), one)]

    def decide(
        self, field: Field, value: Any, path: Path, findings: Sequence[Finding]
    ) -> Mapping[Path, object]:
        """Decide on the findings of one value; see `Guard.decide`.

        Raises:
            PolicyError: The mode or the rule of a key refuses a finding.
        """
        refused = [one for one in findings if self._refuses(self._of(field, one), one)]
        if refused:
            raise refusal([as_told(one, bound=True) for one in refused])
        put = Guard.decide(self, field, value, path, findings)
        return {place: _marked(place, marker) for place, marker in put.items()} if put else put

    def _of(self, field: Field, finding: Finding) -> Field:
        """Give the field whose rule holds for a finding."""
        inside = in_state(finding.path)
        return field if inside is finding.path else self.fields.get(str(inside[0]), field)
