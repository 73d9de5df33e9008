"""What the detectors met while a run was saved, kept short however long the run is."""

from __future__ import annotations

from collections.abc import Iterable

from keepset.scan import Finding

_Key = tuple[str, tuple[str, ...], str]


class Tally:
    """Counts findings; those that differ only in positions of items count as one."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._first: dict[_Key, Finding] = {}
        self._counts: dict[_Key, int] = {}

    def add(self, findings: Iterable[Finding]) -> list[Finding]:
        """Count findings, and give those that are the first of their kind and place."""
        fresh: list[Finding] = []
        for finding in findings:
            place = tuple("*" if isinstance(e, int) else e for e in finding.path)
            key = (finding.kind, place, finding.detail)
            if key not in self._first:
                self._first[key] = finding
                fresh.append(finding)
            self._counts[key] = self._counts.get(key, 0) + 1
        return fresh

    def findings(self) -> tuple[Finding, ...]:
        """Give the first finding of each kind and place, in the order in which they came."""
        return tuple(self._first.values())

    def counts(self) -> tuple[int, ...]:
        """Say how often each of `findings` was met."""
        return tuple(self._counts.values())
