"""What is found in a store of ours alone: what was withheld, and contracts without a version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keepset.audit.finding import AuditFinding
from keepset.audit.ours.plain import withheld_kind
from keepset.audit.survey import Survey
from keepset.verdict import reasons

_NAMED: Final = 3


def of_ours(found: Survey) -> Iterator[AuditFinding]:
    """Tell what a store of ours says of itself; nothing of any other store."""
    if found.is_ours:
        yield from _withheld(found)
        yield from _unversioned(found)


def _withheld(found: Survey) -> Iterator[AuditFinding]:
    for one in found.tally.fields.values():
        kinds = {withheld_kind(name): count for name, count in one.types.items()}
        secrets = {kind: count for kind, count in kinds.items() if reasons.is_secret(kind)}
        if secrets:
            yield AuditFinding(
                "advice",
                "audit.withheld",
                f"a secret was withheld ({', '.join(sorted(secrets))})",
                "A resumed run that reads it stops: declare the field Secret(reference).",
                one.surface,
                one.field,
                one.field,
                sum(secrets.values()),
                one.runs,
            )


def _unversioned(found: Survey) -> Iterator[AuditFinding]:
    names = found.overview.unversioned
    if not names:
        return
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    yield AuditFinding(
        "advice",
        "audit.unversioned",
        f"no version is declared for the contract {', '.join(names[:_NAMED])}{more}",
        "Declare one, @ks.contract(name=…, epoch=1), before its shape changes.",
        copies=len(names),
        is_counted=True,
    )
