"""What was seen in one value, small enough to be remembered for when it comes again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from keepset.verdict import reasons

K = TypeVar("K")

LEFTOVER: Final = "repr.leftover"
"""Code of a text that an object left behind: ``<Client object at 0x…>``."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One kind of thing at one place.

    Attributes:
        kind: Its reason code.
        place: Where, with stars for positions.
        detail: The rule, type or name that it was found by; no value.
    """

    kind: str
    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in a value.

    Attributes:
        spots: What was found, with how often.
        against: Codes that speak against the value as a whole, with what they were found by.
        types: What a load would import and call.
        unreadable: Reasons for which parts could not be read.
        metadata: Bytes of response metadata by key.
        kind: What the value is: ``text``, ``number``, ``list``, ``object`` and so on.
        is_flags: Whether it is made of flags and counters only.
        is_empty: Whether there is nothing in it.
    """

    spots: Mapping[Spot, int]
    against: Mapping[str, str]
    types: Mapping[str, int]
    unreadable: Mapping[str, int]
    metadata: Mapping[str, int]
    kind: str = "null"
    is_flags: bool = False
    is_empty: bool = False


_KINDS: Final = {
    str: "text",
    bool: "flag",
    int: "integer",
    float: "number",
    bytes: "bytes",
    list: "list",
    tuple: "list",
    dict: "mapping",
    type(None): "null",
}


def kind_of(value: object) -> str:
    """Name what a value is."""
    return _KINDS.get(type(value), "other")


def is_flags(value: object) -> bool:
    """Tell whether a value is a flag, or a mapping of flags and counters with a flag among them."""
    if type(value) is dict:
        kinds = {type(item) for item in value.values()}
        return bool in kinds and kinds <= {bool, int}
    return type(value) is bool


def together(parts: Sequence[Seen], kind: str) -> Seen:
    """Put together what was seen in the items of a list.

    What speaks against the whole is what speaks against each of its items; but a list of a model's
    answers is a conversation, of which only the metadata can be left out.
    """
    first, *rest = parts
    against = {code: what for code, what in first.against.items() if code != reasons.RESPONSE}
    for one in rest:
        if not against:
            break
        against = {code: detail for code, detail in against.items() if code in one.against}
    return Seen(
        spots=_added(one.spots for one in parts),
        against=against,
        types=_added(one.types for one in parts),
        unreadable=_added(one.unreadable for one in parts),
        metadata=_added(one.metadata for one in parts),
        kind=kind,
    )


def _added(counts: Iterable[Mapping[K, int]]) -> dict[K, int]:
    total: dict[K, int] = {}
    for count in counts:
        for key, number in count.items():
            total[key] = total.get(key, 0) + number
    return total
