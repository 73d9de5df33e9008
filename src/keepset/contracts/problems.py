"""What `check` finds: one thing that is unsound about a contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keepset.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a contract that is unsound, or may be.

    Attributes:
        code: A stable, dotted name of the kind of problem.
        severity: ``error`` where a run would go wrong, ``warning`` where it may.
        path: The field, and where it lies inside the field's type: ``docs[*].client``.
        message: What is wrong, as a sentence.
        hint: What to do, as a sentence.
    """

    code: str
    severity: Literal["error", "warning"]
    path: str
    message: str
    hint: str

    def as_error(self, contract: str) -> SchemaError:
        """Make the error that says the same."""
        return SchemaError(
            f"{contract}.{self.path}: {self.message}", code=self.code, hint=self.hint
        )
