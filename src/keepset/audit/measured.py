"""What the same runs would take in keepset: some of them are written to a store, and weighed."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from keepset.audit.places import is_hosts
from keepset.audit.taking import take
from keepset.contracts import Contract, contract_of
from keepset.errors import PolicyError
from keepset.readers.ports import Item, Reader, RunFacts
from keepset.run.run import Run
from keepset.store import Store, open_store

MOST_BYTES: Final = 64_000_000
"""Bytes of values that are written at the most."""
MOST_STEPS: Final = 2_000


@dataclass(slots=True)
class Measured:
    """What some runs take here and would take there; their state alone, on both sides.

    Attributes:
        runs: The runs.
        steps: Their checkpoints, as far as they were written.
        theirs: Bytes of the values of the state where they lie.
        ours: Bytes that the same states take in a store of ours.
        kept: The same without the fields that do not belong.
        refused: States that a store of ours would not take.
    """

    runs: list[str] = field(default_factory=list)
    steps: int = 0
    theirs: int = 0
    ours: int = 0
    kept: int = 0
    refused: int = 0


def measured(
    reader: Reader, runs: Iterable[RunFacts], fields: Collection[str], leave_out: Collection[str]
) -> Measured:
    """Write runs to two stores in memory, and weigh both: no end of a process leaves any of them.

    No secret that the detectors know is written: a marker stands in its place, as in any store of
    ours.

    Args:
        reader: Reads the store.
        runs: The runs, as far as there is room.
        fields: The fields of their states.
        leave_out: Those of them that do not belong, which the second of the stores has not.
    """
    found = Measured()
    with (
        _quiet(),
        open_store("memory:") as whole,
        open_store("memory:") as kept,
    ):
        writing = _Writing(whole, kept, fields, leave_out, found)
        for facts in runs:
            if writing.is_full:
                break
            found.runs.append(facts.run)
            states_written = writing.write(reader, facts.run)
            # Where each field has versions of its own there are more states than checkpoints.
            found.steps += min(states_written, facts.checkpoints or states_written)
        found.ours, found.kept = _weight(whole), _weight(kept)
    return found


def _weight(store: Store) -> int:
    """Weigh what a store holds; the pages of a file would hide what a few runs take."""
    return sum(size for _, size in store.stats().bytes_by_field)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the log from telling what is found in the values: the audit tells it."""
    logger = logging.getLogger("keepset")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


class _Writing:
    """Writes the same runs to two stores: all of their fields, and those that belong."""

    def __init__(
        self,
        whole: Store,
        kept: Store,
        fields: Collection[str],
        leave_out: Collection[str],
        found: Measured,
    ) -> None:
        self._found = found
        names = [name for name in fields if name and "#" not in name]
        self._names = frozenset(names)
        belong = [name for name in names if name not in leave_out]
        self._stores = [(store, _contract(of)) for store, of in ((whole, names), (kept, belong))]
        self._states = 0

    @property
    def is_full(self) -> bool:
        """Tell whether enough was written."""
        return self._found.theirs >= MOST_BYTES or self._states >= MOST_STEPS

    def write(self, reader: Reader, run: str) -> int:
        """Write the states of a run, step by step; each graph inside is a run of its own.

        Returns:
            How many there were.
        """
        before = self._states
        open_runs: dict[str, list[tuple[Run, frozenset[str]]]] = {}
        last: dict[str, dict[str, Any]] = {}
        # What is not written here does not count there either.
        items = (item for item in reader.items(run) if item.field in self._names)
        for namespace, state, size in states(items):
            if namespace not in open_runs:
                name = f"run-{len(self._found.runs)}-{len(open_runs)}"
                open_runs[namespace] = [
                    (store.run(contract, name), frozenset(contract.fields))
                    for store, contract in self._stores
                ]
            self._found.theirs += size
            self._states += 1
            last[namespace] = state
            for one, fields in open_runs[namespace]:
                self._save(one, {name: state[name] for name in state if name in fields})
            if self.is_full:
                break
        for namespace, state in last.items():  # what is done is packed
            for one, fields in open_runs[namespace]:
                self._save(one, {name: state[name] for name in state if name in fields}, "done")
        return self._states - before

    def _save(self, run: Run, state: dict[str, Any], status: str = "running") -> None:
        try:
            run.save("step", state, status=status)
        except PolicyError:  # what a store of ours does not take is told, and weighs nothing
            self._found.refused += 1


def _contract(names: Collection[str]) -> Contract:
    return contract_of(TypedDict("Audited", dict.fromkeys(names, Any), total=False))  # type: ignore[operator] # made of names that only the store knows


def states(items: Iterable[Item]) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Give the state of each step with its namespace, and the bytes that the step has stored.

    A store that writes only what changed gives the rest with the steps before.
    """
    now: dict[str, dict[str, Any]] = {}
    steps: dict[str, str] = {}
    sizes: dict[str, int] = {}
    for item in items:
        if item.surface != "state" or is_hosts(item.field):
            continue
        space = item.namespace
        if steps.get(space) not in {None, item.step}:
            yield space, dict(now[space]), sizes.pop(space, 0)
        steps[space] = item.step
        now.setdefault(space, {})[item.field] = take(item.value, (item.field,)).value
        sizes[space] = sizes.get(space, 0) + item.size
    for space, size in sizes.items():
        yield space, dict(now[space]), size
