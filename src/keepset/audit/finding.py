"""What an audit finds: one thing in a store that does not belong there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "advice"]


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing that was found in a store; it never holds a value.

    Attributes:
        severity: ``error``: it does harm; ``warning``: it costs, or will do harm; ``advice``.
        code: A stable name.
        message: What is the matter.
        hint: What to do about it.
        surface: Where the host let it in; empty for the store as a whole.
        field: The field; empty for several.
        place: Where in the field, with stars for positions.
        copies: How often it is in the store.
        runs: In how many runs.
        bytes: Bytes that it takes; 0 where that is not told.
        total: Name of the sum by which `copies` are reckoned from a sample; empty for none.
        weight: The same for `bytes`.
        is_counted: Whether it is known of all runs, also where only a sample was read.
    """

    severity: Severity
    code: str
    message: str
    hint: str
    surface: str = ""
    field: str = ""
    place: str = ""
    copies: int = 0
    runs: int = 0
    bytes: int = 0
    total: str = ""
    weight: str = ""
    is_counted: bool = False
