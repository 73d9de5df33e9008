"""What a store holds that does not belong there, the worst first, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from keepset.audit import traces
from keepset.audit.finding import AuditFinding, Severity
from keepset.audit.judging import Judged
from keepset.audit.ours.told import of_ours
from keepset.audit.personal import PERSONAL, SAID
from keepset.audit.reading import IDS
from keepset.audit.seen import LEFTOVER
from keepset.audit.survey import Survey
from keepset.audit.tally import SpotTally
from keepset.verdict import reasons

_ORDER: Final[tuple[Severity, ...]] = ("error", "warning", "advice")


def findings(found: Survey, fields: Iterable[Judged]) -> list[AuditFinding]:
    """Give all findings, the worst first.

    Args:
        found: What was counted.
        fields: The fields with their verdicts.
    """
    fields = list(fields)
    costs = {one.tally.field: one for one in fields if not one.verdict.keep}
    all_of_them = [
        *traces.unreadable(found),
        *_spots(found, costs),
        *_contents(fields),
        *traces.of_runs(found),
        *traces.of_the_store(found),
        *traces.costs(found, fields),
        *of_ours(found),
    ]
    return sorted(all_of_them, key=_rank)


def _rank(one: AuditFinding) -> tuple[int, int, int, int]:
    rank = reasons.rank(one.code) if one.surface else 0
    return _ORDER.index(one.severity), rank, -one.copies, -one.bytes


_SPOTS: Final[dict[str, tuple[Severity, str, str]]] = {
    reasons.HANDLE: ("error", "a live handle was written", "Declare it Reopen(factory)."),
    LEFTOVER: (
        "error",
        "the text of an object",
        "The object cannot come back from it: declare the field Reopen(factory).",
    ),
    reasons.TEMPORARY: (
        "warning",
        "a temporary path",
        "It may be gone after a restart: declare the field Scratch(factory).",
    ),
    reasons.RESPONSE: (
        "warning",
        "a whole model response",
        "Declare the field Keep(without=…), or Extract(path).",
    ),
}


def _spots(found: Survey, costs: dict[str, Judged]) -> Iterator[AuditFinding]:
    """Tell what the detectors found, one finding for a kind at a place."""
    joined: dict[tuple[str, str, str, str], list[SpotTally]] = {}
    for one in found.tally.spots.values():
        joined.setdefault((one.surface, one.field, one.kind, one.place), []).append(one)
    for (surface, field, kind, place), several in joined.items():
        named = [one.detail for one in several if one.detail and kind != reasons.TEMPORARY]
        details = ", ".join(dict.fromkeys(named))
        if kind.startswith(PERSONAL):
            declared = surface in _OF_FIELDS and field in found.overview.personal
            severity, said, hint = _personal(kind, surface, declared=declared)
        else:
            severity, said, hint = _detected(kind, surface)
        base = AuditFinding(
            severity,
            kind,
            f"{said} ({details})" if details else said,
            hint,
            surface,
            field,
            place,
            sum(one.copies for one in several),
            max(one.runs for one in several),
            total=several[0].total,
        )
        whole = costs.get(field) if surface == "state" else None
        same = whole is not None and whole.verdict.reason == kind and place == field
        if whole is not None and same:
            base = replace(base, bytes=whole.tally.bytes, weight=f"field.{whole.tally.number}")
        yield base


def _secret(surface: str) -> str:
    if surface == IDS:
        return "Change it where it is valid; the id of a run is in every row, and in logs."
    if surface == "metadata":
        return "Change it where it is valid; then keep it out of the config, which is copied here."
    if surface == "error":
        return "Change it where it is valid; mask messages of errors before they are raised."
    if surface == "input":
        return "Change it where it is valid; pass a reference as input, not the key."
    return "Change it where it is valid; declare the field Secret(reference)."


_OF_FIELDS: Final = ("state", "write")


def _detected(kind: str, surface: str) -> tuple[Severity, str, str]:
    if reasons.is_secret(kind):
        return "error", "a secret", _secret(surface)
    return _SPOTS.get(kind, ("warning", kind, "Leave it out."))


def _personal(kind: str, surface: str, *, declared: bool) -> tuple[Severity, str, str]:
    said = f"personal data: {SAID.get(kind.removeprefix(PERSONAL), kind)}"
    if declared:
        hint = "The field is declared personal: see that retain= says how long it is kept."
        return "advice", f"{said}, as declared", hint
    if surface == "state":
        hint = "Declare the field Keep(personal=True), and with retain= how long it is kept."
        return "warning", said, hint
    if surface == IDS:
        hint = "Take ids that say nothing of a person: they are in every row, and in logs."
        return "warning", said, hint
    hint = "Decide how long runs are kept, and delete what is older: it is kept as long as its run."
    return "warning", said, hint


def _contents(fields: Iterable[Judged]) -> Iterator[AuditFinding]:
    for one in fields:
        if one.using:
            yield AuditFinding(
                "warning",
                reasons.BESIDE_IDS,
                f"can be fetched by {one.using}",
                f'Declare the field Refetch(load, using="{one.using}").',
                "state",
                one.tally.field,
                one.name,
                one.tally.values,
                one.tally.runs,
                one.tally.bytes,
                total=f"values.{one.tally.number}",
                weight=f"field.{one.tally.number}",
            )
