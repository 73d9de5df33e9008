"""What a finding in a sample means for the whole store, each figure with its interval."""

from __future__ import annotations

from keepset.audit.finding import AuditFinding
from keepset.audit.intervals import Estimate, wilson
from keepset.audit.survey import Survey


def reckoned(found: Survey, one: AuditFinding) -> dict[str, Estimate]:
    """Reckon a finding for all runs.

    Args:
        found: What was counted.
        one: The finding.

    Returns:
        Estimates of its ``runs``, ``copies`` and ``bytes``, as far as it has them; empty where
        everything was read, or where the finding is about all runs as it is.
    """
    tally, figures = found.tally, dict[str, Estimate]()
    if tally.replicates is None or one.is_counted:
        return figures
    if one.runs:
        figures["runs"] = wilson(one.runs, tally.read, tally.runs.runs)
    for name, total in (("copies", one.total), ("bytes", one.weight)):
        if total:
            figures[name] = tally.replicates.total(total, tally.runs.bytes, found.narrow)
    return figures
