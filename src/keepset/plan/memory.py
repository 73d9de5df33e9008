"""What a writer remembers of a line, so that its next save costs what changed."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from keepset.delta import (
    ABSENT,
    LARGE,
    Change,
    Flat,
    Frozen,
    Hashed,
    Rolled,
    flatten,
    hashed,
    roll,
    whole,
)
from keepset.plan.large import Large
from keepset.plan.later import Later, total
from keepset.plan.packing import NO_PACKS, Packs
from keepset.plan.steps import TailStep

Shown: TypeAlias = Frozen | Rolled | Flat
"""A picture that shows all of a value."""

Picture: TypeAlias = Shown | Hashed


NOTHING_HELD = object()
"""Stands for no value, since None is one."""

HELD = 1024
"""The most characters or bytes of a value that is held."""

_IMMUTABLE = frozenset({str, bytes})


class FieldMemory(NamedTuple):
    """One field as it was at the last save.

    Attributes:
        raw: Picture of the value that the state held.
        stored: Picture of the value that the store holds; the same object as `raw` unless the
            detectors withheld something. None where the field was absent.
        base: Seq of the step that holds the field whole.
        last: Seq of the step that changed the field last.
        chain: Bytes of that whole value and of all differences since.
        held: The value itself, where it is a short text or short bytes and was met unchanged: it
            cannot change, and need not be packed to be known again.
    """

    raw: Picture | None
    stored: Picture | None
    base: int
    last: int
    chain: int
    held: object = NOTHING_HELD

    def after(
        self, raw: Picture | None, stored: Shown, change: Change, seq: int, large: Large
    ) -> tuple[FieldMemory, Change]:
        """Remember a change; the whole value takes its place where it has outgrown that.

        Args:
            raw: Picture of the value in the state.
            stored: Picture of the value in the store.
            change: What leads from the stored value before to the one now.
            seq: Seq of the step.
            large: Takes large values out of a whole value.
        """
        chain = len(change.op) + (0 if change.is_whole else self.chain)
        if not change.is_whole and (self.stored is None or outgrown(chain, stored.size)):
            change = whole(stored.frozen, large.move)
            chain = len(change.op)
        base = seq if change.is_whole else self.base
        return FieldMemory(raw, stored, base, seq, chain), change

    def rolled(self) -> FieldMemory:
        """The same memory with its pictures in chunks, where they are of a long list."""
        if not isinstance(self.raw, Frozen) or not isinstance(self.stored, Frozen):
            return self
        raw = roll(self.raw)
        stored = raw if self.stored is self.raw else roll(self.stored)
        if raw is None or stored is None or raw.count != stored.count:
            return self
        return FieldMemory(raw, stored, self.base, self.last, self.chain)

    def holding(self, value: Any) -> FieldMemory:
        """The same memory with the value itself, where that is short and cannot change.

        Args:
            value: The value that the picture `raw` is of.
        """
        if type(value) in _IMMUTABLE and len(value) <= HELD:
            return self._replace(held=value)
        return self

    def flat(self, value: Any) -> FieldMemory:
        """The same memory with a picture by entries, where the value is a flat mapping.

        Args:
            value: The value that the pictures are of.
        """
        if self.raw is not self.stored or not isinstance(self.raw, Frozen):
            return self
        picture = flatten(value, self.raw)
        if picture is None:
            return self
        return FieldMemory(picture, picture, self.base, self.last, self.chain)

    def hashed(self) -> FieldMemory:
        """The same memory with pictures by digest, where the value is large in its units."""
        known, kept = self.raw, self.stored
        if not isinstance(known, Frozen | Rolled) or not isinstance(kept, Frozen | Rolled):
            return self
        stored = hashed(kept)
        raw = stored if known is kept else hashed(known)
        if raw is None or stored is None:
            return self
        return FieldMemory(raw, stored, self.base, self.last, self.chain)

    def holds(self, packed: bytes) -> bool:
        """Tell whether a packed value is what is stored."""
        known = self.stored
        if isinstance(known, Hashed):
            return known.shows((packed,))
        return known is not None and known.packed() == packed

    @property
    def size(self) -> int:
        """Bytes of memory that the pictures take, nearly."""
        raw, stored = self.raw, self.stored
        size = 0 if raw is None else raw.memory
        return size if raw is stored or stored is None else size + stored.memory


NEVER = FieldMemory(None, None, 0, 0, 0)
"""The memory of a field that the line has never had."""


class LineMemory(NamedTuple):
    """A line as its writer knows it.

    Attributes:
        line: The backend's number of the line; None before its first save.
        seq: Seq of its newest checkpoint; for a fresh fork that of the fork point.
        head: Seq of the newest checkpoint that lies on the line itself; 0 for none.
        checkpoint: Id of the newest checkpoint, empty for none.
        fields: The fields by name.
        tail: The steps that are not packed yet, in order of seq.
        packs: The newest segments of those that are.
        whole: Whether the next save must hold every field whole.
        blobs: Digests of the large values that this writer knows to be stored.
        weight: Bytes that the memory takes, nearly; None where it has to be added up.
    """

    line: int | None = None
    seq: int = 0
    head: int = 0
    checkpoint: str = ""
    fields: Mapping[str, FieldMemory] = MappingProxyType({})
    tail: tuple[TailStep, ...] = ()
    packs: Packs = NO_PACKS
    whole: bool = False
    blobs: frozenset[bytes] = frozenset()
    weight: int | None = None

    @property
    def size(self) -> int:
        """Bytes that the memory takes, nearly."""
        if self.weight is not None:
            return self.weight
        fields = total(self.fields, attrgetter("size"))
        return fields + sum([step.memory for step in self.tail]) + self.packs.memory

    def within(self, limit: int) -> LineMemory:
        """The same memory in no more bytes than a limit, as far as values are large in their units.

        The largest pictures go first.
        """
        over = self.size - limit
        if over <= 0 or isinstance(self.fields, Later):
            return self
        fields = dict(self.fields)
        for name, field in sorted(fields.items(), key=lambda item: -item[1].size):
            if over <= 0 or field.size <= LARGE:
                break
            fields[name] = field.hashed()
            over -= field.size - fields[name].size
        lighter = self._replace(fields=fields, weight=None)
        return lighter._replace(weight=lighter.size)

    def on(self, line: int) -> LineMemory:
        """The same memory, once the line has its number."""
        return self if line == self.line else self._replace(line=line)


SMALL_CHAIN = 512
"""Differences below this many bytes are not worth the whole value."""


def outgrown(chain: int, alive: int) -> bool:
    """Tell whether a field is to be written whole again.

    Args:
        chain: Bytes of its last whole value and of all differences since.
        alive: Bytes of its value now; what the chain has above them is obsolete.
    """
    return chain > SMALL_CHAIN + 2 * alive


def remember_absence(seq: int) -> FieldMemory:
    """Remember that a field is absent since a step."""
    return FieldMemory(None, None, seq, seq, len(ABSENT.op))
