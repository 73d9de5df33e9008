"""What differs between runs of which nothing was changed: clocks, ids, random numbers.

Two controls show it. A text that differs is cut into words, so that of ``order 4f1a… for Bob`` only
the id is volatile and Bob is still compared. A time is one word, since its parts change now and
then. Volatile words are not compared by what they are but by which of them are equal to which, so
that a second id where the first one belongs is noticed. Short ones may be equal by chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from keepset.codec import Path
from keepset.prove.leaves import Leaf, Leaves

_WORD: Final = re.compile(
    r"""
    [0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z_])  # a UUID
    | [0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+(?![0-9A-Za-z_])                 # a very small number
    | [0-9]+(?:(?:[-.:,/+]|[T ](?=[0-9]{2}:))[0-9]+)*Z?(?![0-9A-Za-z_])   # a number, a time
    | [0-9A-Za-z_]+
    | [^0-9A-Za-z_]+
    """,
    re.VERBOSE,
)
_MADE_UP: Final = re.compile(r".*[0-9].*|[0-9a-f]{4,}|tmp\w{8}|\w{16,}", re.DOTALL)
"""Words that clocks, ids and random numbers are made of; a name or a sentence is none."""
_NUMBER: Final = re.compile(r"[0-9][0-9.:,/+TZ -]*")
_BY_CHANCE: Final = 4
"""Characters from which on two words that are equal are so for a reason."""

_NUMBERS: Final = frozenset({"int", "float"})
"""Kinds that are one word, with their sign and whatever power of ten they are written with."""

Mask = Mapping[Path, frozenset[int] | None]
"""By path of a text that differs: numbers of the words that do, or None for the whole text."""


def words(text: str) -> list[str]:
    """Cut a text into words and what stands between them."""
    return _WORD.findall(text)


def mask_of(controls: Sequence[Leaves]) -> tuple[dict[Path, frozenset[int] | None], list[Path]]:
    """Compare controls.

    Args:
        controls: The same values of two runs or more.

    Returns:
        The mask, and the paths at which the controls differ in more than what is made up: where
        one has a part that another has not, or another word.
    """
    mask: dict[Path, frozenset[int] | None] = {}
    unlike: list[Path] = []
    first, *others = controls
    for path in dict.fromkeys(path for one in controls for path in one):
        leaves = [one.get(path) for one in (first, *others)]
        if all(leaf == leaves[0] for leaf in leaves):
            continue
        present = [leaf for leaf in leaves if leaf is not None]
        same_kind = len({leaf.kind for leaf in present}) == 1
        if len(present) < len(leaves) or not same_kind or present[0].parts is not None:
            if not any(path[: len(above)] == above for above in unlike):
                unlike.append(path)
            continue
        is_number = present[0].kind in _NUMBERS
        mask[path], made_up = _differing([leaf.text for leaf in present], is_whole=is_number)
        if not made_up:
            unlike.append(path)
    return mask, unlike


def _differing(texts: Sequence[str], *, is_whole: bool) -> tuple[frozenset[int] | None, bool]:
    """Say which words differ, and whether they are all made up."""
    split = [words(text) for text in texts]
    if is_whole or len({len(one) for one in split}) > 1:
        return None, all(_MADE_UP.fullmatch(text) is not None for text in texts)
    at = frozenset(
        number for number, column in enumerate(zip(*split, strict=True)) if len(set(column)) > 1
    )
    return at, all(_MADE_UP.fullmatch(one[number]) is not None for one in split for number in at)


def compared(leaf: Leaf, path: Path, mask: Mask) -> Leaf:
    """Give a leaf without the words that are volatile."""
    if path not in mask:
        return leaf
    at = mask[path]
    if at is None:
        return Leaf(leaf.kind, "")
    kept = (word for number, word in enumerate(words(leaf.text)) if number not in at)
    return Leaf(leaf.kind, "".join(kept))


def hidden(leaves: Leaves, mask: Mask, names: Collection[str]) -> list[Path]:
    """Give the places of some fields where a number differs, so that what made it cannot be seen.

    A made-up id is an id whatever it is made of; another number may be a wrong one.
    """
    return [
        path
        for path, at in mask.items()
        if path[0] in names and path in leaves and _has_number(leaves[path].text, at)
    ]


def _has_number(text: str, at: frozenset[int] | None) -> bool:
    split = words(text)
    chosen = split if at is None else [split[number] for number in at if number < len(split)]
    return any(_NUMBER.fullmatch(word) for word in chosen)


def pattern(leaves: Leaves, mask: Mask, is_compared: Callable[[Path], bool]) -> tuple[int, ...]:
    """Say which volatile words are equal to which: for each one, the number of its first place."""
    first: dict[str, int] = {}
    return tuple(
        number if 0 < len(word) < _BY_CHANCE else first.setdefault(word, number)
        for number, word in enumerate(_volatile(leaves, mask, is_compared))
    )


def _volatile(leaves: Leaves, mask: Mask, is_compared: Callable[[Path], bool]) -> Iterator[str]:
    for path, at in mask.items():
        if not is_compared(path):
            continue
        text = leaves[path].text if path in leaves else ""
        split = words(text)
        if at is None:
            yield text
        else:
            yield from (split[number] if number < len(split) else "" for number in sorted(at))
