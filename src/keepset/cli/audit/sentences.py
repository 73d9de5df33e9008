"""An audit in sentences, the same for a terminal and for a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from keepset.audit.finding import AuditFinding
from keepset.audit.intervals import Estimate
from keepset.audit.judging import Judged
from keepset.audit.reckoned import reckoned
from keepset.audit.report import Audit
from keepset.audit.survey import AGES, DAY, OLDER
from keepset.cli.counts import counted
from keepset.cli.times import iso
from keepset.verdict.sentences import size

SURFACES: Final = {
    "state": "state",
    "input": "input",
    "write": "pending writes",
    "metadata": "metadata",
    "error": "errors",
    "interrupt": "questions",
    "resume": "answers",
    "store": "store",
    "id": "ids",
}
"""What the surfaces of a host are called."""

_NOTHING: Final[Mapping[str, Path]] = MappingProxyType({})
_A_WHOLE: Final = 100
_TEN: Final = 10
_TELLING: Final = 0.005


def headline(audit: Audit) -> str:
    """Say what the store is, and how much is in it."""
    overview, runs = audit.survey.overview, audit.survey.tally.runs
    weight = f", {size(overview.size)}" if overview.size else ""
    weight += f" ({size(overview.free)} of it deleted)" if overview.free else ""
    return (
        f"{audit.survey.place}: {overview.kind}{weight}, {counted(runs.runs, 'run')}, "
        f"{counted(runs.checkpoints, 'checkpoint')}"
    )


def verdict(audit: Audit) -> str:
    """Say how much was found; of a store that was not read whole never that it is clean."""
    counts = audit.counts()
    errors, warnings, advice = counts["error"], counts["warning"], counts["advice"]
    parts = [
        counted(errors, "error") if errors else "",
        counted(warnings, "warning") if warnings else "",
        f"{advice:,} advice" if advice else "",
    ]
    said = ", ".join(part for part in parts if part)
    if not said and not audit.survey.tally.runs.runs and audit.is_complete:
        return "Clean: there is no run in it"
    if audit.is_complete:
        return said or "Clean: everything was read, and all of it belongs there"
    return said or "Nothing was found in what was read"


def looked(audit: Audit) -> str:
    """Say how much of the store was looked at."""
    tally, eyes = audit.survey.tally, audit.survey.eyes
    closer = f", with {' and '.join(f'--{name}' for name in eyes)}" if eyes else ""
    if tally.is_whole:
        return f"read whole, {counted(tally.values, 'value')}{closer}"
    return (
        f"a sample: {tally.read:,} of {counted(tally.runs.runs, 'run')}"
        f"{f', {tally.cut:,} of them not to the end' if tally.cut else ''}; "
        f"{audit.unseen:.1%} of the bytes was not looked at{closer}"
    )


def between(figure: Estimate | None, seen: int, written: Callable[[int], str]) -> str:
    """Write a figure; one that was reckoned from a sample with the interval that it lies in.

    Args:
        figure: What was reckoned, or None.
        seen: What was counted.
        written: Writes a number.
    """
    if figure is None:
        return written(seen) if seen else "-"
    return _span(written(round(figure.low)), written(round(figure.high)))


def _span(low: str, high: str) -> str:
    """Write two ends of an interval; a unit that they share stands once."""
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number}-{high}" if unit and high.endswith(f" {unit}") else f"{low}-{high}"


def plainly(number: int) -> str:
    """Write a number of things."""
    return f"{number:,}"


def unfinished(audit: Audit) -> str:
    """Say how many runs are unfinished, and which one waits for longest."""
    runs, now = audit.survey.tally.runs, audit.survey.now
    if runs.unknown == runs.runs:
        return "The store does not say which runs are unfinished."
    rest = f" Not known: {counted(runs.unknown, 'run')}." if runs.unknown else ""
    if not runs.unfinished:
        return f"No run is unfinished.{rest}"
    said = f"{counted(runs.unfinished, 'run')} unfinished, {size(runs.unfinished_bytes)}"
    if runs.oldest is None:
        return f"{said}.{rest}"
    days = max(0, int((now - runs.oldest) / DAY))
    since, named = iso(int(runs.oldest * 1000))[:10], audit.survey.told(runs.oldest_run)
    return f"{said}; the oldest, {named}, since {since} ({counted(days, 'day')}).{rest}"


def ages(audit: Audit) -> str:
    """Say how long ago runs were last written to; empty where no store says it."""
    found = audit.survey.tally.runs.ages
    named = [(found[age][0], age) for age in (*(name for name, _ in AGES), OLDER) if age in found]
    said = ", ".join(f"{number:,} {_ago(age)}" for number, age in named)
    return f"Last written to: {said}." if said else ""


def _ago(age: str) -> str:
    return f"{age} ago" if age != OLDER else "a year ago and more"


def weights(audit: Audit, most: int | None = None) -> str:
    """Say how many bytes lie where, by surface.

    Args:
        audit: What was found.
        most: So many surfaces are named; None for all.
    """
    tally = audit.survey.tally
    surfaces = sorted(tally.value_bytes.items(), key=lambda one: -one[1])
    if most is not None and len(surfaces) > most:
        rest = sum(count for _, count in surfaces[most:])
        surfaces = [*surfaces[:most], ("others", rest)]
    said = ", ".join(f"{SURFACES.get(name, name)} {size(count)}" for name, count in surfaces)
    total = sum(tally.value_bytes.values())
    read = "Values" if audit.survey.tally.is_whole else "Values that were read"
    return f"{read}: {size(total)} ({said})." if total else f"{read}: none."


def share(audit: Audit, one: Judged, digits: int = 0) -> str:
    """Write the share of a field in all bytes, with its interval where a sample was read."""
    replicates = audit.survey.tally.replicates
    if replicates is None:
        return f"{one.share:.{digits}%}"
    figure = replicates.share(f"field.{one.tally.number}", audit.survey.narrow)
    low, high = f"{figure.low:.{digits}%}", f"{min(figure.high, 1):.{digits}%}"
    return low if low == high else f"{low.rstrip('%')}-{high}"


def weight(audit: Audit, one: Judged) -> str:
    """Write the bytes of a field in all runs, with its interval where a sample was read."""
    figure = audit.bytes_of(one)
    return between(figure, one.tally.bytes, size)


def where(several: Sequence[AuditFinding]) -> str:
    """Name the place of findings that are one group."""
    surfaces = dict.fromkeys(SURFACES.get(one.surface, one.surface) for one in several)
    place = several[0].place
    return f"{', '.join(surfaces)}: {place}" if place else "-"


def figures(audit: Audit, several: Sequence[AuditFinding]) -> tuple[str, str, str]:
    """Write how often a group of findings is there, in how many runs, and its bytes."""
    reckonings = [reckoned(audit.survey, one) for one in several]
    return (
        between(_sum(reckonings, "copies"), sum(one.copies for one in several), plainly),
        between(_most(reckonings, "runs"), max(one.runs for one in several), plainly),
        between(_sum(reckonings, "bytes"), sum(one.bytes for one in several), size),
    )


def _sum(reckonings: Sequence[dict[str, Estimate]], name: str) -> Estimate | None:
    found = [one[name] for one in reckonings if name in one]
    if not found:
        return None
    # Ends of intervals add up to a wider one than is needed, which is on the safe side.
    return Estimate(
        sum(one.value for one in found),
        sum(one.low for one in found),
        sum(one.high for one in found),
    )


def _most(reckonings: Sequence[dict[str, Estimate]], name: str) -> Estimate | None:
    found = [one[name] for one in reckonings if name in one]
    return max(found, key=lambda one: one.value, default=None)


def cost(audit: Audit) -> str:
    """Say what the fields cost that do not belong, as steps x runs."""
    out = [one for one in audit.fields if not one.verdict.keep]
    if not audit.fields:
        return "There is no state to judge."
    runs = audit.survey.tally.runs.runs
    kept = len(audit.fields) - len(out)
    said = f"{kept} of {counted(len(audit.fields), 'field')} belong{'s' if kept == 1 else ''}"
    if not out:
        return f"{said}."
    whole = size(sum(audit.cost(one) for one in out))
    about = "" if audit.survey.tally.is_whole else "about "
    steps = max(audit.steps * runs, 1)
    a_step = round(sum(audit.cost(one) for one in out) / steps)
    return (
        f"{said}. The others take {size(a_step)} a step x {audit.steps:,.1f} steps x "
        f"{counted(runs, 'run')}: {about}{whole} in all."
    )


def in_keepset(audit: Audit) -> str:
    """Say what some of the runs would take in keepset; empty where that was not measured."""
    found = audit.measured
    if found is None:
        return ""
    few = f"{counted(len(found.runs), 'run')} ({counted(found.steps, 'step')})"
    refused = f"; {counted(found.refused, 'state')} could not be written" if found.refused else ""
    less = ""
    if any(not one.verdict.keep for one in audit.fields):
        times = _times(found.theirs, found.kept)
        less = f", {size(found.kept)} without what does not belong{times}"
    return (
        f"Measured: the state of {few} takes {size(found.theirs)} here; in keepset "
        f"{size(found.ours)}{_times(found.theirs, found.ours)}{less}{refused}."
    )


def _times(theirs: int, ours: int) -> str:
    if not ours or theirs <= ours:
        return ""
    times = theirs / ours
    return f" ({times:,.0f} times less)" if times >= _TEN else f" ({times:.1f} times less)"


def habits(one: Judged) -> str:
    """Say in short how a field behaves: rewritten unchanged, growing, repeated in other runs."""
    tally = one.tally
    said = []
    if tally.values and tally.same / tally.values >= _TELLING:
        said.append(f"{tally.same / tally.values:.0%} unchanged")
    if one.growth >= 1:
        said.append(f"+{size(round(one.growth))} a step")
    if tally.bytes and one.again / tally.bytes >= _TELLING:
        said.append(f"{min(_A_WHOLE, round(100 * one.again / tally.bytes))}% in other runs")
    return ", ".join(said)


def measures(audit: Audit, one: Judged) -> tuple[str, ...]:
    """Write the figures of a field for columns.

    Returns:
        Its bytes, its share in all, how much of it is rewritten unchanged, by how much it grows in
        a step, and how much of it another run has as well; a dash for next to nothing.
    """
    tally = one.tally
    same = tally.same / tally.values if tally.values else 0.0
    again = min(1.0, one.again / tally.bytes) if tally.bytes else 0.0
    return (
        weight(audit, one),
        share(audit, one),
        f"{same:.0%}" if same >= _TELLING else "-",
        f"+{size(round(one.growth))}" if one.growth >= 1 else "-",
        f"{again:.0%}" if again >= _TELLING else "-",
    )


def next_steps(
    audit: Audit, again: Sequence[str], done: Mapping[str, Path] = _NOTHING
) -> list[str]:
    """Say what to type next.

    Args:
        audit: What was found.
        again: The words of the command line that it came from.
        done: The options that it had to write a file, and the files.
    """
    contract = done.get("--write-contract")
    steps = []
    if contract is None and audit.fields:
        steps.append([*again, "--write-contract", "state.py"])
    outer = any(not one.tally.graph for one in audit.fields)
    if contract is not None and outer and str(contract) == f"{contract.stem}.py":
        program = again[: list(again).index("audit")]
        steps.append([*program, "check", f"{contract.stem}:State"])
    if "--html" not in done:
        steps.append([*again, "--html", "audit.html"])
    return [shlex.join(step) for step in steps]
