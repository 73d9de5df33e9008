"""All values of one run of ours, as they were brought into the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keepset.audit.ours.brought import brought
from keepset.audit.ours.plain import plain
from keepset.audit.ours.watched import Watched
from keepset.audit.ours.weights import LargeWeights, Weights, shares, spread
from keepset.codec import Codec
from keepset.plan.blobs import Blobs
from keepset.plan.bundled import each_write, link_of
from keepset.plan.headers import unpack_metadata
from keepset.plan.large import moved
from keepset.plan.project import is_pin
from keepset.plan.reads import Everything
from keepset.plan.replay import History, Moment, Replay
from keepset.plan.rows import BUNDLE, StepRow, WriteRow
from keepset.readers.langgraph.names import COUNTED, surface
from keepset.readers.ports import Item, Surface

_GONE = object()


@dataclass(frozen=True, slots=True)
class _At:
    """Where values are: the run as it is shown, the namespace, and the step's row."""

    run: str
    namespace: str
    header: StepRow

    def item(self, where: Surface, field: str, size: int, value: object) -> Item:
        """Give a value."""
        header = self.header
        return Item(
            run=self.run,
            namespace=self.namespace,
            step=header.checkpoint,
            surface=where,
            field=field,
            size=size,
            encoding="ours",
            value=plain(value),
            written=header.at / 1000,
        )


class RunItems:
    """Gives the values of one run, one line after the other.

    Args:
        name: What the run is called where it is shown.
        everything: All that is stored of it.
        store: Where its large values are.
        codec: Shows objects as opaque.
    """

    def __init__(self, name: str, everything: Everything, store: Watched, codec: Codec) -> None:
        """Unpack the rows.

        Raises:
            IntegrityError: A row is damaged.
            DecodeError: The codec cannot read a value.
        """
        self._name = name
        self._store = store
        self._codec = codec
        self._replay = Replay(everything, codec)
        self._blobs = Blobs(everything.run.id, codec)
        store.run(self._blobs.fetch_all(self._replay.refs()))
        self._large = LargeWeights(store, self._blobs)
        self._writes: dict[tuple[int, int], list[WriteRow]] = {}
        for line, seq, write, inside in each_write(everything.writes):
            if not inside and link_of(write) is None:
                self._writes.setdefault((line, seq), []).append(write)
        self._bundled = _weighed(everything)

    def items(self) -> Iterator[Item]:
        """Give state, metadata and pending writes of each step.

        Raises:
            IntegrityError: A difference does not fit the value that it stands on.
        """
        for history in self._replay.histories:
            weights = Weights(history)
            moments = self._replay.walk(history, self._blobs)
            for header in history.headers:
                self._store.run(self._blobs.fetch(history.refs_at(header.seq)))
                yield from self._step(history, next(moments), weights)
            next(moments, None)

    def _step(self, history: History, moment: Moment, weights: Weights) -> Iterator[Item]:
        line, seq = history.past.line, moment.header.seq
        at = _At(self._name, line.namespace, moment.header)
        for name in sorted(moment.changed):
            value = moment.values.get(name, _GONE)
            if value is _GONE or is_pin(name):
                continue
            op = history.changes[seq][name].op
            size = weights.of(seq, name) + self._large.of(op)
            found = brought(op, value)
            shown = _unnamed(found) if name in COUNTED else found
            yield at.item(surface(name, "state"), name, size, shown)
        yield from self._metadata(at, weights.header(seq))
        for write in self._writes.get((line.id, seq), ()):
            yield self._write(at, write, len(write.value))
        for own, write in self._replay.bundled(line.id, moment):
            weight = self._bundled.get((line.id, own, write.task, write.index))
            if weight is not None:
                yield self._write(at, write, weight)

    def _metadata(self, at: _At, size: int) -> Iterator[Item]:
        found = unpack_metadata(at.header, self._codec)
        packed = {name: len(self._codec.pack(value)) for name, value in found.items()}
        for name, share in spread(size, packed).items():
            yield at.item("metadata", name, share, found[name])

    def _write(self, at: _At, write: WriteRow, size: int) -> Item:
        refs = moved(write, self._codec)
        value: Any
        if refs:
            digest = refs[0].digest
            self._store.run(self._blobs.fetch({digest: refs[0].size}))
            size += self._large.met([digest])
            value = self._blobs[digest]
        else:
            value = self._codec.unpack(write.value)
        return at.item(surface(write.channel, "write"), write.channel, size, value)


def _unnamed(found: Any) -> Any:
    """Give versions without the channels' names: that of `api_key` is a text, and no key."""
    return [_unnamed(one) for one in found.values()] if isinstance(found, dict) else found


def _weighed(everything: Everything) -> dict[tuple[int, int, str, int], int]:
    """Share out the bytes of each bundle evenly among those writes in it that hold their values.

    What the others wrote lies in a later step, and nowhere else.
    """
    found: dict[tuple[int, int, str, int], int] = {}
    for line, seq, row in everything.writes:
        if row.index == BUNDLE:
            own = [
                (at, one)
                for _, at, one, _ in each_write([(line, seq, row)])
                if link_of(one) is None
            ]
            for (at, one), share in zip(own, shares(len(row.value), len(own)), strict=True):
                found[line, at, one.task, one.index] = share
    return found
