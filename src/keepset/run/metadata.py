"""What a host says of a step, on its way to the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepset.contracts import Field, Keep
from keepset.plan.guard import Guard
from keepset.scan import Finding

_FIELD = Field("metadata", dict, Keep(), declared=True, required=False)


def pack_metadata(guard: Guard, metadata: Mapping[str, Any]) -> tuple[bytes, list[Finding]]:
    """Pack a step's metadata, through the detectors; no bytes for none.

    Returns:
        The packed mapping and what was found in it.

    Raises:
        PolicyError: Something in it cannot be stored or does not belong.
    """
    if not metadata:
        return b"", []
    path, value = (_FIELD.name,), dict(metadata)
    findings = guard.look(_FIELD, value, path)
    put = guard.decide(_FIELD, value, path, findings)
    return guard.codec.pack(value, path, substitute=put or None), findings
