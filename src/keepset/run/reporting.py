"""What the detectors met while a run was saved: counted, logged once, short however long it is."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from types import TracebackType

from keepset.codec import format_path
from keepset.errors import PolicyError, UsageError
from keepset.scan import Finding, Scanner

_Key = tuple[str, tuple[str, ...], str]
LOGGED = 20
"""How many findings of a run are logged; the others are counted."""

_log = logging.getLogger("keepset")


class placed:  # noqa: N801 - used as a function
    """Name the place in a refusal, and mask a key or a name in it that is itself a secret."""

    __slots__ = ("_place", "_scanner")

    def __init__(self, place: str, scanner: Scanner) -> None:
        """Take the place, and what masks."""
        self._place = place
        self._scanner = scanner

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say it in a refusal.

        Raises:
            PolicyError, UsageError: In place of one that was raised.
        """
        if error is not None and isinstance(error, (PolicyError, UsageError)):
            safe = self._scanner.text(error.within(self._place).message)
            raise type(error)(safe, code=error.code, hint=error.hint) from None


class Report:
    """Counts findings; those that differ only in positions of items count as one."""

    def __init__(self, run_id: str) -> None:
        """Begin with nothing."""
        self._run_id = run_id
        self._first: dict[_Key, Finding] = {}
        self._counts: dict[_Key, int] = {}

    def add(self, step: str, findings: Iterable[Finding]) -> None:
        """Count findings of a step, and log the first one of each kind and place."""
        for finding in findings:
            place = tuple(["*" if isinstance(e, int) else e for e in finding.path])
            key = (finding.kind, place, finding.detail)
            self._counts[key] = self._counts.get(key, 0) + 1
            if key not in self._first:
                self._first[key] = finding
                if len(self._first) <= LOGGED:
                    self._tell(step, finding)

    def _tell(self, step: str, finding: Finding) -> None:
        _log.warning(
            "run %s, step %s: %s at %s (%s). %s",
            self._run_id,
            step,
            finding.kind,
            format_path(finding.path),
            finding.detail,
            finding.advice,
        )

    def findings(self) -> tuple[Finding, ...]:
        """Give the first finding of each kind and place, in the order in which they came."""
        return tuple(self._first.values())

    def counts(self) -> tuple[int, ...]:
        """Say how often each of `findings` was met."""
        return tuple(self._counts.values())
