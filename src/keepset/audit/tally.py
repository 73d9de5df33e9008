"""What is counted while a store is read. It is bounded, and plain data that can be kept."""

from __future__ import annotations

from typing import Final

import msgspec

from keepset.audit.curve import Curve
from keepset.audit.intervals import Replicates
from keepset.audit.sketch import Repeats

MOST_FIELDS: Final = 1_000
MOST_SPOTS: Final = 2_000
MOST_NAMES: Final = 200
OTHERS: Final = "(others)"
"""Stands for what came after there were too many to be told apart."""


class SpotTally(msgspec.Struct):
    """How often one kind of thing was met at one place.

    Attributes:
        surface: Where the host let it in.
        field: The field.
        kind: Its reason code.
        place: Where, with stars for positions.
        detail: What it was found by.
        copies: Values in the store that hold it, times how often they do.
        runs: Runs that have it.
        last: Number of the last run that had it.
    """

    surface: str
    field: str
    kind: str
    place: str
    detail: str
    copies: int = 0
    runs: int = 0
    last: int = -1

    @property
    def total(self) -> str:
        """The name of its sum; what differs only in what it was found by is one."""
        return f"spot.{self.surface}.{self.field}.{self.kind}.{self.place}"


class FieldTally(msgspec.Struct):
    """What was counted of one field of one surface.

    Attributes:
        number: Its number.
        surface: Where the host let it in.
        graph: The graph inside that it belongs to; empty for the outer one.
        field: Its name.
        values: Values in the store.
        filled: Those in which there is something.
        bytes: Bytes of all values.
        largest: Bytes of the largest.
        runs: Runs that have it.
        last: Number of the last run that had it.
        same: Values that are the one before, written again.
        same_bytes: Bytes of these.
        growth: Sum over runs of the bytes by which it grew in a step.
        grown: Runs of two steps and more.
        flags: Values of flags and counters only.
        kinds: Values by what they are.
        encodings: Values by how they are stored.
        types: Calls that a load would make, by type.
        unreadable: Values or parts that could not be read, by reason.
        metadata: Bytes of response metadata by key.
        against: Values against which a reason speaks as a whole, by code.
        details: What it was found by, by code.
        beside: Runs in which it can be fetched by another field, by the name of that.
        asked: Runs in which that was looked for.
        curve: Bytes by step.
    """

    number: int
    surface: str
    graph: str
    field: str
    values: int = 0
    filled: int = 0
    bytes: int = 0
    largest: int = 0
    runs: int = 0
    last: int = -1
    same: int = 0
    same_bytes: int = 0
    growth: float = 0.0
    grown: int = 0
    flags: int = 0
    kinds: dict[str, int] = {}
    encodings: dict[str, int] = {}
    types: dict[str, int] = {}
    unreadable: dict[str, int] = {}
    metadata: dict[str, int] = {}
    against: dict[str, int] = {}
    details: dict[str, str] = {}
    beside: dict[str, int] = {}
    asked: int = 0
    curve: Curve = msgspec.field(default_factory=Curve)


class RunsTally(msgspec.Struct):
    """What was counted of runs, all of them, also of those that were not read.

    Attributes:
        runs: Runs.
        checkpoints: Checkpoints of all runs.
        bytes: Bytes of all runs.
        unfinished: Runs with something left to do.
        unknown: Runs of which the store does not say whether they are finished.
        unfinished_bytes: Bytes of the unfinished.
        oldest: When the unfinished run was last written to that has waited longest.
        oldest_run: Its id.
        first: The earliest time of all.
        largest: Bytes of the largest run.
        largest_run: Its id.
        ages: Runs and bytes by how long ago they were last written to.
    """

    runs: int = 0
    checkpoints: int = 0
    bytes: int = 0
    unfinished: int = 0
    unknown: int = 0
    unfinished_bytes: int = 0
    oldest: float | None = None
    oldest_run: str = ""
    first: float | None = None
    largest: int = 0
    largest_run: str = ""
    ages: dict[str, tuple[int, int]] = {}


class Tally(msgspec.Struct):
    """All that is counted.

    Attributes:
        runs: Of runs.
        read: Runs whose values were read.
        read_bytes: Bytes of these.
        read_checkpoints: Checkpoints of these.
        values: Values that were read.
        value_bytes: Bytes of them by surface.
        fields: By surface, graph and field.
        spots: By surface, field, kind, place and what it was found by.
        repeats: Which values several runs have.
        steps: Bytes of a whole step, by its number.
        failed: Runs that could not be read to their end, by reason.
        cut: Runs that were left before their end, since they are large or time was up.
        replicates: Sums by which a sample is weighed; None where all is read.
        seconds: How long it took.
        last_run: The run that was read last.
    """

    runs: RunsTally = msgspec.field(default_factory=RunsTally)
    read: int = 0
    read_bytes: int = 0
    read_checkpoints: int = 0
    values: int = 0
    value_bytes: dict[str, int] = {}
    fields: dict[str, FieldTally] = {}
    spots: dict[str, SpotTally] = {}
    repeats: Repeats = msgspec.field(default_factory=Repeats)
    steps: Curve = msgspec.field(default_factory=Curve)
    failed: dict[str, int] = {}
    cut: int = 0
    replicates: Replicates | None = None
    seconds: float = 0.0
    last_run: str | None = None

    @property
    def is_whole(self) -> bool:
        """Tell whether every run was read to its end."""
        return self.read == self.runs.runs and not self.cut

    def totals(self) -> dict[str, float]:
        """Give every sum that is reckoned from a sample, by name."""
        sums: dict[str, float] = {"bytes": sum(self.value_bytes.values())}
        for one in self.fields.values():
            sums[f"field.{one.number}"] = one.bytes
            sums[f"values.{one.number}"] = one.values
            sums["same"] = sums.get("same", 0) + one.same_bytes
            sums["same.values"] = sums.get("same.values", 0) + one.same
            sums["metadata"] = sums.get("metadata", 0) + sum(one.metadata.values())
            sums["types"] = sums.get("types", 0) + sum(one.types.values())
            for why, count in one.unreadable.items():
                sums[f"unreadable.{why}"] = sums.get(f"unreadable.{why}", 0) + count
        for one_spot in self.spots.values():
            name = one_spot.total
            sums[name] = sums.get(name, 0) + one_spot.copies
        return sums

    def field(self, surface: str, graph: str, name: str) -> FieldTally:
        """Give the tally of a field; one for all others where there are too many."""
        key = f"{surface}\0{graph}\0{name}"
        found = self.fields.get(key)
        if found is not None:
            return found
        if len(self.fields) >= MOST_FIELDS and name != OTHERS:
            return self.field(surface, "", OTHERS)
        found = FieldTally(len(self.fields), surface, graph, name)
        self.fields[key] = found
        return found

    def spot(self, surface: str, field: str, kind: str, place: str, detail: str) -> SpotTally:
        """Give the tally of a kind at a place; one for all other places where there are many."""
        key = f"{surface}\0{field}\0{kind}\0{place}\0{detail}"
        found = self.spots.get(key)
        if found is not None:
            return found
        if len(self.spots) >= MOST_SPOTS and place != OTHERS:
            return self.spot(surface, OTHERS, kind, OTHERS, "")
        found = SpotTally(surface, field, kind, place, detail)
        self.spots[key] = found
        return found


def add(counts: dict[str, int], name: str, number: int = 1) -> None:
    """Count under a name; under one for all others where there are too many names."""
    if name not in counts and len(counts) >= MOST_NAMES:
        name = OTHERS
    counts[name] = counts.get(name, 0) + number
