"""A text as the detectors read it: escapes opened, and in lower case, nothing moved."""

from __future__ import annotations

from typing import Final

_BLANK: Final = frozenset("nrt")
_CODED: Final = frozenset({"20", "22", "26", "3A", "3D", "3a", "3d"})
_SMALL: Final = str.maketrans({chr(65 + i): chr(97 + i) for i in range(26)})
_LONGER: Final = "\u0130"
"""The one letter whose lower case has another length."""
_KELVIN: Final = "\u212a"
"""The one letter outside ASCII whose lower case, of the same length, is in ASCII."""


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
    return text.translate(_SMALL) if folds_plainly(text) else text.lower()


def folds_plainly(text: str) -> bool:
    """Tell whether only letters of ASCII are made small: one has a longer form in lower case."""
    return _LONGER in text


def shaded(text: str) -> bytes:
    """Give a byte for each character of a text: itself, or a question mark outside of ASCII."""
    return text.encode("ascii", "replace")


def folded_shade(text: str, shade: bytes, *, plainly: bool) -> str:
    """Give a part of a text in lower case, in which only letters of ASCII can be looked for.

    Args:
        text: The part.
        shade: See `shaded`.
        plainly: What `folds_plainly` says of the whole text.
    """
    if _KELVIN in text and not plainly:
        return folded(text)
    return shade.lower().decode("ascii")
