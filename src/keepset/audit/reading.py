"""Read one run: each value is looked at and counted, and compared with the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from keepset.audit.looking import ID, Looker
from keepset.audit.places import graph
from keepset.audit.seen import Seen, Spot
from keepset.audit.taking import packed, take
from keepset.audit.tally import MOST_SPOTS, FieldTally, SpotTally, Tally, add
from keepset.readers.ports import Item

_LARGE: Final = 4_096
"""Bytes from which on content is worth looking for its ids."""


_OURS: Final = "ours"
IDS: Final = "id"
"""The surface on which ids of runs are told of; a host has no values there."""
_ENOUGH: Final = 200
_SELDOM: Final = 16
"""Of so many runs one is asked for the ids of a field, once enough of them were."""


@dataclass(slots=True)
class _Field:
    """A field in the run that is being read.

    Attributes:
        tally: Where it is counted.
        digest: Of the value before.
        first: Bytes of its first value.
        last: Bytes of its newest value.
        extent: Bytes of that before it was compressed, where a store of ours has done so.
        steps: Values until now.
        value: The newest value, where it may be content or ids.
        asked: Bytes at which it was last looked for by what it could be fetched.
    """

    tally: FieldTally
    digest: int | None = None
    first: int = 0
    last: int = 0
    extent: int = 0
    steps: int = 0
    value: Any = None
    asked: int = 0


@dataclass(slots=True)
class _Graph:
    """One namespace of the run: the step that is being read, and the fields by name."""

    step: str = ""
    number: int = -1
    size: int = 0
    fields: dict[str, _Field] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)


class RunReading:
    """Counts the values of one run; of each field only the newest value is kept meanwhile.

    Those of one graph inside are let go of where another one follows: a graph that was called often
    has a namespace for each call.

    Args:
        tally: Where it is counted.
        number: The run's number.
        looker: Looks at values.
    """

    def __init__(self, tally: Tally, number: int, looker: Looker) -> None:
        """Begin with no value."""
        self._tally = tally
        self._number = number
        self._looker = looker
        self._graphs: dict[str, _Graph] = {}
        self._namespace = ""
        self._others: dict[tuple[str, str, str], _Field] = {}
        self._spots: dict[tuple[str, str, object], SpotTally] = {}

    def take_id(self, run: str) -> None:
        """Count what the id of the run gives away."""
        for spot, times in self._looker.look_at_id(run).items():
            found = self._tally.spot(IDS, ID, spot.kind, spot.place, spot.detail)
            found.copies += times
            found.runs += 1
            found.last = self._number

    def _named(self, item: Item) -> Item:
        """Give a value under the name that is told of its field; a secret in that is counted."""
        shown = self._looker.shown(item.field)
        if shown == item.field:
            return item
        tally = self._tally.field(item.surface, self._graph(item.namespace), shown)
        self._meet(item.surface, self._looker.look_at_name(item.field), tally)
        return replace(item, field=shown)

    def _graph(self, namespace: str) -> str:
        """Name the graph inside that a namespace belongs to, as it is told."""
        return self._looker.told(graph(namespace)) if namespace else ""

    def take(self, item: Item) -> None:
        """Count a value."""
        item = self._named(item)
        name = self._graph(item.namespace)
        if item.surface == "state":
            if item.namespace != self._namespace:
                self._leave()
                self._namespace = item.namespace
            inside = self._graphs.setdefault(item.namespace, _Graph())
            if item.step != inside.step:
                self._end_step(inside)
                inside.step = item.step
                inside.number += 1
            inside.size += item.size
            known = inside.fields.get(item.field)
            if known is None:
                known = _Field(self._tally.field("state", name, item.field))
                inside.fields[item.field] = known
            number = inside.number
        else:
            key = item.surface, item.namespace, item.field
            found = self._others.get(key)
            known = found or _Field(self._tally.field(item.surface, name, item.field))
            self._others[key] = known
            number = known.steps
        seen = self._count(item, known, number)
        if item.surface == "state":
            known.value = item.value if seen.kind in {"list", "mapping"} else None
            known.extent = _extent(item) if known.value is not None else item.size

    def end(self) -> None:
        """Count what only a whole run tells: growth, and what can be fetched by what."""
        self._looker.forget_run()
        for inside in self._graphs.values():
            self._end_step(inside)
            self._across(inside, at_least=1)
            for name in inside.asked:
                tally = inside.fields[name].tally
                tally.asked += 1
                if name in inside.beside:
                    add(tally.beside, inside.beside[name])
            for known in inside.fields.values():
                if known.steps > 1:
                    known.tally.growth += (known.last - known.first) / (known.steps - 1)
                    known.tally.grown += 1

    def _leave(self) -> None:
        """Let go of the values of a graph, once they were looked at across its fields."""
        inside = self._graphs.get(self._namespace)
        if inside is not None:
            self._across(inside, at_least=1)
            for known in inside.fields.values():
                known.value = None

    def _end_step(self, inside: _Graph) -> None:
        if inside.number >= 0:
            self._tally.steps.add(inside.number, inside.size)
            self._across(inside, at_least=2)
        inside.size = 0

    def _across(self, inside: _Graph, at_least: int) -> None:
        """Look for content beside its ids, where a field has grown to so many times its size."""
        grown = [
            name
            for name, known in inside.fields.items()
            if known.extent >= _LARGE
            and known.value is not None
            and known.extent > at_least * known.asked
            and name not in inside.beside
            and (known.tally.asked < _ENOUGH or self._number % _SELDOM == 0)
        ]
        if not grown:
            return
        values = {
            name: take(known.value, (name,)).value
            for name, known in inside.fields.items()
            if name in grown or _may_be_ids(known.value)
        }
        for name in grown:
            inside.fields[name].asked = inside.fields[name].extent
            inside.asked.add(name)
        for finding in self._looker.beside(values):
            using = finding.detail.rpartition(" ids in ")[2]
            inside.beside.setdefault(str(finding.path[0]), using)

    def _count(self, item: Item, known: _Field, number: int) -> Seen:
        seen, digest = self._looker.look(
            item.field, item.value, f"{item.surface}\0{item.namespace}"
        )
        tally, size = known.tally, item.size
        self._tally.values += 1
        add(self._tally.value_bytes, item.surface, size)
        tally.values += 1
        tally.bytes += size
        tally.largest = max(tally.largest, size)
        tally.filled += not seen.is_empty
        tally.flags += seen.is_flags
        if tally.last != self._number:
            tally.last = self._number
            tally.runs += 1
        add(tally.kinds, seen.kind)
        add(tally.encodings, item.encoding)
        tally.curve.add(number, size)
        if digest is not None and digest == known.digest:
            tally.same += 1
            tally.same_bytes += size
        elif digest is not None:
            self._tally.repeats.meet(digest, self._number, tally.number, size)
        known.first = known.first if known.steps else size
        known.digest, known.last = digest, size
        known.steps += 1
        self._note(item, seen, tally)
        return seen

    def _meet(self, surface: str, spots: Mapping[Spot, int], tally: FieldTally) -> None:
        for spot, times in spots.items():
            key = surface, tally.field, spot
            found = self._spots.get(key)
            if found is None:
                found = self._tally.spot(surface, tally.field, spot.kind, spot.place, spot.detail)
                if len(self._spots) >= MOST_SPOTS:
                    self._spots.clear()
                self._spots[key] = found
            found.copies += times
            if found.last != self._number:
                found.last = self._number
                found.runs += 1

    def _note(self, item: Item, seen: Seen, tally: FieldTally) -> None:
        self._meet(item.surface, seen.spots, tally)
        for code, detail in seen.against.items():
            add(tally.against, code)
            tally.details.setdefault(code, detail)
        for named, counts in (
            (tally.types, seen.types),
            (tally.unreadable, seen.unreadable),
            (tally.metadata, seen.metadata),
        ):
            for name, count in counts.items():
                add(named, name, count)
        if item.encoding == "encrypted":
            add(tally.unreadable, "encrypted")


def _extent(item: Item) -> int:
    """Give the bytes of a value as it is looked at: what a store of ours holds is compressed."""
    return max(item.size, len(packed(item.value) or b"")) if item.encoding == _OURS else item.size


def _may_be_ids(value: object) -> bool:
    """Tell whether a value may be a list of ids, by the first of them."""
    return type(value) is list and bool(value) and isinstance(value[0], str | int)
