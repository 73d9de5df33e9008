"""An audit as one page of HTML that needs nothing else: no network, no script, no other file.

Names of fields, runs and keys come from the store and are escaped; as a second lock the page
forbids itself to load or to run anything. No value of the store is in it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from keepset.audit.finding import AuditFinding
from keepset.audit.judging import Judged
from keepset.audit.report import Audit
from keepset.audit.survey import AGES, OLDER, UNKNOWN
from keepset.audit.traces import imported
from keepset.cli.audit import sentences
from keepset.cli.audit.charts import COLOURS, Bar, Line, bars, figure, lines
from keepset.cli.audit.sheet import SHEET
from keepset.cli.counts import counted
from keepset.cli.page import framed, text
from keepset.verdict.sentences import size

_NUMBERS: Final = ("times", "runs", "bytes", "share", "a step")
_BARS: Final = 12
_IMPORTS: Final = 40


def page(audit: Audit, again: Sequence[str]) -> str:
    """Give the page.

    Args:
        audit: What was found.
        again: The words of the command line that it came from.
    """
    body = "\n".join(_body(audit, again))
    return framed(f"What is in {audit.survey.place}", body, command="audit", sheet=SHEET)


def _body(audit: Audit, again: Sequence[str]) -> Iterator[str]:
    place = text(audit.survey.place)
    yield f"<header><h1>What is in <span class=name>{place}</span></h1>"
    yield f"<p class=soft>Made by <code>{text(shlex.join(again))}</code></p>"
    counts = _counts(audit) or f"<p><b>{text(sentences.verdict(audit))}</b></p>"
    yield f"{counts}</header><main>"
    said = [
        f"{sentences.headline(audit)}; {sentences.looked(audit)}.",
        sentences.unfinished(audit),
        sentences.weights(audit),
        sentences.cost(audit),
        sentences.in_keepset(audit),
        *audit.survey.overview.notes,
    ]
    yield "".join(f"<p>{text(one)}</p>" for one in said if one)
    if audit.findings:
        yield f"<h2>What does not belong</h2>{_findings(audit, audit.findings)}"
    if audit.fields:
        yield f"<h2>The fields of the state</h2>{_fields(audit)}"
    drawn = "".join(_charts(audit))
    if drawn:
        yield f"<h2>What it costs</h2><div class=charts>{drawn}</div>"
    yield f"<h2>How it was measured</h2>{_how(audit)}"
    steps = sentences.next_steps(audit, again, {"--html": Path()})
    yield "".join(f"<p>Next: <code>{text(one)}</code></p>" for one in steps)
    yield "</main>"


def _counts(audit: Audit) -> str:
    words = {"error": "errors", "warning": "warnings", "advice": "advice"}
    items = "".join(
        f"<li class={name}>{number} {words[name] if number > 1 else name}</li>"
        for name, number in audit.counts().items()
        if number
    )
    return f'<ul class=counts aria-label="Findings">{items}</ul>' if items else ""


def _table(label: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(
        f"<th scope=col{' class=number' if one in _NUMBERS else ''}>{text(one)}</th>"
        for one in heads
    )
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{text(label)}"><table class=facts>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _findings(audit: Audit, found: Sequence[AuditFinding]) -> str:
    heads = "what", "", "where", "times", "runs", "bytes"
    return _table("What does not belong", heads, (_finding(one, audit) for one in found))


def _finding(one: AuditFinding, audit: Audit) -> str:
    copies, runs, weight = sentences.figures(audit, [one])
    place = sentences.where([one])
    shown = f'<td class="wide name">{text(place)}</td>' if one.place else "<td></td>"
    return (
        f"<tr><td><span class='tag {one.severity}'>{one.severity}</span></td>"
        f"<td class=wide>{text(one.message)} <code>{text(one.code)}</code>"
        f"<br><span class=hint>{text(one.hint)}</span></td>{shown}"
        f"{_number('times', copies)}{_number('runs', runs)}{_number('bytes', weight)}</tr>"
    )


def _number(head: str, shown: str) -> str:
    return f'<td class=number data-head="{head}">{text(shown)}</td>'


def _fields(audit: Audit) -> str:
    heads = "field", "keep", "why", "bytes", "share", "a step", "how it behaves"
    return _table("Fields", heads, (_field(one, audit) for one in audit.fields))


def _field(one: Judged, audit: Audit) -> str:
    keep = "yes" if one.verdict.keep else "no"
    return (
        f"<tr><th scope=row class=name>{text(one.name)}</th>"
        f"<td><span class='tag {keep}'>{keep}</span></td>"
        f"<td class=wide>{text(one.verdict.why)}</td>"
        f"{_number('bytes', sentences.weight(audit, one))}"
        f"{_number('share', sentences.share(audit, one, 1))}"
        f"{_number('a step', size(one.mean))}<td>{text(sentences.habits(one))}</td></tr>"
    )


def _charts(audit: Audit) -> Iterator[str]:
    tally = audit.survey.tally
    steps = tally.steps.points()
    if steps:
        title = "Bytes per step"
        drawn = lines(title, [Line("a step", steps)], text)
        yield figure(title, "What one checkpoint takes, by its number in a run", drawn, text)
    dearest = sorted(audit.fields, key=lambda one: -one.tally.bytes)
    if dearest:
        title = "Share by field"
        drawn = bars(title, [_bar(one) for one in dearest[:_BARS]], text)
        yield figure(title, "Of the bytes of all values; red does not belong", drawn, text)
        title = "Growth"
        growing = [Line(one.name, one.tally.curve.points()) for one in dearest[:COLOURS]]
        drawn = lines(title, growing, text)
        yield figure(title, "Bytes of the dearest fields, by step", drawn, text)
    ages = tally.runs.ages
    if ages:
        title = "Age"
        names = [name for name in (*(name for name, _ in AGES), OLDER, UNKNOWN) if name in ages]
        several = [Bar(name, ages[name][0], f"{ages[name][0]:,}") for name in names]
        drawn = bars(title, several, text)
        yield figure(title, "Runs by when they were last written to", drawn, text)


def _bar(one: Judged) -> Bar:
    style = "bar" if one.verdict.keep else "bad"
    return Bar(one.name, one.share, f"{one.share:.1%}", style)


def _how(audit: Audit) -> str:
    survey = audit.survey
    rows = ", ".join(f"{name} {number:,}" for name, number in survey.overview.rows.items())
    repeats = "every value was followed" if survey.tally.repeats.is_exact else "an estimate"
    types = [f"{name} ({number:,})" for name, number in imported(survey).most_common(_IMPORTS)]
    facts = [
        ("Kind", f"{survey.overview.kind} {survey.overview.version}".strip()),
        ("Rows", rows or "not known"),
        ("Looked at", sentences.looked(audit)),
        ("Checkpoints of a run", f"{audit.steps:,.1f} in the mean"),
        ("Values that runs share", repeats),
        ("A load would import", ", ".join(types) or "nothing"),
        ("Figures", _figures(audit)),
        ("Took", counted(round(survey.tally.seconds), "second")),
    ]
    pairs = "".join(f"<dt>{text(what)}</dt><dd>{text(much)}</dd>" for what, much in facts)
    return f"<dl>{pairs}</dl>"


def _figures(audit: Audit) -> str:
    if audit.survey.tally.is_whole:
        return "counted"
    return "reckoned from the sample, as intervals that hold the true figure in 95 of 100 samples"
