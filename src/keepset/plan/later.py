"""Values by name that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class Later(Mapping[str, T]):
    """A mapping whose values are made one by one.

    Many threads may read it at a time; two that ask for the same value first may both make it.

    Args:
        made: Values that are there already.
        makers: What makes the others.
        waiting: Bytes that are kept until all of them are made.
    """

    def __init__(
        self, made: dict[str, T], makers: dict[str, Callable[[], T]], waiting: int = 0
    ) -> None:
        """Make nothing yet."""
        self._made = made
        self._makers = makers
        self._waiting = waiting

    def __getitem__(self, name: str) -> T:
        make = self._makers.get(name)
        if make is not None:
            self._made[name] = make()
            self._makers.pop(name, None)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._makers, *self._made]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def measured(self, measure: Callable[[T], int]) -> int:
        """Add up what values take that are there, and what is kept for the others."""
        made = sum(map(measure, list(self._made.values())))  # others may add to them meanwhile
        return made + self._waiting if self._makers else made


def total(values: Mapping[str, T], measure: Callable[[T], int]) -> int:
    """Add up what values take, without making any."""
    if isinstance(values, Later):
        return values.measured(measure)
    return sum(map(measure, values.values()))
