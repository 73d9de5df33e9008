"""An audit as plain data for JSON; docs/schemas/audit.json describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from keepset.audit.finding import AuditFinding
from keepset.audit.intervals import Estimate
from keepset.audit.judging import Judged
from keepset.audit.reckoned import reckoned
from keepset.audit.report import Audit
from keepset.audit.survey import AGES, OLDER, UNKNOWN
from keepset.audit.tally import FieldTally, RunsTally
from keepset.audit.traces import imported, metadata
from keepset.verdict.table import field_data


def as_data(audit: Audit) -> dict[str, Any]:
    """Give all of an audit as plain data. Names of runs, fields and keys are in it; no value is."""
    survey, tally = audit.survey, audit.survey.tally
    overview = survey.overview
    return {
        "place": survey.place,
        "kind": overview.kind,
        "version": overview.version,
        "bytes": overview.size,
        "deleted_bytes": overview.free,
        "rows": dict(overview.rows),
        "notes": list(overview.notes),
        "orphans": survey.orphans,
        "runs": _runs(tally.runs, survey.told),
        "read": {
            "runs": tally.read,
            "bytes": tally.read_bytes,
            "values": tally.values,
            "value_bytes": dict(tally.value_bytes),
            "seconds": round(tally.seconds, 3),
        },
        "sample": _sample(audit),
        "complete": audit.is_complete,
        "eyes": list(survey.eyes),
        "counts": audit.counts(),
        "findings": [_finding(one, audit) for one in audit.findings],
        "fields": [_field(one, audit) for one in audit.fields],
        "host_fields": _others(audit),
        "kept": sum(one.verdict.keep for one in audit.fields),
        "of": len(audit.fields),
        "steps": round(audit.steps, 1),
        "bytes_by_step": _points(tally.steps.points()),
        "response_metadata": dict(metadata(survey)),
        "imports": [
            {"type": name, "count": count}
            for name, count in ([] if survey.is_ours else imported(survey).most_common())
        ],
        "repeats_exact": tally.repeats.is_exact,
        "measured": _measured(audit),
    }


def _runs(runs: RunsTally, told: Callable[[str], str]) -> dict[str, Any]:
    return {
        "count": runs.runs,
        "checkpoints": runs.checkpoints,
        "bytes": runs.bytes,
        "unfinished": runs.unfinished,
        "unfinished_unknown": runs.unknown,
        "oldest_unfinished": told(runs.oldest_run) or None,
        "oldest_unfinished_at": runs.oldest,
        "first_at": runs.first,
        "largest": told(runs.largest_run) or None,
        "largest_bytes": runs.largest,
        "ages": [
            {"age": age, "runs": runs.ages[age][0], "bytes": runs.ages[age][1]}
            for age in (*(name for name, _ in AGES), OLDER, UNKNOWN)
            if age in runs.ages
        ],
    }


def _measured(audit: Audit) -> dict[str, Any] | None:
    if audit.measured is None:
        return None
    return {**asdict(audit.measured), "runs": list(map(audit.survey.told, audit.measured.runs))}


def _sample(audit: Audit) -> dict[str, Any] | None:
    """Say what was not looked at; None where everything was read."""
    tally = audit.survey.tally
    if tally.is_whole:
        return None
    return {
        "runs": tally.read,
        "of_runs": tally.runs.runs,
        "left_early": tally.cut,
        "bytes": tally.read_bytes,
        "of_bytes": tally.runs.bytes,
        "not_looked_at": round(audit.unseen, 6),
        "confidence": 0.95,
    }


def _finding(one: AuditFinding, audit: Audit) -> dict[str, Any]:
    figures = reckoned(audit.survey, one)
    return {
        "severity": one.severity,
        "code": one.code,
        "message": one.message,
        "hint": one.hint,
        "surface": one.surface,
        "field": one.field,
        "place": one.place,
        "copies": one.copies,
        "runs": one.runs,
        "bytes": one.bytes,
        "estimates": {name: _estimate(figure) for name, figure in figures.items()},
    }


def _estimate(one: Estimate) -> dict[str, float]:
    return {"value": round(one.value, 6), "low": round(one.low, 6), "high": round(one.high, 6)}


def _field(one: Judged, audit: Audit) -> dict[str, Any]:
    tally = one.tally
    return {
        **field_data(one.verdict),
        "graph": tally.graph,
        "using": one.using or None,
        **_counted(tally),
        "share": round(one.share, 6),
        "estimates": _reckoned(one, audit),
        "repeated_bytes": one.again,
        "growth_per_step": round(one.growth, 1),
        "cost": audit.cost(one),
        "types": _named(tally.types),
        "personal": _named(one.personal),
        "bytes_by_step": _points(tally.curve.points()),
    }


def _reckoned(one: Judged, audit: Audit) -> dict[str, Any]:
    tally = audit.survey.tally
    if tally.replicates is None:
        return {}
    share = tally.replicates.share(f"field.{one.tally.number}", audit.survey.narrow)
    return {"bytes": _estimate(audit.bytes_of(one)), "share": _estimate(share)}


def _others(audit: Audit) -> list[dict[str, Any]]:
    """Give what is not judged: what the host keeps for itself, and the other surfaces."""
    judged = {one.tally.number for one in audit.fields}
    return [
        {"surface": one.surface, "graph": one.graph, "field": one.field, **_counted(one)}
        for one in audit.survey.tally.fields.values()
        if one.number not in judged
    ]


def _counted(tally: FieldTally) -> dict[str, Any]:
    return {
        "values": tally.values,
        "runs": tally.runs,
        "bytes": tally.bytes,
        "largest": tally.largest,
        "unchanged": tally.same,
        "unchanged_bytes": tally.same_bytes,
        "kinds": _named(tally.kinds),
        "encodings": _named(tally.encodings),
        "unreadable": _named(tally.unreadable),
    }


def _named(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _points(points: list[tuple[int, float]]) -> list[dict[str, Any]]:
    return [{"step": step, "bytes": round(mean)} for step, mean in points]
