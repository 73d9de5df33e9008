"""What changed of a long text, found in its bytes: as two texts they take much memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from keepset.delta.frozen import Frozen

LONG = 256 * 1024
"""Bytes from which on a text is compared like this."""

MOST = 4 << 20
"""Bytes of what is gone, or has come, above which the text counts as another one."""

_PORTION = 64 * 1024
_AFTER_FIRST = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that are not the first of a code point."""


class Splice(NamedTuple):
    """One run of a text replaced by another.

    Attributes:
        at: Code points before it.
        gone: What was there.
        come: What is there now.
    """

    at: int
    gone: str
    come: str


def spliced(old: Frozen, new: Frozen) -> Splice | None:
    """Tell what is between what two texts have in common; None where that is very much."""
    before, after = old.data, new.data
    i, j = old.start, new.start
    limit = min(len(before) - i, len(after) - j)
    head = _shared(before, i, after, j, limit)
    while head and (_inside(before, i + head) or _inside(after, j + head)):
        head -= 1
    tail = _shared_at_end(before, after, limit - head)
    while tail and _inside(before, len(before) - tail):
        tail -= 1
    i, j = i + head, j + head
    end, stop = len(before) - tail, len(after) - tail
    if max(end - i, stop - j) > MOST:
        return None
    return Splice(_points(before, old.start, i), before[i:end].decode(), after[j:stop].decode())


def _inside(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] in _AFTER_FIRST


def _points(data: bytes, begin: int, end: int) -> int:
    parts = (data[at : min(at + _PORTION, end)] for at in range(begin, end, _PORTION))
    return sum(len(part.translate(None, _AFTER_FIRST)) for part in parts)


def _shared(before: bytes, i: int, after: bytes, j: int, limit: int) -> int:
    """Count the bytes that are the same from two places on."""
    found, step = 0, _PORTION
    while found < limit and step:
        n = min(step, limit - found)
        if before[i + found : i + found + n] == after[j + found : j + found + n]:
            found += n
        else:
            step = n // 2
    return found


def _shared_at_end(before: bytes, after: bytes, limit: int) -> int:
    found, step = 0, _PORTION
    end, stop = len(before), len(after)
    while found < limit and step:
        n = min(step, limit - found)
        if before[end - found - n : end - found] == after[stop - found - n : stop - found]:
            found += n
        else:
            step = n // 2
    return found
