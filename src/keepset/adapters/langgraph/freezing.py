"""Channels that give a checkpoint what they hold at that moment, whatever becomes of it later.

LangGraph hands a saver the live objects of a state, and with ``durability="async"`` it does so
while the next node already works on them. A channel of a bound graph is of a subclass made for it:
its `update`, which LangGraph calls at the end of each step and before it goes on, takes a picture
of the value, and its `checkpoint` gives the latest one. What cannot be stored is so refused before
a next node runs. That holds for ``durability="exit"`` as well, where the checkpoint of a step is
asked for only when the run ends, after later nodes have worked on the same objects. Of what tasks
write pictures are taken as well, see `keepset.adapters.langgraph.handing`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Final

from langgraph._internal._typing import MISSING
from langgraph.channels import (
    AnyValue,
    BinaryOperatorAggregate,
    EphemeralValue,
    LastValue,
    Topic,
    UntrackedValue,
)
from langgraph.channels.base import BaseChannel
from langgraph.errors import InvalidUpdateError

from keepset.adapters.langgraph.admitting import Admission
from keepset.adapters.langgraph.advice import advised
from keepset.adapters.langgraph.handed import ATOMS
from keepset.adapters.langgraph.host import DeltaChannel, Overwrite
from keepset.adapters.langgraph.restoring import START, left_out
from keepset.adapters.langgraph.running import running
from keepset.codec import Codec
from keepset.contracts import Contract
from keepset.errors import KeepsetError, PolicyError
from keepset.plan.pictured import Pictured, shown, take

_NONE: Final = object()
"""No picture was taken yet."""
_COPY: Final = object()
"""In place of a picture: the channel is a copy of one."""
_AT_ONCE: Final = (AnyValue, BinaryOperatorAggregate, EphemeralValue, LastValue, Topic)
"""Channels that only `update` changes."""
_SNAPSHOT: Final = "create_checkpoint"
"""The function of LangGraph's that stores the whole value of a channel that is rebuilt."""
_SECRET: Final = "codec.secret-type"  # noqa: S105 - the code of a refusal


class Keeper:
    """What the channels of one graph share.

    Attributes:
        contract: The graph's rules.
        codec: Knows the classes that its values may have.
        admission: Shapes what enters its state.
    """

    __slots__ = ("admission", "codec", "contract")

    def __init__(self, contract: Contract, codec: Codec, admission: Admission) -> None:
        """Take the rules of a graph, and the codec that its saver uses for it."""
        self.contract = contract
        self.codec = codec
        self.admission = admission
        admission.picture = partial(self.picture, before=None)

    def is_stored(self, channel: str) -> bool:
        """Tell whether a checkpoint has the channel's value."""
        field = self.contract.fields.get(channel)
        return field is None or field.rule.stored

    def check(self, channel: str, given: Any) -> None:
        """Refuse what cannot be stored, with its path.

        Raises:
            PolicyError: A part of it has a type that is unknown, is a live handle, or the like.
        """
        value = given.value if isinstance(given, Overwrite) else given
        if type(value) in ATOMS or not self.is_stored(channel):
            return
        try:
            self.codec.pack(left_out(self.contract, channel, value), (channel,))
        except PolicyError as error:
            if error.code != _SECRET:  # the saver withholds it
                raise advised(error, bound=True) from error.__cause__

    def picture(self, channel: str, value: Any, before: Pictured | None) -> Any:
        """Give what a checkpoint has of a channel's value: a picture, or what cannot change.

        Raises:
            PolicyError: The value cannot be stored.
        """
        if type(value) in ATOMS or not self.is_stored(channel):
            return value
        kept = left_out(self.contract, channel, value)
        try:
            if before is None:
                return take(kept, (channel,), self.codec)
            return before.then(kept, (channel,))
        except PolicyError as error:
            if error.code != _SECRET:
                raise advised(error, bound=True) from error.__cause__
        return deepcopy(kept)


class _Placed(BaseChannel[Any, Any, Any]):
    """A channel that knows where it works; stands before the host's own class."""

    __slots__ = ()

    keeper: ClassVar[Keeper]
    channel: ClassVar[str]

    def from_checkpoint(self, checkpoint: Any) -> Any:
        made = super().from_checkpoint(shown(checkpoint))  # type: ignore[safe-super] # the host's class comes after
        object.__setattr__(made, "place", running())  # a slot of the class that is made
        return made

    def _told(self, error: KeepsetError) -> KeepsetError:
        """Give an error with the thread, and with the node where that is known."""
        place = getattr(self, "place", None)
        return error if place is None else place.told(error, self.channel)

    def _check(self, values: Sequence[Any]) -> None:
        """Refuse what cannot be stored of what is written."""
        try:
            for value in values:
                self.keeper.check(self.channel, value)
        except PolicyError as error:
            raise self._told(error) from error.__cause__


