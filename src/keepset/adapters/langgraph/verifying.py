"""Is a thread here what it is in the saver that it comes from? Read back, and compared exactly.

What the rules leave out is not missed, and in place of a secret its marker is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.checkpoints import ASKED, SPECIAL, checkpoint_of, metadata_of
from keepset.adapters.langgraph.elsewhere import parent_of
from keepset.adapters.langgraph.exporting_same import difference
from keepset.adapters.langgraph.importing_refused import lacking, refused
from keepset.adapters.langgraph.importing_rows import Spot
from keepset.adapters.langgraph.importing_source import Read
from keepset.adapters.langgraph.importing_taking import Origin, batches, step_of
from keepset.adapters.langgraph.listing import Query, select
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.adapters.langgraph.verifying_quickly import Looking, Pictures
from keepset.adapters.moved import LeftOut
from keepset.backends.driver import drive
from keepset.codec import Path, format_path
from keepset.contracts import Contract, Field
from keepset.plan.headers import unpack_metadata
from keepset.plan.project import project
from keepset.plan.reads import Found
from keepset.plan.record import undeclared
from keepset.plan.rows import LineRow
from keepset.run.hosted import Stored, Surface
from keepset.run.metadata import METADATA

_PAGE: Final = 32
_MISSING: Final = object()
CHECKPOINT: Final = "checkpoint"
"""Surface of what LangGraph itself says of a checkpoint."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """Where a checkpoint is not what it is elsewhere.

    Attributes:
        where: The place.
        writes: Whether only pending writes differ, and there all that are here stand as well:
            ``more``; or the other way round: ``fewer``; else empty.
    """

    where: LeftOut
    writes: str = ""


class Verifying:
    """Compares threads with those that they come from.

    Args:
        origin: Where they come from.
        threads: Where they are.
    """

    def __init__(self, origin: Origin, threads: Threads) -> None:
        """Read nothing yet."""
        self._origin = origin
        self._threads = threads
        self._backend = threads.services.backend
        self._pictures = Pictures()
        self._codecs: dict[Contract, Looking] = {}

    def stored(self, thread: Thread, found: Found, namespace: str) -> Iterator[Stored]:
        """Give the checkpoints of a namespace as they are stored, the newest first."""
        asked = Query(thread.id, namespace, "", "", {})
        picks = drive(select(self._threads, thread, found, asked, None), self._backend)
        surface = self._looking(self._threads.surface(thread, namespace))
        assert found.run is not None  # noqa: S101 - it was looked at
        for begin in range(0, len(picks), _PAGE):
            page = picks[begin : begin + _PAGE]
            loaded: dict[str, Stored | None] = {}
            lines = sorted(page, key=lambda pick: pick[0].id)
            for _, group in groupby(lines, key=lambda pick: pick[0].id):
                own = list(group)
                rows = [row for _, row in own]
                flow = thread.reader.several(found.run, own[0][0], rows, surface)
                for row, one in zip(rows, drive(flow, self._backend), strict=True):
                    loaded[row.checkpoint] = one
            for _, row in page:
                if (one := loaded.get(row.checkpoint)) is not None:
                    yield one

    def _looking(self, surface: Surface) -> Surface:
        """Give what values of a namespace are read with by one who changes none of them."""
        own = surface.contract
        codec = self._codecs.get(own)
        if codec is None:
            codec = self._codecs[own] = Looking(self._threads.types.with_classes(own.classes))
        return replace(surface, guard=replace(surface.guard, codec=codec))

    def unlike(
        self, thread: Thread, found: Found, origin: str, spots: Sequence[Spot]
    ) -> Iterator[Unlike]:
        """Say where checkpoints are not what they are elsewhere.

        Args:
            thread: The run that holds them here.
            found: It, as it was just looked at.
            origin: The thread that they come from.
            spots: Which checkpoints are compared.
        """
        by_namespace: dict[str, set[str]] = {}
        for spot in spots:
            by_namespace.setdefault(spot.namespace, set()).add(spot.checkpoint)
        lines: dict[str, list[LineRow]] = {}
        for line in found.lines:
            lines.setdefault(line.namespace, []).append(line)
        for namespace, wanted in by_namespace.items():
            own = replace(found, lines=tuple(lines.get(namespace, ())))
            source = self._origin.namespace(origin)
            left = set(wanted)
            known = _Known(wanted)
            for stored in self.stored(thread, own, namespace):
                name = stored.header.checkpoint
                if name not in wanted:
                    continue
                left.discard(name)
                spot = Spot(name, namespace)
                read = source.read(spot)
                if read is None:
                    yield Unlike(_told(spot, CHECKPOINT, (), "it has gone meanwhile"))
                    continue
                yield from self._of_one(spot, read, stored, thread, known)
            for name in sorted(left):
                yield Unlike(_told(Spot(name, namespace), CHECKPOINT, (), "it is not there"))

    def _of_one(
        self, spot: Spot, read: Read, stored: Stored, thread: Thread, known: _Known
    ) -> Iterator[Unlike]:
        surface = self._threads.surface(thread, spot.namespace)
        first = self._first(spot, read, stored, surface, known)
        if first is not None and (without := refused(read, surface)):
            first = self._first(spot, lacking(read, without), stored, surface, known)
        if first is not None:
            yield first

    def _first(
        self, spot: Spot, read: Read, stored: Stored, surface: Surface, known: _Known
    ) -> Unlike | None:
        """Give the first difference of one checkpoint."""
        step, _ = step_of(self._origin, self._threads, read.found, stored.header.parent, surface)
        said = self._origin.conversion.said(read.found)
        expected = checkpoint_of(
            spot.checkpoint, project(surface.contract, step.values, surface.guard.codec), said
        )
        told = unpack_metadata(stored.header, surface.guard.codec)
        got = checkpoint_of(spot.checkpoint, stored.values, told)
        for place, name, one, other in (
            *_pairs(CHECKPOINT, expected, got, ("channel_values",)),
            *_pairs("state", expected["channel_values"], got["channel_values"]),
            *_pairs("metadata", metadata_of(said), metadata_of(told)),
        ):
            if self._pictures.same(one, other):
                continue
            own = METADATA if place == "metadata" else None
            path = (name,) if own is None else (own.name, name)
            if (where := _unlike(one, other, path, surface, own)) is not None:
                return Unlike(_told(spot, place, *where))
        parent = known.parent(read.found)
        if parent != stored.header.parent:
            return Unlike(_told(spot, CHECKPOINT, ("parent",), "it is another one"))
        return self._unlike_writes(spot, read, stored, surface)

    def _unlike_writes(
        self, spot: Spot, read: Read, stored: Stored, surface: Surface
    ) -> Unlike | None:
        expected = self._writes(read, surface)
        got = [(one.task, one.channel, one.value) for one in stored.writes if one.channel != ASKED]
        if len(expected) == len(got) and _holds(expected, got, surface):
            return None
        where = _told(spot, "write", (), "what tasks wrote is not the same, or in another order")
        if len(expected) > len(got) and _holds(expected, got, surface):
            return Unlike(where, "more")
        if len(expected) < len(got) and _holds(got, expected, surface):
            return Unlike(where, "fewer")
        return Unlike(where)

    def _writes(self, read: Read, surface: Surface) -> list[_Write]:
        """Give what tasks wrote that is stored, in the order in which LangGraph applies it."""
        found: dict[tuple[str, str, int], _Write] = {}
        told = surface.services.scanner.text
        for batch in batches(self._origin, self._threads, read, surface):
            for place, (channel, value) in enumerate(batch.writes):
                spec = surface.contract.fields.get(channel) or undeclared(channel)
                if spec.rule.stored:
                    task, path = told(batch.task), told(batch.path)
                    key = (path, task, SPECIAL.get(channel, place))
                    found[key] = (task, channel, value)
        return [found[key] for key in sorted(found)]


_Write = tuple[str, str, Any]


class _Known:
    """The checkpoints that are compared; the parent of one is told where it is among them."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def parent(self, found: CheckpointTuple) -> str:
        parent = parent_of(found)
        return parent if parent in self._names else ""


