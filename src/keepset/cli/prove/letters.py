"""How each verdict looks: a letter, so that a heat map reads without colour, and a colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keepset.prove.proof import Proven


@dataclass(frozen=True, slots=True)
class Look:
    """How a verdict looks.

    Attributes:
        letter: One character.
        style: Its colour in a terminal.
        name: Its name in a page's style sheet.
        meaning: What it says of a field at a point.
    """

    letter: str
    style: str
    name: str
    meaning: str


LOOKS: Final = {
    Proven.NEEDED: Look("N", "bold red", "needed", "a resume goes wrong without it"),
    Proven.REFETCH_DIFFERS: Look("D", "bold magenta", "differs", "its loader gives other content"),
    Proven.INCONCLUSIVE: Look("?", "yellow", "unknown", "it cannot be said what is right"),
    Proven.RESTORED: Look("R", "cyan", "restored", "not stored, and its rule brings it back right"),
    Proven.NOT_NEEDED: Look(".", "green", "free", "a resume is right without it"),
}
"""By verdict, the most telling first."""
