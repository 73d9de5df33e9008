"""An audit whole: what was counted, judged and found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from keepset.audit.deep import DEEP
from keepset.audit.finding import AuditFinding
from keepset.audit.findings import findings
from keepset.audit.intervals import Estimate
from keepset.audit.judging import Judged, judged
from keepset.audit.measured import Measured, measured
from keepset.audit.survey import Survey
from keepset.audit.traces import UNREADABLE
from keepset.readers.ports import Reader


@dataclass(frozen=True)
class Audit:
    """What is in a store that does not belong there, and what it costs.

    Attributes:
        survey: What was counted.
        fields: The fields of the state with their verdicts, the worst first.
        findings: What was found, the worst first.
        measured: What some of the runs would take in keepset; None where that was not measured.
    """

    survey: Survey
    fields: tuple[Judged, ...]
    findings: tuple[AuditFinding, ...]
    measured: Measured | None = None

    @property
    def is_readable(self) -> bool:
        """Tell whether all that was looked at could be read."""
        return not any(one.code == UNREADABLE for one in self.findings)

    @property
    def is_complete(self) -> bool:
        """Tell whether everything in the store was read."""
        return self.is_readable and self.survey.tally.is_whole

    @property
    def unseen(self) -> float:
        """The share of all bytes that was not looked at; of all runs where no bytes are known."""
        tally = self.survey.tally
        if tally.is_whole or not tally.runs.runs:
            return 0.0
        if tally.runs.bytes:
            return max(0.0, 1 - tally.read_bytes / tally.runs.bytes)
        return 1 - tally.read / tally.runs.runs

    @property
    def has_findings(self) -> bool:
        """Tell whether something has to be done; advice alone does not count."""
        return any(one.severity != "advice" for one in self.findings)

    @property
    def steps(self) -> float:
        """Checkpoints of a run, in the mean of those that were read."""
        tally = self.survey.tally
        return tally.read_checkpoints / tally.read if tally.read else 0.0

    def cost(self, field: Judged) -> int:
        """Give the bytes of a field in all steps of all runs."""
        return round(self.bytes_of(field).value)

    def bytes_of(self, field: Judged) -> Estimate:
        """Give the same with the interval that it lies in, where it was reckoned from a sample."""
        tally = self.survey.tally
        if tally.replicates is None:
            return Estimate(field.tally.bytes, field.tally.bytes, field.tally.bytes)
        return tally.replicates.total(
            f"field.{field.tally.number}", tally.runs.bytes, self.survey.narrow
        )

    def counts(self) -> dict[str, int]:
        """Count the findings by how bad they are."""
        found = Counter(one.severity for one in self.findings)
        return {name: found[name] for name in ("error", "warning", "advice")}


def audited(survey: Survey) -> Audit:
    """Judge what was counted, and say what does not belong."""
    fields = judged(survey)
    return Audit(survey, tuple(fields), tuple(findings(survey, fields)))


def weighed(audit: Audit, reader: Reader) -> Audit:
    """Measure what some of the runs would take in keepset."""
    # Our detectors do not know what only --deep has found: it must not be written anywhere.
    unknown = {one.field for one in audit.findings if one.code == DEEP}
    names = dict.fromkeys(one.tally.field for one in audit.fields if one.tally.field not in unknown)
    leave_out = {one.tally.field for one in audit.fields if not one.verdict.keep}
    if not names:
        return audit
    found = measured(reader, audit.survey.few, list(names), leave_out)
    return replace(audit, measured=found if found.theirs else None)
