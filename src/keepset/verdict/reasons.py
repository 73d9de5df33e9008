"""Why a field is kept or left out: reason codes, in the order in which they decide.

A detector's finding and the codec's refusal bring their own codes (``secret.name``,
``codec.unknown-type``). A code that begins with ``declared.`` is the contract's own word.
"""

from __future__ import annotations

SERIALISE = "codec."
"""Prefix of the codes with which the codec refuses a value."""
HANDLE = "handle"
_SECRET = "secret."  # noqa: S105 - the prefix of reason codes
TEMPORARY = "path.temporary"
BESIDE_IDS = "content.beside-ids"
RESPONSE = "response.object"
OVERSIZE = "size.over-budget"
DECLARED = "declared."
UNDECLARED = "undeclared"
ABSENT = "absent"

_ORDER = (SERIALISE, HANDLE, _SECRET, TEMPORARY, BESIDE_IDS, RESPONSE, OVERSIZE)


def rank(code: str) -> int:
    """Say where a reason stands among those that decide; the lowest decides.

    What cannot be serialised comes first, then secrets, temporary paths, content beside its ids
    and response objects, size, and last what a contract declares.
    """
    for position, known in enumerate(_ORDER):
        if code == known or (known.endswith(".") and code.startswith(known)):
            return position
    return len(_ORDER)


def is_secret(code: str) -> bool:
    """Say whether a reason is one of the kinds of secret."""
    return code.startswith(_SECRET)


def is_unserialisable(code: str) -> bool:
    """Say whether a reason is that a value cannot be turned into bytes and back."""
    return code == HANDLE or code.startswith(SERIALISE)
