"""Secrets that did not come along when a run was taken over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from keepset.codec import format_path
from keepset.plan.guard import SECRET_TYPE, Mode
from keepset.run.reporting import Report


def withheld(report: Report, mode: Mode) -> Mapping[tuple[str, str], int]:
    """Count the secrets that are not in what was stored, by kind and place."""
    counts: Counter[tuple[str, str]] = Counter()
    for finding, times in zip(report.findings(), report.counts(), strict=True):
        secret = finding.kind == SECRET_TYPE or finding.kind.startswith("secret.")
        if secret and (mode is not Mode.OBSERVE or finding.kind == SECRET_TYPE):
            place = tuple("*" if isinstance(one, int) else one for one in finding.path)
            counts[finding.kind, format_path(place)] += times
    return counts
