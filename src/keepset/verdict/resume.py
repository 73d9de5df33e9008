"""May this code resume that run: one verdict, with the reasons for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keepset.verdict.status import Resume

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for a verdict.

    Attributes:
        verdict: What follows from it alone.
        code: Its stable name.
        message: What is the matter, without any value.
        hint: The way out.
    """

    verdict: Resume
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ResumeReport:
    """The verdict on one run.

    Attributes:
        verdict: The worst of the reasons; `Resume.AS_IS` where there is none.
        reasons: The worst first.
    """

    verdict: Resume
    reasons: tuple[Reason, ...]


def weigh(reasons: Iterable[Reason]) -> ResumeReport:
    """Put reasons together: the worst decides."""
    ordered = tuple(sorted(reasons, key=lambda reason: -reason.verdict))
    return ResumeReport(ordered[0].verdict if ordered else Resume.AS_IS, ordered)
