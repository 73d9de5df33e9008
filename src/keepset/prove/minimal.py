"""Delta debugging: the smallest part of a set that still makes a resume go wrong.

After A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
Transactions on Software Engineering 28 (2002): parts of the set are taken away as long as what is
left goes wrong, in ever smaller parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keepset.prove.flow import Search


def smallest(
    items: Sequence[str], is_wrong: Callable[[frozenset[str]], Search[bool]]
) -> Search[frozenset[str]]:
    """Find a subset that goes wrong while each of its proper subsets by one item does not.

    Args:
        items: A set that goes wrong.
        is_wrong: Tries a subset.
    """
    left = list(items)
    parts = 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        pieces = [left[at : at + size] for at in range(0, len(left), size)]
        for piece in pieces:
            rest = [item for item in left if item not in piece]
            if rest and (yield from is_wrong(frozenset(rest))):
                left, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(left), parts * 2)
    return frozenset(left)
