"""The header of a checkpoint that a user saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepset.errors import UsageError
from keepset.plan.guard import Guard
from keepset.plan.record import Header
from keepset.run.metadata import pack_metadata
from keepset.run.reporting import Report
from keepset.run.services import Services
from keepset.verdict.status import Status

_STATUSES = {status.value: status.value for status in Status}


def header(  # noqa: PLR0913 - what a user says of a step, and what it goes through
    services: Services,
    guard: Guard,
    report: Report,
    *,
    step: str,
    status: str,
    metadata: Mapping[str, Any],
) -> Header:
    """Make the header of a checkpoint, with the detectors over all that a user says in it.

    Raises:
        UsageError: ``run.step``: the step has no name, or the status is not known.
        PolicyError: The metadata cannot be stored.
    """
    known = isinstance(step, str) and step and isinstance(status, str) and status in _STATUSES
    if not known or not (type(metadata) is dict or isinstance(metadata, Mapping)):
        raise UsageError(
            "a save needs the name of a step, a status that is known, and metadata by name",
            code="run.step",
            hint=f"For example run.save('ask', state); a status is one of {', '.join(Status)}.",
        )
    now = services.now()
    name = services.scanner.text(step)
    packed, findings = pack_metadata(guard, metadata)
    if findings:
        report.add(name, findings)
    return Header(services.new_id(now), name, _STATUSES[status], now, packed)
