"""The sentences of verdicts: each says why in words that a tired person understands.

They name types, rules and fields, never a value.
"""

from __future__ import annotations

from keepset.codec.path import Path, format_path
from keepset.contracts import Drop, Extract, Field, Keep, Refetch, Reopen, Scratch, Secret
from keepset.verdict import reasons


def using(rule: Refetch) -> tuple[str, ...]:
    """Name the fields that a value is fetched again from."""
    return (rule.using,) if isinstance(rule.using, str) else tuple(rule.using)


def size(count: int) -> str:
    """Write a number of bytes for a person: ``412 B``, ``183.4 KB`` (powers of 1000)."""
    if count < 1000:  # noqa: PLR2004 - the step from one unit to the next
        return f"{count} B"
    amount = float(count)
    for unit in ("KB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.95:  # noqa: PLR2004 - above it, one digit would print as 1000.0
            return f"{amount:.1f} {unit}"
    return f"{amount / 1000:.1f} PB"


def against(code: str, entry: Field, detail: str, count: int) -> str:
    """Say why a value must not be stored, and what becomes of it instead.

    Args:
        code: The reason that decides.
        entry: The field and its rule.
        detail: A type name or the id of a detector's rule.
        count: Bytes of the value.
    """
    said = _found(code, entry, detail, count)
    if not entry.declared:
        return f"{said}; no rule is declared: {_advice(code)}"
    if isinstance(entry.rule, Keep):
        return f"{said}; it is declared Keep: {_advice(code)}"
    return said


def _found(code: str, entry: Field, detail: str, count: int) -> str:
    ids = " and ".join(using(entry.rule)) if isinstance(entry.rule, Refetch) else "the ids"
    said = {
        "serialise": f"cannot be serialised ({detail}), and stale on resume",
        "secret": f"a secret in a durable store ({detail})",
        reasons.TEMPORARY: "the file may be gone after a restart",
        reasons.BESIDE_IDS: f"large ({size(count)}), and fetched again from {ids}",
        reasons.RESPONSE: f"a whole model response ({detail}) where one extracted part is enough",
        reasons.OVERSIZE: f"over its budget ({size(count)})",
    }
    return said.get(_group(code), f"{code} ({detail})" if detail else code)


def _advice(code: str) -> str:
    advice = {
        "serialise": "use Reopen(factory), or register its type",
        "secret": "use Secret(reference)",
        reasons.TEMPORARY: "use Scratch(factory)",
        reasons.BESIDE_IDS: "use Refetch(load, using=...)",
        reasons.RESPONSE: "use Extract(path)",
    }
    return advice.get(_group(code), "store a reference, or raise max_bytes")


def _group(code: str) -> str:
    """Name what a code has in common with others that are said in the same words."""
    if reasons.is_unserialisable(code):
        return "serialise"
    return "secret" if reasons.is_secret(code) else code


_DECLARED: dict[type, str] = {
    Drop: "not needed to resume",
    Extract: "only what is extracted is kept",
    Reopen: "opened again on resume",
    Scratch: "made afresh on resume",
    Secret: "a secret: its reference is kept, never its value",
}


def declared(entry: Field, *, size: int, sources: tuple[str, ...], is_flags: bool) -> str:
    """Say what a contract declares about a field when nothing speaks against it.

    Args:
        entry: The field and its rule.
        size: Bytes of the value.
        sources: Fields that are fetched again from this one.
        is_flags: Whether the value is made of flags and counters only.
    """
    rule = entry.rule
    if isinstance(rule, Keep):
        return _kept(entry, size, sources, is_flags=is_flags)
    if isinstance(rule, Refetch):
        return f"fetched again from {' and '.join(using(rule))}"
    return _DECLARED[type(rule)]


def _kept(entry: Field, count: int, sources: tuple[str, ...], *, is_flags: bool) -> str:
    if not entry.declared:
        return "no rule is declared, so it is kept"
    if sources:
        others = " and ".join(sources)
        return f"small ({size(count)}), and fetching again may give others: {others} come by it"
    if is_flags:
        return "resume is wrong without it: it says what was already tried and done"
    return "needed to resume"


def inside(code: str, path: Path, detail: str) -> str:
    """Say what stands inside a field that is kept; it is withheld or reported there."""
    named = f" ({detail})" if detail else ""
    return f"inside it, {code}{named} at {format_path(path)}"