def _holds(longer: Sequence[_Write], shorter: Sequence[_Write], surface: Surface) -> bool:
    """Tell whether all writes of one list stand in another, in the same order."""
    left = iter(longer)
    return all(any(_is_same_write(one, other, surface) for other in left) for one in shorter)


def _is_same_write(one: _Write, other: _Write, surface: Surface) -> bool:
    if one[:2] != other[:2]:
        return False
    path = (one[1],)
    found = (_unlike(one[2], other[2], path, surface), _unlike(other[2], one[2], path, surface))
    return None in found


def _pairs(
    place: str, expected: Mapping[str, Any], got: Mapping[str, Any], without: Sequence[str] = ()
) -> Iterator[tuple[str, str, Any, Any]]:
    for name in dict.fromkeys((*expected, *got)):
        if name not in without:
            yield place, name, expected.get(name, _MISSING), got.get(name, _MISSING)


def _unlike(
    expected: Any, got: Any, path: Path, surface: Surface, own: Field | None = None
) -> tuple[Path, str] | None:
    """Say where two values differ, once what is secret in the one is withheld as in the other."""
    if expected is _MISSING or got is _MISSING:
        return path, "it is not there" if got is _MISSING else "it is not where it comes from"
    codec = surface.guard.codec
    where = difference(expected, got, path, codec)
    if where is None:
        return None
    spec = own or surface.contract.fields.get(str(path[0])) or undeclared(str(path[0]))
    findings = surface.guard.look(spec, expected, path)
    put = dict(surface.guard.decide(spec, expected, path, findings))
    if not put:
        return where
    kept = put.pop(path, expected)
    return difference(codec.unpack(codec.pack(kept, path, substitute=put)), got, path, codec)


def _told(spot: Spot, place: str, path: Path, why: str) -> LeftOut:
    return LeftOut(spot.checkpoint, spot.namespace, place, format_path(path), why)