class _Bound(_Placed):
    """What every channel of a bound graph does.

    LangGraph calls `update` of every channel that has a value at the end of each step, where the
    step gave nothing to it too, and never while a node runs.
    """

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        changed = super().update(values)  # type: ignore[safe-super] # the host's class comes after
        if self._last() is not _COPY:
            self._take()
        return changed

    def checkpoint(self) -> Any:
        last = self._last()
        if super().checkpoint() is MISSING:
            return MISSING
        return self._take() if last is _NONE or last is _COPY else last

    def copy(self) -> Any:
        """Give a copy, as a branch uses to see what one node wrote; nothing of it is stored."""
        made = super().copy()
        object.__setattr__(made, "taken", _COPY)
        return made

    def _take(self) -> Any:
        """Take a picture of what the channel holds."""
        value = super().checkpoint()
        before = self._last()
        if value is not MISSING:
            known = before if isinstance(before, Pictured) else None
            try:
                value = self.keeper.picture(self.channel, value, known)
            except PolicyError as error:
                raise self._told(error) from error.__cause__
        if before is not _COPY:
            self._keep(_NONE if value is MISSING else value)
        return value

    def _last(self) -> Any:
        return getattr(self, "taken", _NONE)

    def _keep(self, value: Any) -> None:
        object.__setattr__(self, "taken", value)  # a slot of the class that is made


class _Finishing(_Bound):
    """A channel that LangGraph also changes after it has updated all of them."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        self._check(values)
        return super(_Bound, self).update(values)  # type: ignore[safe-super] # the host's class

    def checkpoint(self) -> Any:
        value = super(_Bound, self).checkpoint()
        return value if value is MISSING else self.keeper.picture(self.channel, value, None)


class _Rebuilt(_Placed):
    """A channel that is rebuilt from what steps wrote: that is checked, and no picture is taken."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        self._check(values)
        return super().update(values)  # type: ignore[safe-super] # the host's class comes after

    def get(self) -> Any:
        """Give the value; to a checkpoint that will hold all of it, one that nobody changes."""
        value = super().get()  # type: ignore[safe-super] # the host's class comes after
        asking = sys._getframe(1).f_code.co_name  # noqa: SLF001 - LangGraph asks in one way only
        if asking != _SNAPSHOT:
            return value
        try:
            return shown(self.keeper.picture(self.channel, value, None))
        except PolicyError as error:
            raise self._told(error) from error.__cause__


class _Input(_Bound):
    """The channel of a graph's input, to which its rules apply as to what a node gives."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        admit = self.keeper.admission.input
        try:
            admitted = [admit(value) for value in values]
        except PolicyError as error:
            raise self._told(error) from error.__cause__
        return super().update(admitted)


class _Live(LastValue[Any]):
    """A value that is there while a graph runs and in no checkpoint.

    It takes the place of LangGraph's `UntrackedValue`, whose key LangGraph takes out of the
    arguments of a `Send`: a node that runs again would then not find it.
    """

    __slots__ = ()

    guard: ClassVar[bool]

    def update(self, values: Sequence[Any]) -> bool:
        if self.guard and len(values) > 1:
            raise InvalidUpdateError(
                f"At key '{self.key}': only one value a step can be received; use guard=False."
            )
        return super().update(values[-1:])

    def checkpoint(self) -> Any:
        return MISSING

    def from_checkpoint(self, checkpoint: Any) -> Any:
        return super().from_checkpoint(shown(checkpoint))


def bound_channels(channels: Mapping[str, Any], keeper: Keeper) -> dict[str, Any]:
    """Give a graph's channels as channels of a bound graph; managed values stay as they are.

    Args:
        channels: The channels by name, as a compiled graph has them. They are not changed.
        keeper: What they share.
    """
    return {name: _bound(name, channel, keeper) for name, channel in channels.items()}


def _bound(name: str, channel: Any, keeper: Keeper) -> Any:
    if not isinstance(channel, BaseChannel):
        return channel
    if isinstance(channel, UntrackedValue):
        cls = type("UntrackedValue", (_Live,), {"__slots__": (), "guard": channel.guard})
        live: Any = cls(channel.typ, name)
        return live
    host: Any = type(channel)
    if isinstance(channel, DeltaChannel):
        base: Any = _Rebuilt
    else:
        base = _Input if name == START else _Bound if host in _AT_ONCE else _Finishing
    members = {"__slots__": ("place", "taken"), "keeper": keeper, "channel": name}
    return _as(type(host.__name__, (base, host), members), channel)


def _as(cls: type[Any], channel: Any) -> Any:
    """Make a channel of another class that holds what a channel does."""
    made: Any = object.__new__(cls)
    for part in type(channel).__mro__:
        slots = part.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(channel, slot):
                setattr(made, slot, getattr(channel, slot))
    for attribute, value in getattr(channel, "__dict__", {}).items():
        setattr(made, attribute, value)
    return made
