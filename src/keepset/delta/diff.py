"""What changed between two pictures of one field, in as few bytes as that takes."""

from __future__ import annotations

from itertools import accumulate, compress
from operator import ne
from typing import TYPE_CHECKING

import ormsgpack

from keepset.codec import array_header, map_header
from keepset.delta.change import LARGE, Change, Code, Draft, frame, number, render, whole
from keepset.delta.frozen import Frozen, Kind
from keepset.delta.long_texts import LONG, spliced
from keepset.delta.script import Edit, extend, script, strip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import msgspec

    from keepset.codec import Buffer
    from keepset.delta.change import Move

DEEPEST = 8
"""How many levels below a field are looked into for a child that changed in part."""

_SMALL = 24
"""A value of fewer bytes is written whole; no op would be much smaller."""

_SMALL_CHILD = 64
_LONG = 256


def diff(old: Frozen | None, new: Frozen, *, move: Move | None = None) -> Change | None:
    """Find what makes `new` of `old`.

    Args:
        old: The field's version before; None where there is none.
        new: The field's version now.
        move: See `whole`.

    Returns:
        None exactly where both are equal, types and the order of mappings included. Else a change
        that gives `new` when it is applied to `old`: the whole value where nothing is smaller.
    """
    if old is None:
        return whole(new, move)
    if old.data == new.data:
        return None
    draft = _between(old, new, 0) if new.size >= _SMALL else None
    if draft is None or not draft.smaller_than(new.size):
        return whole(new, move)
    size = draft.size()
    return Change(render(draft, move), draft.paths(), is_whole=False, size=size)


def _between(old: Frozen, new: Frozen, depth: int) -> Draft | None:
    if old.kind is not new.kind:
        return None
    if new.kind is Kind.LIST:
        return _grown(old, new) or _lists(old, new, depth)
    if new.kind is Kind.MAP:
        return _extended(old, new) or _maps(old, new, depth)
    if new.kind is not Kind.TEXT:
        return None
    return _long_texts(old, new) if min(old.size, new.size) > LONG else _texts(old, new)


def _child(old: msgspec.Raw, new: msgspec.Raw, depth: int) -> Draft | None:
    """Find how a child changes in part, where that is smaller than the child."""
    sizes = len(memoryview(old)), len(memoryview(new))
    if min(sizes) < _SMALL_CHILD or depth >= DEEPEST:
        return None
    before, after = bytes(old), bytes(new)
    draft = _between(Frozen(before), Frozen(after), depth + 1)
    return draft if draft is not None and draft.smaller_than(len(after)) else None


# --- lists ------------------------------------------------------------------------------------


def _grown(old: Frozen, new: Frozen) -> Draft | None:
    """Handle what lists do most, append and pop, without cutting either into items."""
    draft = Draft()
    added = new.size - new.start - (old.size - old.start)
    body = memoryview(old.data)[old.start :]
    if new.count > old.count and added <= LARGE and new.data.startswith(body, new.start):
        draft.pieces = [frame(4, Code.LIST), number(old.count), number(0)]
        draft.pieces += [array_header(new.count - old.count), new.data[new.size - added :]]
        draft.touched = list(range(old.count, new.count))
        return draft
    body = memoryview(new.data)[new.start :]
    if new.count < old.count and old.data.startswith(body, old.start):
        draft.pieces = [frame(4, Code.LIST), number(new.count), number(old.count - new.count)]
        draft.pieces.append(array_header(0))
        return draft
    return None


def _lists(old: Frozen, new: Frozen, depth: int) -> Draft | None:
    before, after = old.items(), new.items()
    if before is None or after is None:
        return None
    head, tail = strip(before, after)
    gone, come = before[head : len(before) - tail], after[head : len(after) - tail]
    draft = Draft()
    edits: list[Edit] = []
    for at, deleted, start, stop in script(gone, come, bytes):
        done = 0
        for k in range(min(deleted, stop - start)):
            inner = _child(gone[at + k], come[start + k], depth)
            if inner is not None:
                draft.inside.append((head + at + k, inner))
                extend(edits, Edit(at + done, k - done, start + done, start + k))
                done = k + 1
        extend(edits, Edit(at + done, deleted - done, start + done, stop))
        draft.touched += range(head + start, head + stop)
    _put_items(draft, edits, come, head)
    return draft


