"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """Write a number and what it counts: ``1 run``, ``2 runs``, ``1,000 runs``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
