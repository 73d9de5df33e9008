"""The report on runs that were moved, for a person and as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from keepset.adapters.moved import Outcome
from keepset.cli import output
from keepset.cli.counts import counted
from keepset.verdict.sentences import size

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from keepset.adapters.moved import LeftOut, Moved
    from keepset.cli.moving.tally import Tally

_NAMED: Final = 5
"""How many runs are named that are as the one that is told."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a command says what became of runs.

    Attributes:
        source: Where they come from, as it may be printed.
        target: Where they go.
        is_applied: Whether it was done, and not only tried.
        words: What is said of each outcome.
        again: The words of the command line that does it, where it was only tried.
        measured: What the bytes are that are told.
        compares: Whether what is written is read back and compared.
        tenant: Whose runs they are, where the store that they come from has several.
    """

    source: str
    target: str
    is_applied: bool
    words: Mapping[Outcome, str]
    again: str = ""
    measured: str = "read of"
    compares: bool = True
    tenant: str = ""


def as_data(tally: Tally, told: Told) -> dict[str, Any]:
    """Give the report as data."""
    return {
        "source": told.source,
        "target": told.target,
        "applied": told.is_applied,
        "runs": {outcome.value: tally.outcomes[outcome] for outcome in Outcome},
        "checkpoints": {outcome.value: tally.checkpoints[outcome] for outcome in Outcome},
        "bytes": tally.size,
        "withheld": [
            {"kind": kind, "path": path, "times": times}
            for (kind, path), times in sorted(tally.withheld.items())
        ],
        "metadata": sorted(tally.metadata),
        "told": [_run(moved) for moved in tally.told],
        "more": tally.more,
    }


def _run(moved: Moved) -> dict[str, Any]:
    return {
        "run": moved.run,
        "outcome": moved.outcome.value,
        "checkpoints": moved.checkpoints,
        "bytes": moved.size,
        "why": moved.why,
        "hint": moved.hint,
        "left": [_left(one) for one in moved.left],
        "more": moved.more,
    }


def _left(one: LeftOut) -> dict[str, Any]:
    return {
        "checkpoint": one.checkpoint,
        "namespace": one.namespace,
        "surface": one.surface,
        "path": one.path,
        "why": one.why,
        "needed": one.is_needed,
    }


def print_report(tally: Tally, told: Told) -> None:
    """Print the report for a person: what needs a look, once for runs alike, then the totals."""
    for moved, *others in _alike(tally.told):
        for line in _lines(moved, told):
            output.text(line)
        if others:
            output.text(f"  {_the_same(others)}")
    if tally.more:
        output.text(f"and {counted(tally.more, 'run')} more")
    for (kind, path), times in sorted(tally.withheld.items()):
        output.text(f"withheld {counted(times, 'time')}: {output.one_row(path)} ({kind})")
    if tally.metadata:
        keys = ", ".join(output.one_row(key) for key in sorted(tally.metadata))
        output.text(f"metadata left behind: {keys} (--metadata-keys takes it over)")
    if tally.told or tally.withheld or tally.metadata:
        output.text()
    _totals(tally, told)


def _totals(tally: Tally, told: Told) -> None:
    if not tally.runs:
        whose = f" of tenant {output.one_row(told.tenant)}" if told.tenant else ""
        output.text(f"no runs{whose} in {told.source}")
    for outcome in Outcome:
        if number := tally.outcomes[outcome]:
            points = counted(tally.checkpoints[outcome], "checkpoint")
            output.text(f"{counted(number, 'run')} {told.words[outcome]}, {points}")
    if tally.outcomes[Outcome.TAKEN] and told.compares:
        what = "that was written was" if told.is_applied else "that can be was written to memory,"
        output.text(f"all {what} read back and compared, value by value")
    if tally.size:  # what was only compared is not counted by every tool
        output.text(f"{size(tally.size)} {told.measured} {told.source}")
    if not told.is_applied:
        output.text("this was a dry run: nothing was written")
        if told.again and tally.outcomes[Outcome.TAKEN]:
            output.text(f"to do it: {told.again}")


def _alike(told: Iterable[Moved]) -> Iterable[list[Moved]]:
    """Put runs together of which the same is to be said: one class unnamed is in all of them."""
    groups: dict[Hashable, list[Moved]] = {}
    for moved in told:
        places = tuple((one.surface, one.path, one.why, one.is_needed) for one in moved.left)
        same = (moved.outcome, moved.why, moved.hint, places, bool(moved.more))
        groups.setdefault(same, []).append(moved)
    return groups.values()


def _the_same(others: list[Moved]) -> str:
    names = ", ".join(output.one_row(moved.run) for moved in others[:_NAMED])
    more = f" and {len(others) - _NAMED:,} others" if len(others) > _NAMED else ""
    return f"the same of {counted(len(others), 'more run')}: {names}{more}"


def _lines(moved: Moved, told: Told) -> Iterator[str]:
    why = f": {output.one_row(moved.why)}" if moved.why else ""
    yield f"{output.one_row(moved.run)}: {told.words[moved.outcome]}{why}"
    for one in moved.left:
        place = f"{one.namespace} {one.checkpoint}".strip()
        needed = "; a resume would read it" if one.is_needed else ""
        lies = f"{one.surface} {one.path}".strip()
        said = f"{lies}: {one.why}{needed} (checkpoint {place})"
        yield f"  {output.one_row(said)}"
    if moved.more:
        yield f"  and {counted(moved.more, 'value')} more"
    if moved.hint:
        yield f"  {output.one_row(moved.hint)}"
