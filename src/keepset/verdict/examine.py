"""Examine the real values of a state: detectors and codec, side by side, for `judge`.

Pure: the detectors and the codec are given, nothing is opened, fetched or written.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from keepset.codec import Withheld, format_path
from keepset.contracts import Extract, Keep
from keepset.errors import PolicyError
from keepset.scan import substitutes
from keepset.verdict.field import Examined, Verdicts, judge
from keepset.verdict.reasons import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keepset.codec import Codec, Path
    from keepset.contracts import Field
    from keepset.scan import Finding, Scanner


class Declares(Protocol):
    """What declares fields, as a contract does."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its fields by name."""
        ...


def verdicts_on(  # noqa: PLR0913 - two of the six only multiply the costs
    contract: Declares,
    values: Mapping[str, object],
    scanner: Scanner,
    codec: Codec,
    *,
    steps: int = 1,
    runs: int = 1,
) -> Verdicts:
    """Judge every field of a contract on the real values of a state.

    Args:
        contract: The contract.
        values: The values of the state, live ones included; fields may be missing.
        scanner: The detectors.
        codec: The codec that knows the contract's classes.
        steps: Checkpoints per run, for the costs.
        runs: Number of runs, for the costs.
    """
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in scanner.beside(values):
        found[str(finding.path[0])].append(finding)
    examined = {}
    for name, value in values.items():
        found[name] += scanner.leaves(value, (name,), name=name, parts=codec.parts)
        examined[name] = _examine(contract.fields[name], value, found[name], codec)
    return judge(contract.fields, examined, steps=steps, runs=runs)


def _examine(entry: Field, value: object, found: list[Finding], codec: Codec) -> Examined:
    path: Path = (entry.name,)
    refusal: PolicyError | None = None
    now = kept = 0
    try:
        now = len(codec.pack(value, path))
        if isinstance(entry.rule, Keep | Extract):
            kept = _kept(entry, value, found, codec)
    except PolicyError as error:
        refusal = error
    return Examined(
        findings=tuple(dict.fromkeys(found)),
        children=_children(value, codec),
        bytes_now=now,
        bytes_kept=kept,
        refusal=refusal,
        is_flags=_is_flags(value),
    )


def _kept(entry: Field, value: object, found: list[Finding], codec: Codec) -> int:
    """Measure what is stored of a value: its secrets are replaced by markers."""
    path: Path = (entry.name,)
    secrets = [finding for finding in found if is_secret(finding.kind)]
    if not secrets or (isinstance(entry.rule, Keep) and entry.rule.secrets == "allow"):
        return len(codec.pack(value, path))
    instead = substitutes(secrets, value, path, _marker, codec.parts)
    return len(codec.pack(value, path, substitute=instead))


def _marker(finding: Finding) -> Withheld:
    return Withheld(finding.kind, format_path(finding.path))


def _children(value: object, codec: Codec) -> tuple[str | int, ...]:
    if isinstance(value, dict):
        return tuple(key for key in value if isinstance(key, str | int))
    if isinstance(value, list):
        return tuple(range(len(value)))
    try:
        return tuple(element for element, _ in codec.parts(value) or ())
    except PolicyError:
        return ()


def _is_flags(value: object) -> bool:
    """Say whether a record is made of flags and counters only, at least one flag among them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, dict):
        inner = list(value.values())
    else:
        return isinstance(value, bool)
    kinds = {type(item) for item in inner}
    return bool in kinds and kinds <= {bool, int}
