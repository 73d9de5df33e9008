"""Versions of channels: numbers that rise.

A saver says what a channel's next version is. Other savers give texts of which half is there to
tell two lines of a history apart that count alike; keepset tells lines apart by themselves, so a
number is enough, and stored as a difference it takes a byte or two. A thread that was written with
texts goes on with texts, since LangGraph compares a thread's versions with each other.
"""

from __future__ import annotations

from typing import Final

from keepset.errors import DecodeError

WIDTH: Final = 32
"""Digits of the number in a text that other savers give."""
FRACTION: Final = "0000000000000000"
"""What stands behind the number in a text that keepset gives."""


def next_version(current: str | float | None) -> str | int | float:
    """Give the version after one.

    Args:
        current: The version now; None where the channel has none yet.

    Raises:
        DecodeError: A text that does not begin with a number.
    """
    if current is None:
        return 1
    if not isinstance(current, str):
        return current + 1
    number = current.partition(".")[0]
    if not number.isdecimal():
        raise DecodeError(
            "a channel's version is a text that does not begin with a number",
            code="langgraph.version",
            hint="The saver that wrote this thread counts in a way of its own; begin a new thread.",
        )
    return f"{int(number) + 1:0{WIDTH}}.{FRACTION}"
