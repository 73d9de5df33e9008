"""What a session is as a run: a list of items, with a checkpoint for each that was added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, TypedDict

from keepset.codec import GLOBAL, Codec, format_path
from keepset.contracts import Keep, contract, contract_of
from keepset.plan.guard import Guard
from keepset.plan.record import Header
from keepset.run.entering import Entering
from keepset.run.hosted import HostReader, HostStep, HostWriter, Known, Surface
from keepset.run.reporting import Report
from keepset.run.services import Services, codec_of
from keepset.run.stored import contract_row
from keepset.verdict.status import Status

NAME: Final = "openai-agents/session"
ITEMS: Final = "items"
STEP: Final = "openai-agents:item"
"""What each step of a session is called."""


@contract(name=NAME)
class Session(TypedDict):
    """A session of the OpenAI Agents SDK."""

    items: Annotated[list[Any], Keep()]


class SessionRun:
    """One session in a store.

    Attributes:
        reader: Reads its checkpoints.
        report: Counts what the detectors find.
    """

    def __init__(self, services: Services, run: str) -> None:
        """Remember what the session is called; nothing is read yet.

        Args:
            services: The store's parts.
            run: The session's id.
        """
        own = contract_of(Session)
        known = Known(services, run, contract_row(own), bound=True)
        self.reader = HostReader(known)
        self._writer = HostWriter(known, self.reader)
        self.report = Report(run)
        codec = codec_of(own)
        guard = Guard(services.scanner, codec, services.mode)
        guard.require_declared(own)
        self.surface = Surface(services, own, guard, self.report, Entering(services, own, codec))

    @property
    def codec(self) -> Codec:
        """What packs its items."""
        return self.surface.guard.codec

    def adding(self, items: Sequence[Any], name: str, parent: str, at: int) -> Any:
        """Give the flow that stores the session with one more item.

        Args:
            items: All items, the new one last.
            name: Id of the checkpoint.
            parent: Id of the one before; empty for the first.
            at: When the item was added, milliseconds.
        """
        header = Header(name, STEP, Status.DONE.value, at, b"")
        step = HostStep("", parent, header, {ITEMS: list(items)}, follows=False)
        return self._writer.append(step, self.surface)

    def looking(self) -> Surface:
        """Give what its states are read with by one who changes none of them.

        They have their items in common: copies for each state would take longer than all else.
        """
        codec = _Looking(GLOBAL.with_classes(self.surface.contract.classes))
        return replace(self.surface, guard=replace(self.surface.guard, codec=codec))


class _Looking(Codec):
    """Copies the list of items, and no item: each step adds one, and changes none."""

    __slots__ = ()

    def copy(self, value: Any) -> Any:
        """Copy a list, and nothing in it."""
        return [*value] if type(value) is list else super().copy(value)


def path_of(place: int) -> str:
    """Write where an item lies."""
    return format_path((ITEMS, place))