def _put_items(draft: Draft, edits: Sequence[Edit], come: Sequence[msgspec.Raw], head: int) -> None:
    if not edits:
        return
    draft.pieces.append(frame(1 + 3 * len(edits), Code.LIST))
    for edit in edits:
        draft.pieces += (number(head + edit.at), number(edit.deleted))
        draft.pieces.append(array_header(edit.stop - edit.start))
        for j in range(edit.start, edit.stop):
            draft.part(head + j, come[j])


# --- mappings ---------------------------------------------------------------------------------


def _extended(old: Frozen, new: Frozen) -> Draft | None:
    """Handle entries added behind the others without cutting what was there before."""
    body = memoryview(old.data)[old.start :]
    if new.count <= old.count or not new.data.startswith(body, new.start):
        return None
    added = map_header(new.count - old.count) + new.data[new.start + len(body) :]
    entries = Frozen(added).entries()
    if entries is None:
        return None
    draft = Draft([frame(3, Code.MAP), array_header(0)], touched=list(entries))
    draft.pieces.append(map_header(len(entries)))
    for key, data in entries.items():
        draft.pieces.append(ormsgpack.packb(key))
        draft.part(key, data)
    return draft


def _maps(old: Frozen, new: Frozen, depth: int) -> Draft | None:
    before, after = old.entries(), new.entries()
    if before is None or after is None:
        return None
    draft = Draft()
    sets: dict[str, msgspec.Raw] = {}
    in_order = list(before) == list(after)
    if in_order:
        touched = list(compress(after, map(ne, before.values(), after.values())))
    else:
        touched = [key for key, value in after.items() if before.get(key) != value]
    draft.touched += touched
    for key in touched:
        value, was = after[key], before.get(key)
        inner = None if was is None else _child(was, value, depth)
        if inner is None:
            sets[key] = value
        else:
            draft.inside.append((key, inner))
    gone = [] if in_order else [key for key in before if key not in after]
    last = [] if in_order else _moved_last(before, after)
    if gone or sets or last:
        draft.pieces += (frame(4 if last else 3, Code.MAP), _texts_packed(gone))
        draft.pieces.append(map_header(len(sets)))
        for key, data in sets.items():
            draft.pieces.append(ormsgpack.packb(key))
            draft.part(key, data)
        if last:
            draft.pieces.append(_texts_packed(last))
    return draft


def _moved_last(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Give the keys to be put last, in order, so that the order is that of `after`.

    Empty where the order comes about by itself: what stays keeps its place, what is new goes last.
    """
    order = list(after)
    stays = [key for key in before if key in after]
    if order[: len(stays)] == stays:
        return []
    place = {key: at for at, key in enumerate(stays)}
    reached, kept = -1, 0
    while (at := place.get(order[kept], -1)) > reached:
        reached, kept = at, kept + 1
    return order[kept:]


def _texts_packed(texts: Iterable[str]) -> bytes:
    return ormsgpack.packb(list(texts))


# --- texts ------------------------------------------------------------------------------------


def _texts(old: Frozen, new: Frozen) -> Draft:
    """Replace the runs between what is the same."""
    before, after = old.text(), new.text()
    head, tail = strip(before, after)
    return _spliced(head, before[head : len(before) - tail], after[head : len(after) - tail])


def _long_texts(old: Frozen, new: Frozen) -> Draft | None:
    found = spliced(old, new)
    return None if found is None else _spliced(*found)


def _spliced(head: int, gone: str, come: str) -> Draft:
    """Replace a run; a long one is compared with what was there line by line."""
    edits = [Edit(head, len(gone), 0, len(come))]
    if min(len(gone), len(come)) > _LONG:
        edits = _by_line(gone, come, head)
    pieces: list[Buffer] = [frame(1 + 3 * len(edits), Code.TEXT)]
    for edit in edits:
        pieces += (number(edit.at), number(edit.deleted))
        pieces.append(ormsgpack.packb(come[edit.start : edit.stop]))
    return Draft(pieces, everywhere=True)


def _by_line(gone: str, come: str, head: int) -> list[Edit]:
    before, after = gone.splitlines(keepends=True), come.splitlines(keepends=True)
    i_of = list(accumulate(map(len, before), initial=0))
    j_of = list(accumulate(map(len, after), initial=0))
    edits = []
    for edit in script(before, after, str):
        i, end = i_of[edit.at], i_of[edit.at + edit.deleted]
        j, stop = j_of[edit.start], j_of[edit.stop]
        same, rest = strip(gone[i:end], come[j:stop])
        i, j, end, stop = i + same, j + same, end - rest, stop - rest
        edits.append(Edit(head + i, end - i, j, stop))
    return edits
