"""What becomes of findings: refuse, withhold or report, as the mode and the field's rule say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from keepset.codec import Buffer, Codec, Path, Withheld, format_path
from keepset.contracts import Contract, Field, Keep
from keepset.errors import PolicyError
from keepset.scan import Finding, Scanner, oversize, substitutes

SECRET_TYPE = "secret.type"  # noqa: S105 - the name of a reason, not a secret
OURS = object()
"""First in a field's metadata: it holds names and versions that a host made, no user's data."""
_TOLD = 10
"""How many findings a message lists: more than that nobody reads."""


class Mode(StrEnum):
    """What a store does with a value that does not belong."""

    STRICT = "strict"
    PROTECT = "protect"
    OBSERVE = "observe"


@dataclass(frozen=True, slots=True)
class Guard:
    """The detectors with the decision on what they find.

    Attributes:
        scanner: The detectors.
        codec: The codec that the values will go through.
        mode: The store's mode.
    """

    scanner: Scanner
    codec: Codec
    mode: Mode

    def require_declared(self, contract: Contract) -> None:
        """Refuse fields without a rule where the mode asks for one each.

        Raises:
            PolicyError: The mode is strict and a field is not declared.
        """
        if self.mode is not Mode.STRICT:
            return
        names = [name for name, field in contract.fields.items() if not field.declared]
        if names:
            raise PolicyError(
                f"undeclared: {', '.join(names)} of contract {contract.name}",
                code="policy.undeclared",
                hint="Give each field a rule, such as Annotated[…, Keep()].",
            )

    def trusts(self, field: Field) -> bool:
        """Tell whether a field was declared to grow only, and is held to it."""
        rule = field.rule
        return isinstance(rule, Keep) and rule.append_only and self.mode is not Mode.OBSERVE

    def require_growth(self, field: Field) -> None:
        """Refuse a field that was declared to grow only and has changed otherwise.

        Raises:
            PolicyError: The field is ``append_only`` and the mode does more than observe.
        """
        if self.trusts(field):
            raise PolicyError(
                f"{field.name} is declared append_only, and what it held before has changed",
                code="policy.append-only",
                hint="Add to its end only, or take append_only from its rule.",
            )

    def look(
        self, field: Field, value: Any, path: Path, packed: Buffer | None = None
    ) -> list[Finding]:
        """Look at every leaf of a value; what the field's rule allows is left out.

        Args:
            field: The field.
            value: Its value, or a part of it.
            path: Where that lies.
            packed: Its packed bytes where they are known, by which it is known again.
        """
        if field.metadata and is_ours(field):
            return []
        findings = self.scanner.leaves(
            value, path, name=field.name, parts=self.codec.parts, packed=packed
        )
        return findings and [finding for finding in findings if not allowed(field, finding)]

    def knows(self, field: Field, path: Path, packed: Buffer) -> bool:
        """Tell whether a value of these bytes was looked at lately, and held nothing."""
        return is_ours(field) or self.scanner.is_clean(path, name=field.name, packed=packed)

    def look_around(self, field: Field, value: Any) -> list[Finding]:
        """Look at a field of which only parts are new, for what its parts give away together."""
        if field.metadata and is_ours(field):
            return []
        findings = self.scanner.container(value, (field.name,), parts=self.codec.parts)
        return findings and [finding for finding in findings if not allowed(field, finding)]

    def across(self, contract: Contract, values: Mapping[str, Any]) -> list[Finding]:
        """Look across the fields that are stored: content whose ids stand beside it.

        Raises:
            PolicyError: The mode refuses a finding.
        """
        findings = [
            finding
            for finding in self.scanner.beside(values)
            if not allowed(contract.fields[str(finding.path[0])], finding)
        ]
        if findings and self.mode is Mode.STRICT:
            raise refusal(findings)
        return findings

    def weigh(self, field: Field, size: int) -> list[Finding]:
        """Compare a value's packed size with its field's budget.

        Raises:
            PolicyError: It is over the budget, and the mode refuses that.
        """
        rule = field.rule
        budget = rule.max_bytes if isinstance(rule, Keep) else None
        finding = None if budget is None else oversize((field.name,), size, budget)
        if finding is None or allowed(field, finding):
            return []
        if self.mode is Mode.STRICT:
            raise refusal([finding])
        return [finding]

    def decide(
        self, field: Field, value: Any, path: Path, findings: Sequence[Finding]
    ) -> Mapping[Path, object]:
        """Decide on the findings of one value.

        Returns:
            What to put in place of secrets, by full path; empty where the value is stored as is.

        Raises:
            PolicyError: The mode or the field's rule refuses a finding.
        """
        if not findings:
            return {}
        secrets = [finding for finding in findings if finding.kind.startswith("secret.")]
        if not secrets and self.mode is not Mode.STRICT:
            return {}  # what is no secret is told, and stored
        refused = [finding for finding in findings if self._refuses(field, finding)]
        if refused:
            raise refusal(refused)
        withheld = [finding for finding in findings if self._withholds(finding)]
        if not withheld:
            return {}
        return substitutes(withheld, value, path, withhold, self.codec.parts)

    def _refuses(self, field: Field, finding: Finding) -> bool:
        if self.mode is Mode.STRICT:
            return True
        rule = field.rule
        asked = isinstance(rule, Keep) and rule.secrets == "refuse"
        return asked and self.mode is Mode.PROTECT and finding.kind.startswith("secret.")

    def _withholds(self, finding: Finding) -> bool:
        if self.mode is Mode.OBSERVE:
            return finding.kind == SECRET_TYPE
        return finding.kind.startswith("secret.")


def is_ours(field: Field) -> bool:
    """Tell whether a field holds nothing that a detector could find; see `OURS`."""
    return bool(field.metadata) and field.metadata[0] is OURS


def has_budget(field: Field) -> bool:
    """Tell whether a field's rule says how many bytes its value may have."""
    return isinstance(field.rule, Keep) and field.rule.max_bytes is not None


def allowed(field: Field, finding: Finding) -> bool:
    """Tell whether the field's own rule accepts a finding of this kind."""
    rule = field.rule
    if not isinstance(rule, Keep) or finding.kind == SECRET_TYPE:
        return False
    if finding.kind in rule.allow:
        return True
    return rule.secrets == "allow" and finding.kind.startswith("secret.")


def withhold(finding: Finding) -> Withheld:
    """Make the marker that is stored in place of a secret."""
    return Withheld(finding.kind, format_path(finding.path))


def refusal(findings: Sequence[Finding]) -> PolicyError:
    """Make the error that names every finding by path and kind."""
    first = findings[0]
    told, rest = findings[:_TOLD], len(findings[_TOLD:])
    places = ", ".join(f"{format_path(f.path)}: {f.kind} ({f.detail})" for f in told)
    more = f" and {rest} more" if rest else ""
    return PolicyError(
        f"what does not belong in a checkpoint: {places}{more}",
        code=f"policy.{first.kind.replace('.', '-')}",
        hint=first.advice,
    )
