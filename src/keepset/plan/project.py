"""From a state to the values that its rules let into the store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from keepset.codec import Codec, Path
from keepset.contracts import Contract, Refetch
from keepset.delta import Hashed
from keepset.plan.memory import LineMemory

_ALL_GIVEN: Final = Codec(opaque=True, all_given=True)


def pin_name(field: str) -> str:
    """The name under which the digest of a pinned field is stored; no field can have it."""
    return f"{field}#pin"


def is_pin(name: str) -> bool:
    """Tell whether a stored name is that of a pinned digest."""
    return name.endswith("#pin")


def pin_of(name: str, value: Any, codec: Codec) -> bytes:
    """Digest of a value that is not stored: SHA-256, 16 bytes.

    It is taken of the packed form; of a list, of the digests of its items in order of the digests,
    since a loader may give the same documents in another order.

    Raises:
        PolicyError: The value cannot be packed, so that it cannot be compared later.
    """
    return _digest(name, value, codec.pack)


def is_pinned(name: str, value: Any, pinned: bytes, codec: Codec) -> bool:
    """Tell whether a value has the content of which a digest was taken.

    Which fields of a pydantic model were given is no content: another saver does not keep it, so
    that of what came from there all count as given.
    """
    if pinned == pin_of(name, value, codec):
        return True
    return pinned == _digest(name, value, lambda *one: _filled(codec.pack(*one)))


def _filled(packed: bytes) -> bytes:
    return _ALL_GIVEN.pack(_ALL_GIVEN.unpack(packed))


def _digest(name: str, value: Any, pack: Callable[[Any, Path], bytes]) -> bytes:
    if type(value) is not list:
        return hashlib.sha256(pack(value, (name,))).digest()[:16]
    items = (pack(item, (name, index)) for index, item in enumerate(value))
    digests = sorted(hashlib.sha256(item).digest() for item in items)
    return hashlib.sha256(b"list" + b"".join(digests)).digest()[:16]


def project(contract: Contract, values: Mapping[str, Any], codec: Codec) -> dict[str, Any]:
    """Leave out what is not stored, and add the digests of what is pinned.

    Args:
        contract: The contract.
        values: The state's values, with `Extract`, `Drop` and `without` applied.
        codec: The codec of the contract.
    """
    if contract.keeps_all:
        return dict(values)
    stored: dict[str, Any] = {}
    for name, value in values.items():
        spec = contract.fields.get(name)  # a host's channel that the contract does not know is kept
        if spec is None or spec.rule.stored:
            stored[name] = value
        elif isinstance(spec.rule, Refetch) and spec.rule.pin is not None:
            stored[pin_name(name)] = pin_of(name, value, codec)
    return stored


def carried(
    contract: Contract, values: Mapping[str, Any], memory: LineMemory, codec: Codec
) -> dict[str, Any]:
    """Give the digests of pinned fields that a host does not have at the moment, to keep them.

    A host that changes a state without resuming it does not restore its fields, and does not mean
    to remove them.

    Args:
        contract: The contract.
        values: The fields that the host has.
        memory: What is known of the line.
        codec: The codec of the contract.
    """
    found: dict[str, Any] = {}
    for name, spec in contract.fields.items():
        if isinstance(spec.rule, Refetch) and spec.rule.pin is not None and name not in values:
            known = memory.fields.get(pin_name(name))
            if known is not None and not isinstance(known.stored, Hashed | None):
                found[pin_name(name)] = codec.unpack(known.stored.packed())
    return found
