"""Which runs of a sequence were replaced by which.

Written for what happens to the lists and texts of a workflow: append, drop the head, drop a run
behind a fixed head, replace in place, insert and delete in the middle. It is linear but for a
binary search per mismatch, and not minimal: for a general reordering it gives a poor script, which
is then larger than the value and not used.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import compress, count, islice
from operator import ne
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Piece = TypeVar("Piece")
Packed = TypeVar("Packed", bytes, str)
Where: TypeAlias = "Mapping[Packed, Sequence[int]]"

_FEW = 8
"""So many replaced in place of a long list are taken as that; nothing is searched that moved."""

_FRAME = 6
"""About the bytes that one edit costs beside what it inserts."""


class Edit(NamedTuple):
    """One run replaced: `deleted` items of old from `at` by items `start` to `stop` of new."""

    at: int
    deleted: int
    start: int
    stop: int


def strip(old: Sequence[object] | str, new: Sequence[object] | str) -> tuple[int, int]:
    """Count the elements that two sequences share at the head, and of the rest at the tail."""
    limit = min(len(old), len(new))
    head = run(old, 0, new, 0)
    end, stop = len(old), len(new)
    tail = _longest(
        limit - head, lambda k, n: old[end - k - n : end - k] == new[stop - k - n : stop - k]
    )
    return head, tail


def run(old: Sequence[object] | str, i: int, new: Sequence[object] | str, j: int) -> int:
    """Count the equal elements of `old` from `i` and `new` from `j` on."""
    limit = min(len(old) - i, len(new) - j)
    return _longest(limit, lambda k, n: old[i + k : i + k + n] == new[j + k : j + k + n])


def script(
    old: Sequence[Piece], new: Sequence[Piece], key: Callable[[Piece], Packed]
) -> list[Edit]:
    """Find the edits that make `new` of `old`, in order, none touching the one before it.

    Args:
        old: Packed items, or lines of text, that differ from `new` at both ends.
        new: The same of the new value.
        key: Gives what can be hashed of a piece, and whose length is what the piece costs.

    Returns:
        The edits; positions are those of `old` before any edit, and those of `new`.
    """
    if not old or not new or len(old) == len(new) == 1:
        return [Edit(0, len(old), 0, len(new))]
    few = min(_FEW, len(old) // 4, len(new) // 4)
    found = _shifted(old, new) or _aligned(old, new, few)
    if found:
        return found
    before, after = list(map(key, old)), list(map(key, new))
    if set(before).isdisjoint(after):
        return [Edit(0, len(old), 0, len(new))]
    aligned = _aligned(before, after, len(before))
    limit = min(_cost(aligned, after), sum(map(len, after)))
    return _follow(before, after, limit) or aligned


def extend(edits: list[Edit], edit: Edit) -> None:
    """Add an edit behind the others; it becomes one with the last where they touch."""
    if edit.deleted == 0 and edit.start == edit.stop:
        return
    if edits:
        last = edits[-1]
        if last.at + last.deleted == edit.at and last.stop == edit.start:
            edits[-1] = Edit(last.at, last.deleted + edit.deleted, last.start, edit.stop)
            return
    edits.append(edit)


def _longest(limit: int, same: Callable[[int, int], bool]) -> int:
    """Find how far `same(k, n)` (n elements from k on) holds, in steps that double, then halve."""
    found, step = 0, 1
    while True:
        step = min(step, limit - found)
        if not step:
            return found
        if not same(found, step):
            break
        found += step
        step *= 2
    while step > 1:
        half = step // 2
        if same(found, half):
            found += half
            step -= half
        else:
            step = half
    return found


def _shifted(old: Sequence[Piece], new: Sequence[Piece]) -> list[Edit]:
    """Look for a dropped head: `new` begins with what is left of `old`, and is mostly that."""
    drop = 0
    for _ in range(_FEW):
        try:
            drop = old.index(new[0], drop + 1)
        except ValueError:
            break
        left = len(old) - drop
        if left <= len(new) <= 2 * left and run(old, drop, new, 0) == left:
            edits = [Edit(0, drop, 0, 0)]
            extend(edits, Edit(len(old), 0, left, len(new)))
            return edits
    return []


def _aligned(old: Sequence[Piece], new: Sequence[Piece], most: int) -> list[Edit]:
    """Compare item by item; nothing where more than `most` differ in place."""
    edits: list[Edit] = []
    differ = compress(count(), map(ne, old, new))
    changed = list(islice(differ, most + 1))
    if len(changed) > most:
        return []
    begin = end = -1
    for k in changed:
        if k != end:
            extend(edits, Edit(begin, end - begin, begin, end))
            begin = k
        end = k + 1
    extend(edits, Edit(begin, end - begin, begin, end))
    both = min(len(old), len(new))
    extend(edits, Edit(both, len(old) - both, both, len(new)))
    return edits


def _follow(old: Sequence[Packed], new: Sequence[Packed], limit: int) -> list[Edit]:
    """Go through both together; at a mismatch take the shorter way to the next match.

    Nothing where that costs `limit` bytes or more.
    """
    in_old, in_new = _places(old), _places(new)
    edits: list[Edit] = []
    i = j = spent = 0
    while i < len(old) and j < len(new) and spent + _FRAME * len(edits) < limit:
        if old[i] == new[j]:
            same = run(old, i, new, j)
            i, j = i + same, j + same
            continue
        drop = _distance(in_old, new[j], i)
        put = _distance(in_new, old[i], j)
        if drop is None and put is None:
            edit = Edit(i, 1, j, j + 1)
        elif put is None or (drop is not None and drop <= put):
            edit = Edit(i, drop or 0, j, j)
        else:
            edit = Edit(i, 0, j, j + put)
        spent += sum(map(len, new[edit.start : edit.stop]))
        extend(edits, edit)
        i, j = i + edit.deleted, edit.stop
    extend(edits, Edit(i, len(old) - i, j, len(new)))
    return edits if _cost(edits, new) < limit else []


def _places(pieces: Sequence[Packed]) -> Where[Packed]:
    places: defaultdict[Packed, list[int]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        places[piece].append(number)
    return places


def _distance(places: Where[Packed], piece: Packed, start: int) -> int | None:
    """Count the elements between `start` and the next place of `piece`, if there is one."""
    found = places.get(piece)
    if found is None:
        return None
    number = bisect_left(found, start)
    return found[number] - start if number < len(found) else None


def _cost(edits: Sequence[Edit], new: Sequence[Packed]) -> int:
    return sum(_FRAME + sum(map(len, new[edit.start : edit.stop])) for edit in edits)
