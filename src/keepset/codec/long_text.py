"""Long texts, written a portion at a time.

An encoder in C asks a text for its UTF-8, which the text then keeps for as long as it lives:
that is as much memory again, of which nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Final

LONG_TEXT: Final = 1 << 16
"""A text with so many characters is written like this."""

_PORTION: Final = 1 << 18
_HEAD: Final = 5


def packed_text(text: str) -> bytes:
    """Pack a text of at least `LONG_TEXT` characters.

    Raises:
        UnicodeEncodeError: It is no valid Unicode.
        OverflowError: It has more bytes than the format can say.
    """
    out = BytesIO()
    out.write(bytes(_HEAD))
    for portion in portions(text):
        out.write(portion)
    with out.getbuffer() as view:
        view[:_HEAD] = _head(len(view) - _HEAD)
    return out.getvalue()


def packed_portions(text: str) -> Iterator[bytes]:
    """Give what `packed_text` gives, a portion at a time; it raises the same."""
    yield _head(len(text) if text.isascii() else sum(map(len, portions(text))))
    yield from portions(text)


def portions(text: str) -> Iterator[bytes]:
    """Give the UTF-8 of a text a portion at a time."""
    for at in range(0, len(text), _PORTION):
        yield text[at : at + _PORTION].encode()


def _head(size: int) -> bytes:
    return b"\xdb" + size.to_bytes(4, "big")
