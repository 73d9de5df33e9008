"""What packed ops say without being unpacked: which of them stand alone, and what they add up to.

An op is a packed array that begins with its code (see `keepset.delta.change`), so that its first
bytes tell what it is: https://github.com/msgpack/msgpack/blob/master/spec.md has the format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from keepset.codec import array_header
from keepset.delta.change import Code, number
from keepset.delta.frozen import Frozen, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

_FIX_ARRAY, _FIX_STR = 0x90, 0xA0
_CODE_AT = {0xDC: 3, 0xDD: 5, **dict.fromkeys(range(_FIX_ARRAY + 1, _FIX_STR), 1)}
_ALONE = frozenset({Code.WHOLE, Code.ABSENT, Code.BLOB})
_WHOLE = array_header(2) + bytes([Code.WHOLE])
_EDIT = array_header(4) + bytes([Code.LIST])
_NUMBER = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_SMALL = 0x80
_NOTHING = b"\0"
_LONGEST_HEADER = 5


def begins_alone(op: bytes | Raw) -> bool:
    """Tell from the first bytes of a packed op whether it makes its value from nothing."""
    view = memoryview(op)
    at = _CODE_AT.get(view[0]) if view else None
    return at is not None and at < len(view) and view[at] in _ALONE


def joined(ops: Sequence[bytes | Raw]) -> bytes | None:
    """Give the packed value that ops make, where it can be cut out of them.

    Args:
        ops: Packed ops of which the first stands alone.

    Returns:
        The packed value where the first op brings a value without large units, and each other one
        puts items at the end of what is then a list; None for anything else.
    """
    whole = bytes(ops[0])
    if not whole.startswith(_WHOLE):
        return None
    value = Frozen(whole[len(_WHOLE) :])
    if len(ops) == 1:
        return value.data
    if value.kind is not Kind.LIST:
        return None
    count, pieces = value.count, [memoryview(value.data)[value.start :]]
    for op in ops[1:]:
        view = memoryview(op)
        prefix = b"".join((_EDIT, number(count), _NOTHING))
        head = bytes(view[: len(prefix) + _LONGEST_HEADER])
        if not head.startswith(prefix):
            return None
        items = Frozen(head[len(prefix) :])
        if items.kind is not Kind.LIST:
            return None
        count += items.count
        pieces.append(view[len(prefix) + items.start :])
    return b"".join((array_header(count), *pieces))


def _put(op: bytes) -> tuple[int, Frozen] | None:
    """Give the items, as a packed list, that an op puts into a list at one place, and the place."""
    if not op.startswith(_EDIT):
        return None
    begin = len(_EDIT)
    width = _NUMBER.get(op[begin], 0)
    end = begin + 1 + width
    at = int.from_bytes(op[begin + 1 : end], "big") if width else op[begin]
    if (not width and at >= _SMALL) or op[end : end + 1] != _NOTHING:
        return None
    items = Frozen(op[end + 1 :])
    return (at, items) if items.kind is Kind.LIST else None


def brought_in(op: bytes) -> tuple[int | None, Frozen] | None:
    """Give what an op brings in, where that is in one piece.

    Returns:
        None and the whole value; or an index and, as a packed list, the items that are there from
        then on. None alone for any other op.
    """
    if op.startswith(_WHOLE):
        return None, Frozen(op[len(_WHOLE) :])
    return _put(op)
