"""Values of a checkpoint that cannot be stored here, found one by one once it was refused whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from keepset.adapters.langgraph.importing_source import Read, Wrong
from keepset.errors import PolicyError, UsageError
from keepset.plan.record import undeclared
from keepset.readers.langgraph.names import surface as surface_of
from keepset.run.hosted import Surface

REFUSALS: Final = (PolicyError, UsageError)
"""What a value raises that cannot be stored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be stored of a checkpoint.

    Attributes:
        fields: Why, by channel.
        writes: Why, by the place among the pending writes.
    """

    fields: Mapping[str, str]
    writes: Mapping[int, str]

    def __bool__(self) -> bool:
        """Tell whether there is anything."""
        return bool(self.fields or self.writes)

    def wrong(self, read: Read) -> Iterator[Wrong]:
        """List it."""
        for name, why in self.fields.items():
            yield Wrong(surface_of(name, "state"), (name,), why)
        for place, why in self.writes.items():
            channel = (read.found.pending_writes or [])[place][1]
            yield Wrong(surface_of(channel, "write"), (channel,), why)


def refused(read: Read, surface: Surface) -> Refused:
    """Try each value of a checkpoint by itself."""
    values = read.found.checkpoint["channel_values"].items()
    fields = {name: _why_not(surface, name, value) for name, value in values}
    writes = {
        place: _why_not(surface, channel, value)
        for place, (_, channel, value) in enumerate(read.found.pending_writes or ())
    }
    return Refused(
        {name: why for name, why in fields.items() if why is not None},
        {place: why for place, why in writes.items() if why is not None},
    )


def lacking(read: Read, without: Refused) -> Read:
    """Give a checkpoint without what cannot be stored of it."""
    found = read.found
    values = found.checkpoint["channel_values"]
    checkpoint: Any = {
        **found.checkpoint,
        "channel_values": {n: one for n, one in values.items() if n not in without.fields},
    }
    written = enumerate(found.pending_writes or ())
    kept = [one for place, one in written if place not in without.writes]
    return replace(read, found=found._replace(checkpoint=checkpoint, pending_writes=kept))


def _why_not(surface: Surface, name: str, value: Any) -> str | None:
    spec = surface.contract.fields.get(name) or undeclared(name)
    if not spec.rule.stored:
        return None
    guard = surface.guard
    try:
        findings = guard.look(spec, value, (name,))
        guard.codec.pack(value, (name,), substitute=guard.decide(spec, value, (name,), findings))
    except REFUSALS as error:
        return error.message
    return None
