"""Tell whether a stored difference only adds behind what was there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keepset.delta.change import Code

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_EDIT = 3


def only_adds(count: int, keys: Collection[object], op: Sequence[object]) -> bool:
    """Tell whether an op that stands on a version before it leaves all that this held as it was.

    Args:
        count: How many items, entries or code points that version had.
        keys: The keys of that version, where it was a mapping.
        op: The unpacked op; it was applied, so that it is known to be one.
    """
    code, *rest = op
    if code == Code.ALL:
        return all(isinstance(one, list) and only_adds(count, keys, one) for one in rest)
    if code == Code.PLACE:  # fills in large units that another op has brought in
        return True
    if code == Code.MAP:
        gone, sets, *last = rest
        return not gone and not last and isinstance(sets, dict) and not sets.keys() & set(keys)
    if code not in {Code.LIST, Code.TEXT}:
        return False
    places = rest[::_EDIT]
    return not any(rest[1::_EDIT]) and all(isinstance(at, int) and at >= count for at in places)
