"""The verdict on each field of a store: does it belong, why, and what does it cost?

The same reasons in the same order as for a declared contract; only that nothing is declared here:
what speaks is what was found in the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keepset.audit.ours.plain import withheld_kind
from keepset.audit.personal import PERSONAL
from keepset.audit.places import is_hosts
from keepset.audit.survey import Survey
from keepset.audit.tally import OTHERS, FieldTally, SpotTally, Tally
from keepset.contracts import Field, Keep, Refetch, Rule
from keepset.verdict import reasons, sentences
from keepset.verdict.field import FieldVerdict

_HALF: Final = 0.5
_ANY: Final = ("secret.", reasons.HANDLE, reasons.TEMPORARY)
"""Reasons that count wherever they are met; the others count where they speak of most values."""
_LARGE: Final = 65_536
_PART: Final = 0.5
_SOME: Final = 0.01
"""The share of a field's runs from which on personal data in it is no accident."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A field with its verdict and what it costs.

    Attributes:
        tally: What was counted.
        verdict: Keep it or leave it out.
        using: The field that it can be fetched by; empty where there is none.
        share: Its part of the bytes of all values.
        again: Bytes of its values that another run has as well.
        personal: How often personal data was found in it, by kind.
        is_personal: Whether so many of its runs have some that it is to be declared.
    """

    tally: FieldTally
    verdict: FieldVerdict
    using: str
    share: float
    again: int
    personal: Mapping[str, int] = field(default_factory=dict)
    is_personal: bool = False

    @property
    def name(self) -> str:
        """What a person calls it: the graph inside, if it is of one, and the field."""
        return f"{self.tally.graph}/{self.tally.field}" if self.tally.graph else self.tally.field

    @property
    def mean(self) -> int:
        """Bytes of one value."""
        return round(self.tally.bytes / self.tally.values) if self.tally.values else 0

    @property
    def growth(self) -> float:
        """Bytes by which it grows in a step."""
        return self.tally.growth / self.tally.grown if self.tally.grown else 0.0


def judged(found: Survey) -> list[Judged]:
    """Judge the fields of the state: those that do not belong first, then the dearest.

    What the host keeps for itself is not judged.
    """
    tally = found.tally
    total = sum(tally.value_bytes.values())
    again = tally.repeats.by_field()
    sources = _sources(tally)
    fields = []
    for one in tally.fields.values():
        if one.surface != "state" or is_hosts(one.field) or one.field == OTHERS:
            continue
        using = using_of(one)
        verdict = _verdict(one, using, sources.get((one.graph, one.field), ()), tally)
        share = one.bytes / total if total else 0.0
        personal, is_personal = _personal(tally, one)
        repeated = again.get(one.number, 0)
        fields.append(Judged(one, verdict, using, share, repeated, personal, is_personal))
    return sorted(fields, key=_order)


def _personal(whole: Tally, tally: FieldTally) -> tuple[dict[str, int], bool]:
    found = [one for one in spots_of(whole, tally) if one.kind.startswith(PERSONAL)]
    counts: dict[str, int] = {}
    for one in found:
        counts[one.kind] = counts.get(one.kind, 0) + one.copies
    return counts, any(one.runs >= _SOME * tally.runs for one in found)


def using_of(tally: FieldTally) -> str:
    """Name the field by which another one can be fetched in most runs; empty for none."""
    if not tally.beside or sum(tally.beside.values()) < _HALF * tally.asked:
        return ""
    return max(tally.beside, key=lambda name: tally.beside[name])


def _order(one: Judged) -> tuple[bool, int, int]:
    worst = reasons.rank(one.verdict.reason)
    return one.verdict.keep, worst if not one.verdict.keep else 0, -one.tally.bytes


def _sources(tally: Tally) -> dict[tuple[str, str], tuple[str, ...]]:
    sources: dict[tuple[str, str], tuple[str, ...]] = {}
    for one in tally.fields.values():
        using = using_of(one) if one.surface == "state" else ""
        if using:
            key = one.graph, using
            sources[key] = (*sources.get(key, ()), one.field)
    return sources


def _codes(tally: FieldTally, using: str) -> list[str]:
    codes = [
        code
        for code, count in tally.against.items()
        if code.startswith(_ANY) or count >= max(1.0, _HALF * tally.filled)
    ]
    codes += [reasons.BESIDE_IDS] if using else []
    codes += _withheld(tally)
    return sorted(codes, key=reasons.rank)


def _withheld(tally: FieldTally) -> list[str]:
    """Give the kinds of secrets in whose place a marker stands as the value of a field."""
    whole = tally.kinds.get("object", 0)
    return [
        kind
        for kind, count in ((withheld_kind(name), n) for name, n in tally.types.items())
        if reasons.is_secret(kind) and whole >= count >= max(1.0, _HALF * tally.filled)
    ]


def _verdict(tally: FieldTally, using: str, sources: tuple[str, ...], whole: Tally) -> FieldVerdict:
    mean = round(tally.bytes / tally.values) if tally.values else 0
    codes = _codes(tally, using)
    inside = [one for one in spots_of(whole, tally) if one.kind not in codes]
    also = dict.fromkeys([*codes[1:], *(one.kind for one in inside)])
    if codes:
        code = codes[0]
        why = sentences.against(code, _entry(tally, using), tally.details.get(code, ""), mean)
        if code in _withheld(tally):
            why = f"a secret, which was withheld ({code})"
        return FieldVerdict(
            tally.field,
            keep=False,
            reason=code,
            why=why,
            evidence="detected",
            bytes_now=mean,
            also=tuple(also),
        )
    why = _kept(tally, mean, sources)
    if inside:
        worst = min(inside, key=lambda one: (reasons.rank(one.kind), -one.copies))
        named = f" ({worst.detail})" if worst.detail else ""
        why = f"{why}; inside it, {worst.kind}{named} at {worst.place}"
    return FieldVerdict(
        tally.field,
        keep=True,
        reason=reasons.UNDECLARED,
        why=why,
        evidence="detected",
        bytes_now=mean,
        bytes_kept=mean,
        also=tuple(also),
    )


def spots_of(whole: Tally, tally: FieldTally) -> Iterable[SpotTally]:
    """Give what was found in a field."""
    return [
        one
        for one in whole.spots.values()
        if one.surface == tally.surface and one.field == tally.field
    ]


def _entry(tally: FieldTally, using: str) -> Field:
    """Make the field as it would be declared, so that the sentence gives the finding alone."""
    rule: Rule = Refetch(_load, using=using or "the ids")
    return Field(tally.field, Any, rule, declared=True, required=False)


def _load(*_: object) -> None:
    """Stand for a loader; it is never called."""


def _kept(tally: FieldTally, mean: int, sources: tuple[str, ...]) -> str:
    if tally.values and tally.values == tally.unreadable.get("encrypted", 0):
        return "encrypted: nothing can be said of it"
    if not tally.filled:
        return "it is always empty"
    flags = tally.flags >= _HALF * tally.filled
    if flags or sources:
        entry = Field(tally.field, Any, Keep(), declared=True, required=True)
        return sentences.declared(entry, size=mean, sources=sources, is_flags=flags)
    if mean >= _LARGE:
        return f"nothing was found against it but its size ({sentences.size(mean)})"
    return "nothing was found against it"
