"""A difference as it is written: a packed array, the code of what to do first.

The units that it brings in (list items, entries of a mapping, a whole atom or text) stand in it as
the codec packed them; nothing is packed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import ormsgpack

from keepset.codec import array_header
from keepset.delta.frozen import Frozen, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from keepset.codec import Buffer, Path

    Move: TypeAlias = Callable[[Buffer], bytes]

LARGE = 64 * 1024
"""A packed unit of more bytes than this goes through `move`."""


class Code(IntEnum):
    """What an op does; the numbers are stored and never change.

    After the code follow, in the packed array of the op:

    * `WHOLE`: the value; then of each of its large units its place (index or key) and `BlobRef`.
    * `ABSENT`: nothing.
    * `LIST`, `TEXT`: of each edit its position in the old value, how many items or code points it
      takes away there, and the items or the text that it puts there.
    * `MAP`: the keys taken away; a mapping of what is set; where the order needs it, the keys that
      are then put last, in order.
    * `INSIDE`: of each child that changes in part its index or key, and an op.
    * `ALL`: ops, to be done one after another.
    * `BLOB`: the `BlobRef` of a value that is one large unit.
    * `PLACE`: places and their `BlobRef`, as in `WHOLE`.
    """

    WHOLE = 0
    ABSENT = 1
    LIST = 2
    MAP = 3
    TEXT = 4
    INSIDE = 5
    ALL = 6
    BLOB = 7
    PLACE = 8


class Change(NamedTuple):
    """One field's difference against its version before.

    Attributes:
        op: The packed op.
        touched: Paths, relative to the field, of the units that hold new content: ``(3,)`` for an
            item, ``("key",)`` for an entry, ``()`` where all of the value is new content.
            Empty where the change only takes away or reorders.
        is_whole: Whether the op stands on nothing before it.
        size: Bytes that the change brings in: those of `op` before large units were moved out.
    """

    op: bytes
    touched: tuple[Path, ...]
    is_whole: bool
    size: int


@dataclass(slots=True)
class Draft:
    """An op that is not put together yet.

    Attributes:
        pieces: Frames and units; empty where all that changes is inside of children.
        large: Of each unit over `LARGE` its number in `pieces`, and the index or key at which it
            is in the new value.
        inside: Of each child that changes in part its index or key in the old value, and how.
        touched: Indices or keys in the new value that hold new content.
        everywhere: Whether the change is not one of units (a text), instead of `touched`.
    """

    pieces: list[Buffer] = field(default_factory=list)
    large: dict[int, int | str] = field(default_factory=dict)
    inside: list[tuple[int | str, Draft]] = field(default_factory=list)
    touched: list[int | str] = field(default_factory=list)
    everywhere: bool = False

    def unit(self, place: int | str, data: Buffer) -> None:
        """Add a unit that is at `place` in the new value."""
        if len(data) > LARGE:
            self.large[len(self.pieces)] = place
        self.pieces.append(data)

    def part(self, place: int | str, raw: msgspec.Raw) -> None:
        """Add a unit that is a part of a packed value; a large one is not copied."""
        view = memoryview(raw)
        self.unit(place, view if len(view) > LARGE else bytes(view))

    def size(self) -> int:
        """Give the bytes of the op with all units in it, or a few more."""
        inner = sum(_KEY + _key_size(key) + draft.size() for key, draft in self.inside)
        return sum(map(len, self.pieces)) + inner + (_NESTED if self.inside else 0)

    def smaller_than(self, size: int) -> bool:
        """Tell whether this is an op at all (bytes may differ where values do not), and small."""
        return bool(self.pieces or self.inside) and self.size() < size

    def paths(self) -> tuple[Path, ...]:
        """Give the paths of what is new."""
        return ((),) if self.everywhere else tuple((place,) for place in self.touched)


_KEY, _NESTED = 5, 8
_ABSENT_OP = array_header(1) + bytes([Code.ABSENT])

ABSENT = Change(_ABSENT_OP, (), is_whole=True, size=len(_ABSENT_OP))
"""The change of a field that went away."""


def frame(count: int, code: Code) -> bytes:
    """Give the head of an op of `count` elements, the code included."""
    return array_header(count) + bytes([code])


def number(value: int) -> bytes:
    """Pack a position or a count."""
    packed: bytes = ormsgpack.packb(value)
    return packed


_WHOLE = frame(2, Code.WHOLE)


def whole(new: Frozen, move: Move | None = None) -> Change:
    """Write a value whole.

    Args:
        new: The value.
        move: Takes each packed unit of more than `LARGE` bytes and gives the packed `BlobRef` that
            stands for it; None keeps all units in the op.

    Returns:
        A change with `is_whole`.
    """
    data = new.data
    op = _WHOLE + data if move is None or len(data) <= LARGE else _moved(new, _WHOLE, move)
    return Change(op, ((),), is_whole=True, size=len(_WHOLE) + len(data))


def render(draft: Draft, move: Move | None) -> bytes:
    """Put an op together."""
    ops: list[bytes] = []
    if draft.inside:
        parts = [frame(1 + 2 * len(draft.inside), Code.INSIDE)]
        for key, inner in draft.inside:
            parts += (ormsgpack.packb(key), render(inner, move))
        ops.append(b"".join(parts))
    if draft.pieces:
        ops += _with_moved(draft, move)
    if len(ops) == 1:
        return ops[0]
    return frame(1 + len(ops), Code.ALL) + b"".join(ops)


def _with_moved(draft: Draft, move: Move | None) -> list[bytes]:
    """Give the op of `pieces`, large ones replaced by nil, and the op that fills those places."""
    if move is None or not draft.large:
        return [b"".join(draft.pieces)]
    places = _places(draft, move)
    return [b"".join(draft.pieces), b"".join([frame(1 + len(places), Code.PLACE), *places])]


def _places(draft: Draft, move: Move) -> list[bytes]:
    """Move the large units out of `draft`; give their packed places and references in turns."""
    places: list[bytes] = []
    for at, place in draft.large.items():
        places += (ormsgpack.packb(place), move(draft.pieces[at]))
        draft.pieces[at] = ormsgpack.packb(None)
    return places


def _moved(new: Frozen, head: bytes, move: Move) -> bytes:
    draft = Draft([new.data[: new.start]])
    items = new.items() if new.kind is Kind.LIST else None
    entries = new.entries() if new.kind is Kind.MAP else None
    if items is not None:
        for index, item in enumerate(items):
            draft.part(index, item)
    elif entries is not None:
        for key, value in entries.items():
            draft.pieces.append(ormsgpack.packb(key))
            draft.part(key, value)
    else:
        return frame(2, Code.BLOB) + move(new.data)
    if not draft.large:
        return head + new.data
    places = _places(draft, move)
    return b"".join([frame(2 + len(places), Code.WHOLE), *draft.pieces, *places])


def _key_size(key: int | str) -> int:
    return len(key) * 4 if isinstance(key, str) else 0
