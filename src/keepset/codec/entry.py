"""One line of the list of classes that stored data may name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One class that may be stored.

    Attributes:
        name: The name that stands for it in stored data.
        cls: The class.
        to: Turns an instance into a value that can be stored; None where the fields are stored.
        back: Turns that value into an instance again; None where `to` is None.
    """

    name: str
    cls: type
    to: Callable[[Any], object] | None = None
    back: Callable[[Any], Any] | None = None
