"""What a host says of a step, on its way to the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepset.contracts import Field, Keep
from keepset.plan.guard import Guard
from keepset.scan import Finding

METADATA = Field("metadata", dict, Keep(), declared=True, required=False)
"""The rule of all metadata, whatever fields a state has."""


def pack_metadata(
    guard: Guard, metadata: Mapping[str, Any], own: Mapping[str, Any] | None = None
) -> tuple[bytes, list[Finding]]:
    """Pack a step's metadata, through the detectors; no bytes for none.

    Args:
        guard: The detectors, with the codec.
        metadata: The metadata.
        own: What the host itself adds to it of names and times, which is stored as it is.

    Returns:
        The packed mapping and what was found in it.

    Raises:
        PolicyError: Something in it cannot be stored or does not belong.
    """
    if not metadata and not own:
        return b"", []
    path, value = (METADATA.name,), dict(metadata)
    findings = _looked(guard, value)
    put = dict(guard.decide(METADATA, value, path, findings))
    kept: Any = put.pop(path, value)  # a key that is a secret is masked in a mapping of its own
    return guard.codec.pack({**kept, **(own or {})}, path, substitute=put or None), findings


def _looked(guard: Guard, value: dict[str, Any]) -> list[Finding]:
    """Look at each entry alone, which is quicker, and at all of it where there is something."""
    path = (METADATA.name,)
    found = guard.look_around(METADATA, value)
    for key, part in () if found else value.items():
        # Most texts are those of the step before, by whose bytes they are known.
        packed = guard.codec.pack(part, path) if type(part) is str else None
        found = guard.look(METADATA, part, (*path, key), packed)
        if found:
            break
    return guard.look(METADATA, value, path) if found else []
