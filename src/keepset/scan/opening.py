"""A text as the detectors read it: escapes opened, and in lower case, nothing moved."""

from __future__ import annotations

from typing import Final

_BLANK: Final = frozenset("nrt")
_CODED: Final = frozenset({"20", "22", "26", "3A", "3D", "3a", "3d"})
_SMALL: Final = str.maketrans({chr(65 + i): chr(97 + i) for i in range(26)})
_LONGER: Final = "\u0130"
"""The one letter whose lower case has another length."""


def opened(text: str) -> str:
    """Let what follows an escape begin a word, without moving any character."""
    if "\\" in text:
        first, *rest = text.split("\\")
        text = first + "".join(
            [f"  {part[1:]}" if part[:1] in _BLANK else f"\\{part}" for part in rest]
        )
    if "%" in text:
        first, *rest = text.split("%")
        text = first + "".join(
            [f"%{part[0]}={part[2:]}" if part[:2] in _CODED else f"%{part}" for part in rest]
        )
    return text


def folded(text: str) -> str:
    """Give a text in lower case, of the same length."""
    return text.translate(_SMALL) if _LONGER in text else text.lower()


def shaded(text: str) -> bytes:
    """Give a byte for each character of a text: itself, or a question mark outside of ASCII.

    In lower case it does for `folded` where names and literals are looked for: these are of ASCII.
    """
    return text.encode("ascii", "replace")
