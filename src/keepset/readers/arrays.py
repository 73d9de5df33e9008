"""Arrays of JSON too large for memory: cut into their items, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

_CHUNK: Final = 1 << 20
_FIRST: Final = 1 << 12
_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_FLAT: Final = rb"[{\[](?:[^{}\[\]\"]++|" + _STRING + rb")*+[}\]]"
_TOKEN: Final = re.compile(_FLAT + rb"|" + _STRING + rb'|["\[\]{},]', re.DOTALL)
"""What holds no other, a whole string, a string that is not ended here, or what makes the shape."""
_END: Final = re.compile(_STRING[1:], re.DOTALL)


class Piece(NamedTuple):
    """One item of an array.

    Attributes:
        place: Where it begins in the file.
        text: Its bytes; of a larger one than was asked for, the beginning.
        size: How many bytes it has.
    """

    place: int
    text: bytes
    size: int


def pieces(file: BinaryIO, place: int, most: int) -> Iterator[Piece]:
    """Give the items of an array from a place on; nothing of them is checked.

    Args:
        file: The file; it must not be read from elsewhere meanwhile.
        place: Behind the bracket of the array, or where an item begins.
        most: So many bytes of an item are given at the most.
    """
    file.seek(place)
    cutting = _Cutting(place, most)
    size = _FIRST
    while chunk := file.read(size):
        yield from cutting.take(chunk)
        if cutting.is_done:
            return
        size = min(2 * size, _CHUNK)
    yield from cutting.rest()


class _Cutting:
    """Cuts what it is given; between two chunks it keeps the beginning of one item."""

    def __init__(self, place: int, most: int) -> None:
        self.is_done = False
        self._place = place  # where the item begins
        self._base = place  # where the data begins
        self._most = most
        self._text = bytearray()
        self._depth = 0
        self._is_inside = False  # of a string
        self._left = b""

    def take(self, chunk: bytes) -> Iterator[Piece]:
        """Take the next bytes, and give the items that end in them."""
        data = self._left + chunk
        self._left = b""
        at = mark = 0
        while not self.is_done:
            if self._is_inside:
                end = _END.match(data, at)
                if end is None:
                    break
                self._is_inside, at = False, end.end()
            token = _TOKEN.search(data, at)
            if token is None:
                break
            at = token.end()
            if self._is_end(token[0]):
                yield from self._ended(data[mark : token.start()], self._base + token.start())
                self._place, mark = self._base + at, at
        kept = self._escape(data, at) if self._is_inside else 0
        self._keep(data[mark : len(data) - kept])
        self._left = data[len(data) - kept :]
        self._base += len(data) - kept

    def rest(self) -> Iterator[Piece]:
        """Give what is there of an item that the file ends in."""
        yield from self._ended(self._left, self._base + len(self._left))

    def _is_end(self, token: bytes) -> bool:
        """Follow the shape; tell whether an item ends here."""
        if token == b'"':
            self._is_inside = True
        elif token in (b"[", b"{"):
            self._depth += 1
        elif token in (b"]", b"}"):
            self._depth -= 1
            self.is_done = self._depth < 0
        return self.is_done or (token == b"," and not self._depth)

    def _escape(self, data: bytes, at: int) -> int:
        """Count the bytes at the end that say something only with the next: half an escape."""
        strokes = len(data) - max(at, len(data.rstrip(b"\\")))
        return strokes % 2

    def _keep(self, text: bytes) -> None:
        self._text += text[: self._most - len(self._text)]

    def _ended(self, text: bytes, end: int) -> Iterator[Piece]:
        self._keep(text)
        whole = bytes(self._text)
        self._text.clear()
        if whole.strip():
            yield Piece(self._place, whole, end - self._place)
