"""Findings as rows: the same thing at many places is one row, so that the worst fit a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from keepset.audit.finding import AuditFinding, Severity
from keepset.cli.audit.sentences import SURFACES
from keepset.verdict import reasons

_OWN: Final = "audit."
_ELSEWHERE: Final = frozenset(
    f"audit.{name}" for name in ("unfinished", "old", "deleted-bytes", "rewritten", "repeated")
)
_NAMED: Final = 3
_Key = Callable[[AuditFinding], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """Findings that are told in one row.

    Attributes:
        findings: They; never none.
    """

    findings: tuple[AuditFinding, ...]

    @property
    def severity(self) -> Severity:
        """How bad they are."""
        return self.findings[0].severity

    @property
    def is_told_elsewhere(self) -> bool:
        """Whether the lines above the rows, or the figures of the fields, say it as well."""
        return self.findings[0].code in _ELSEWHERE

    @property
    def message(self) -> str:
        """What is the matter: where they were found by several things, the first of these."""
        messages = list(dict.fromkeys(one.message for one in self.findings))
        if len(messages) == 1:
            return messages[0]
        heads = {message.partition(" (")[0] for message in messages}
        if len(heads) > 1:
            return f"{messages[0]}, and {len(messages) - 1:,} more of the kind"
        parts = (message.partition(" (")[2].removesuffix(")") for message in messages)
        details = list(dict.fromkeys(one for part in parts for one in part.split(", ") if one))
        more = f" and {len(details) - _NAMED:,} more" if len(details) > _NAMED else ""
        return f"{heads.pop()} ({', '.join(details[:_NAMED])}{more})"

    @property
    def where(self) -> str:
        """Where the first of them is, and at how many places more."""
        places = list(dict.fromkeys(one.place for one in self.findings))
        surfaces = dict.fromkeys(
            SURFACES.get(one.surface, one.surface)
            for one in self.findings
            if one.place == places[0]
        )
        if not places[0]:
            return "-"
        more = len(places) - 1
        if more:
            return f"{next(iter(surfaces))}: {places[0]} and {more:,} more place{'s'[: more - 1]}"
        return f"{', '.join(surfaces)}: {places[0]}"


def rows(found: Iterable[AuditFinding], most: int | None = None) -> tuple[list[Row], list[Row]]:
    """Put findings into rows.

    Args:
        found: The findings, the worst first.
        most: So many rows at the most, but never fewer than there are kinds of errors; None for as
            many as there are places.

    Returns:
        The rows to show, and those that are left out; no error is ever among these.
    """
    findings = list(found)
    shown = _grouped(findings, _place)
    for key in (_thing, _kind):
        if most is None or len(shown) <= most:
            return shown, []
        shown = _grouped(findings, key)
    if most is None or len(shown) <= most:
        return shown, []
    errors = sum(row.severity == "error" for row in shown)
    end = max(most - 1, errors)  # what is left out takes a line as well
    told = sorted(shown, key=lambda row: (row.severity != "error", row.is_told_elsewhere))
    return told[:end], told[end:]


def _grouped(found: Sequence[AuditFinding], key: _Key) -> list[Row]:
    groups: dict[tuple[str, ...], list[AuditFinding]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return [Row(tuple(several)) for several in groups.values()]


def _place(one: AuditFinding) -> tuple[str, ...]:
    """The same thing at the same place, on whatever surfaces."""
    return one.severity, one.code, one.message, one.place or one.surface


def _thing(one: AuditFinding) -> tuple[str, ...]:
    """The same thing at whatever places."""
    return one.severity, one.code, one.message


def _kind(one: AuditFinding) -> tuple[str, ...]:
    """One kind of thing: any secret, any leftover of an object."""
    if one.code.startswith(_OWN):
        return one.severity, one.code
    if one.code == reasons.HANDLE:
        return one.severity, "repr"
    return one.severity, one.code.partition(".")[0]
