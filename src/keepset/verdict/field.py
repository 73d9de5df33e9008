"""Judge each field of a state: keep it or leave it out, why, on what evidence, at what cost.

`judge` is pure. It takes what others found out (the contract's rules, the findings of the
detectors, what the codec made of each value) and weighs it; it looks up nothing by the name of a
field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from keepset.contracts import Extract, Field, Keep, Refetch
from keepset.verdict import reasons, sentences
from keepset.verdict.table import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from keepset.errors import PolicyError
    from keepset.scan import Finding

Evidence: TypeAlias = Literal["declared", "detected", "proven"]


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found out about one value.

    Attributes:
        findings: What the detectors found in it. A finding on the field itself, or one on each of
            its children, counts against the field; any other one stands inside it.
        children: First path elements below the field, to tell "all items" from "one of them".
        bytes_now: Bytes of the value as it stands in the state, which is what a saver that
            stores everything writes; 0 where the codec refuses it.
        bytes_kept: Bytes of it that a checkpoint of this contract holds.
        refusal: The codec's error where it refuses the value.
        is_flags: Whether the value is made of flags and counters only.
    """

    findings: tuple[Finding, ...] = ()
    children: tuple[str | int, ...] = ()
    bytes_now: int = 0
    bytes_kept: int = 0
    refusal: PolicyError | None = None
    is_flags: bool = False


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """What becomes of one field.

    Attributes:
        field: Its name.
        keep: Whether it belongs in a checkpoint.
        reason: The code of the reason that decides (see `keepset.verdict.reasons`).
        why: The same as a sentence, without any value.
        evidence: ``declared`` (the contract says so), ``detected`` (a detector or the codec found
            it on a real value) or ``proven`` (resuming without it was measured).
        bytes_now: Bytes of the value as it stands in the state; 0 where it has none.
        bytes_kept: Bytes of it in a checkpoint.
        also: Codes of further reasons, in the order in which they would decide.
    """

    field: str
    keep: bool
    reason: str
    why: str
    evidence: Evidence
    bytes_now: int = 0
    bytes_kept: int = 0
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on all fields of a state, in the order of the contract.

    Attributes:
        fields: One verdict per field.
        steps: Checkpoints that a run writes, by which bytes are multiplied.
        runs: Runs, by which bytes are multiplied.
    """

    fields: tuple[FieldVerdict, ...]
    steps: int = 1
    runs: int = 1

    @property
    def kept(self) -> int:
        """How many fields belong in a checkpoint."""
        return sum(verdict.keep for verdict in self.fields)

    @property
    def bytes_now(self) -> int:
        """Bytes of one step when everything that can be serialised is stored whole."""
        return sum(verdict.bytes_now for verdict in self.fields)

    @property
    def bytes_kept(self) -> int:
        """Bytes of one step when only what belongs is stored, each field whole."""
        return sum(verdict.bytes_kept for verdict in self.fields)

    def __str__(self) -> str:
        """Give the table ``candidate | keep | why`` with the count below it."""
        return as_text(self)

    def cost(self, size: int) -> int:
        """Give what `size` bytes in a step cost: bytes x steps x runs."""
        return size * self.steps * self.runs


@dataclass(frozen=True, slots=True)
class _Case:
    """All that is known of one field, gathered for the decision."""

    entry: Field
    facts: Examined
    against: tuple[Finding, ...]
    inside: tuple[Finding, ...]
    sources: tuple[str, ...] = ()


def judge(
    fields: Mapping[str, Field],
    examined: Mapping[str, Examined],
    *,
    steps: int = 1,
    runs: int = 1,
) -> Verdicts:
    """Judge every field of a contract.

    Args:
        fields: The contract's fields by name.
        examined: What was found out about each value; a field that is missing has no value.
        steps: Checkpoints per run, for the costs.
        runs: Number of runs, for the costs.

    Returns:
        The verdicts in the order of `fields`.
    """
    verdicts = []
    for name, entry in fields.items():
        facts = examined.get(name, Examined())
        against, inside = _weigh(name, facts)
        case = _Case(entry, facts, against, inside, _fetched_from(name, fields))
        verdicts.append(_verdict(case, has_value=name in examined))
    return Verdicts(tuple(verdicts), steps, runs)


def _weigh(name: str, facts: Examined) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Part findings into those against the whole field and those about something inside it."""
    found = sorted(facts.findings, key=lambda finding: reasons.rank(finding.kind))
    full = {kind for kind in {f.kind for f in found} if _is_everywhere(kind, facts)}
    against = tuple(f for f in found if f.kind in full or (f.path == (name,) and f.whole))
    return against, tuple(f for f in found if f not in against)


def _is_everywhere(kind: str, facts: Examined) -> bool:
    """Say whether every child of a value has a finding of this kind as a whole."""
    hit = {f.path[1] for f in facts.findings if f.kind == kind and len(f.path) > 1 and f.whole}
    return bool(facts.children) and hit >= set(facts.children)


def _fetched_from(name: str, fields: Mapping[str, Field]) -> tuple[str, ...]:
    """Name the fields that are fetched again from this one."""
    return tuple(
        other
        for other, entry in fields.items()
        if isinstance(entry.rule, Refetch) and name in sentences.using(entry.rule)
    )


def _verdict(case: _Case, *, has_value: bool) -> FieldVerdict:
    entry, facts = case.entry, case.facts
    codes = _codes(case)
    allowed = entry.rule.allow if isinstance(entry.rule, Keep) else ()
    deciding = next((c for c in codes if not _is_declaration(c) and c not in allowed), None)
    evidence: Evidence = "declared"
    if deciding is not None:
        reason, keep, evidence = deciding, False, "detected"
        why = sentences.against(reason, entry, _detail(case, reason), facts.bytes_now)
    else:
        reason, keep = _declaration(entry), isinstance(entry.rule, Keep | Extract)
        why = _declared_sentence(case, has_value=has_value)
    also = tuple(dict.fromkeys(c for c in (*codes, *_kinds(case.inside)) if c != reason))
    sizes = (facts.bytes_now, facts.bytes_kept)
    return FieldVerdict(entry.name, keep, reason, why, evidence, *sizes, also=also)


def _declared_sentence(case: _Case, *, has_value: bool) -> str:
    why = sentences.declared(
        case.entry,
        size=case.facts.bytes_now,
        sources=case.sources,
        is_flags=case.facts.is_flags,
    )
    notes = [sentences.inside(f.kind, f.path, f.detail) for f in case.inside[:1]]
    if not has_value:
        notes.append("it has no value here")
    return "; ".join((why, *notes))


def _codes(case: _Case) -> list[str]:
    """Give the codes of all reasons about the whole field, the deciding one first."""
    codes = list(_kinds(case.against))
    if case.facts.refusal is not None:
        codes.append(case.facts.refusal.code)
    codes = sorted(dict.fromkeys(codes), key=reasons.rank)
    return [*codes, _declaration(case.entry)]


def _kinds(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.kind for finding in found))


def _detail(case: _Case, reason: str) -> str:
    if reasons.is_unserialisable(reason):
        handle = next((f.detail for f in case.against if f.kind == reasons.HANDLE), "")
        return handle or (case.facts.refusal.message if case.facts.refusal else "")
    return next((f.detail for f in case.against if f.kind == reason), "")


def _declaration(entry: Field) -> str:
    if not entry.declared:
        return reasons.UNDECLARED
    return reasons.DECLARED + type(entry.rule).__name__.lower()


def _is_declaration(code: str) -> bool:
    return code == reasons.UNDECLARED or code.startswith(reasons.DECLARED)
