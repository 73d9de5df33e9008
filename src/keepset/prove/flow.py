"""Searches as generators: they yield trials and are sent outcomes, and others carry them out."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import TypeVar

from keepset.prove.trials import Outcome, Trial

T = TypeVar("T")

Search = Generator[list[Trial], list[Outcome], T]


def side_by_side(searches: Iterable[Search[T]]) -> Search[list[T]]:
    """Carry on several searches, what they ask for at one time together in one batch."""
    running = list(searches)
    results: list[T | None] = [None] * len(running)
    asked: dict[int, list[Trial]] = {}
    for number, search in enumerate(running):
        _advance(search, None, number, asked, results)
    while asked:
        order = list(asked)
        outcomes = yield [trial for number in order for trial in asked[number]]
        before, asked = asked, {}
        at = 0
        for number in order:
            count = len(before[number])
            _advance(running[number], outcomes[at : at + count], number, asked, results)
            at += count
    return [result for result in results if result is not None]


def _advance(
    search: Search[T],
    outcomes: list[Outcome] | None,
    number: int,
    asked: dict[int, list[Trial]],
    results: Sequence[T | None],
) -> None:
    try:
        asked[number] = next(search) if outcomes is None else search.send(outcomes)
    except StopIteration as end:
        results[number] = end.value  # type: ignore[index] # a list, typed as what it is read as
