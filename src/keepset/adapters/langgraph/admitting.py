"""`Extract`, `Drop` and ``without`` on what enters a graph's state: the way in is a node's writers.

A node's writers map what it returns to writes of channels. These are stored as the task's pending
writes and then enter the channels, so that the rules are applied in the writers, once: a run that
resumes an interrupted step reads what the step would have gone on with. The input of a graph and
what a `Command` brings that resumes it do not pass writers and are admitted by themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Final, TypeAlias, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.channels import UntrackedValue
from langgraph.pregel._write import (
    SKIP_WRITE,
    ChannelWrite,
    ChannelWriteEntry,
    ChannelWriteTupleEntry,
)
from langgraph.types import Command, Send

from keepset.adapters.langgraph.host import Overwrite
from keepset.adapters.langgraph.records import changed, entered, held
from keepset.adapters.langgraph.restoring import TASKS, with_argument
from keepset.adapters.langgraph.running import reader_of, running
from keepset.contracts import MISSING, Contract, Drop, Extract, Field, Keep
from keepset.contracts.admit import LEAVES, is_extracted
from keepset.contracts.paths import Wild, parse_glob
from keepset.contracts.pruned import pruned
from keepset.errors import PolicyError

A = TypeVar("A")
B = TypeVar("B")

_Entry: TypeAlias = ChannelWriteEntry | ChannelWriteTupleEntry | Send
_Sends: TypeAlias = Callable[[RunnableConfig | None], AbstractContextManager[None]]

_SEND: Final = "__pregel_send"
_DECLARED: Final = "_is_channel_writer"
_ONE_OF_MANY = (Wild.ONE, Wild.ITEM, Wild.ANY)


class Admission:
    """The rules of one graph's channels that shape what enters its state.

    Attributes:
        channels: The graph's channels, not bound.
        picture: Gives what is stored of a value of a channel, as it is at this moment.
    """

    def __init__(self, contract: Contract, channels: Mapping[str, Any]) -> None:
        """Find the fields that have such a rule; most graphs have none.

        Args:
            contract: The graph's contract.
            channels: The graph's channels. One that is not tracked is live and not dropped.
        """
        self._contract = contract
        self.channels = channels
        self.picture: Callable[[str, Any], Any] = _as_it_is
        self._shaped = {
            name: field
            for name, field in contract.fields.items()
            if _shapes(field) and not isinstance(channels.get(name), UntrackedValue)
        }

    def __bool__(self) -> bool:
        """Tell whether any field has such a rule."""
        return bool(self._shaped)

    def admit(self, channel: str, value: Any) -> Any:
        """Give what enters a channel in place of what a step gives; `MISSING` for nothing.

        Raises:
            PolicyError: ``extract.path``, ``extract.failed`` or ``without.required``.
        """
        field = self._shaped.get(channel)
        if field is None:
            return value
        if isinstance(value, Overwrite):
            inner = self.admit(channel, value.value)
            return MISSING if inner is MISSING else replace(value, value=inner)
        if isinstance(field.rule, Extract):
            return self._extracted(field, value)
        if isinstance(field.rule, Drop):
            return field.fill({})
        return _without(field, value)

    def _extracted(self, field: Field, value: Any) -> Any:
        try:
            return self._contract.admit({field.name: value})[field.name]
        except PolicyError as error:
            # A node that returns its whole input gives back what was extracted before. Any other
            # value of that kind is one that the function could not mask.
            is_failed = error.code == "extract.failed" and is_extracted(field, value)
            if is_failed and _was_there(field.name, value):
                return value
            raise

    def writes(self, given: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Admit what a step writes, less what is dropped."""
        admitted = [(channel, self.admit(channel, value)) for channel, value in given]
        return [(channel, value) for channel, value in admitted if value is not MISSING]

    def by_key(self, given: Any) -> Any:
        """Give the input of a graph by channel; what has no keys is given back."""
        return entered(self._contract, given)

    def input(self, given: Any) -> Any:
        """Admit the input of a graph, by channel; what has no keys is the same."""
        by_key = self.by_key(given)
        return dict(self.writes(list(by_key.items()))) if isinstance(by_key, dict) else given

    def sent(self, packet: Any) -> Any:
        """Admit what the argument of a `Send` holds of the state; an instance stays one."""
        if not isinstance(packet, Send):
            return packet
        there = held(packet.arg, self._shaped)
        own = [(name, value) for name, value in there.items() if name in self._shaped]
        kept = {name: value for name, value in self.writes(own) if value is not there[name]}
        return with_argument(packet, changed(packet.arg, kept)) if kept else packet

    @contextmanager
    def _sending(self, node: str, config: RunnableConfig | None) -> Iterator[None]:
        """Admit the arguments of a `Send` that a writer writes meanwhile: it does not do so itself.

        It is done before the next writer begins: what that fails with is stored beside them.
        """
        configurable: Mapping[str, Any] = (config or {}).get("configurable") or {}
        writes = getattr(configurable.get(_SEND), "__self__", None)
        if not isinstance(writes, deque):
            yield
            return
        before = len(writes)
        yield
        admit = _told(node, self.sent)
        try:
            with _reading(config):
                for index in range(before, len(writes)):
                    channel, value = writes[index]
                    if channel == TASKS:
                        writes[index] = (channel, admit(value))
        except PolicyError:
            writes.clear()  # LangGraph stores what a task that fails has written so far
            raise

    def command(self, given: Any) -> Any:
        """Admit what a command brings with which a graph is called; anything else is the same."""
        if not self or not isinstance(given, Command):
            return given
        goto: Any = given.goto
        goto = [*map(self.sent, goto)] if isinstance(goto, list | tuple) else self.sent(goto)
        if given.update is None:
            return replace(given, goto=goto)
        updates = given._update_as_tuples()  # noqa: SLF001 - as LangGraph itself reads it
        return replace(given, goto=goto, update=self.writes(updates))

    def writer(self, writer: Runnable[Any, Any], node: str) -> Runnable[Any, Any]:
        """Give a node's writer of which all is admitted; a refusal says thread and node."""
        if not isinstance(writer, ChannelWrite):
            return _Sending(writer, partial(self._sending, node))
        entries = [self._entry(entry, node) for entry in writer.writes]
        return _Admitting(entries, partial(self._sending, node), writer.tags)

    def beginning(
        self, writers: Sequence[Runnable[Any, Any]], node: str
    ) -> list[Runnable[Any, Any]]:
        """Give the writers of what a graph begins with: its channel has admitted that of a call."""
        return [
            *(
                _Beginning(one, self.writer(one, node))
                if isinstance(one, ChannelWrite)
                else self.writer(one, node)
                for one in writers
            ),
            _Apart(),
        ]

    def _entry(self, entry: _Entry, node: str) -> _Entry:
        if isinstance(entry, ChannelWriteTupleEntry):
            return entry._replace(mapper=_then_all(entry.mapper, _told(node, self.writes)))
        if isinstance(entry, ChannelWriteEntry):
            mapper = self._then_one(entry.channel, entry.mapper)
            return entry if mapper is None else entry._replace(mapper=_told(node, mapper))
        return entry

    def _then_one(
        self, channel: str, mapper: Callable[[Any], Any] | None
    ) -> Callable[[Any], Any] | None:
        if channel not in self._shaped:
            return mapper

        def admitted(value: Any) -> Any:
            given = value if mapper is None else mapper(value)
            if given is SKIP_WRITE:
                return given
            kept = self.admit(channel, given)
            return SKIP_WRITE if kept is MISSING else kept

        return admitted


class _Admitting(ChannelWrite):
    """A node's writer of which the mappers can see what the task has read."""

    def __init__(
        self, writes: Sequence[_Entry], sending: _Sends, tags: Sequence[str] | None
    ) -> None:
        """Take what it writes, and what shapes the arguments of a `Send` among that."""
        super().__init__(writes, tags=tags)
        self._sending = sending

    def _write(self, input: Any, config: RunnableConfig) -> None:  # noqa: A002 - LangGraph's name
        with _reading(config), self._sending(config):
            return super()._write(input, config)

    async def _awrite(self, input: Any, config: RunnableConfig) -> None:  # noqa: A002 - the same
        with _reading(config), self._sending(config):
            return await super()._awrite(input, config)


class _Beginning(ChannelWrite):
    """The writer of a beginning, which admits what an update brings that passes no channel."""

    def __init__(self, plain: ChannelWrite, admitting: Runnable[Any, Any]) -> None:
        """Take the writer itself, and what writes in its place during an update."""
        super().__init__(plain.writes, tags=plain.tags)
        self._admitting = admitting

    def _write(self, input: Any, config: RunnableConfig) -> Any:  # noqa: A002 - LangGraph's name
        if _UPDATES.get():
            return self._admitting.invoke(input, config)
        return super()._write(input, config)

    async def _awrite(self, input: Any, config: RunnableConfig) -> Any:  # noqa: A002 - the same
        if _UPDATES.get():
            return await self._admitting.ainvoke(input, config)
        return await super()._awrite(input, config)


class _Apart(Runnable[Any, Any]):
    """Stands behind writers, of which LangGraph makes a plain one if they are the last."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 - LangChain's name
        """Do nothing."""
        del config
        return input

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 - LangChain's name
        """Do nothing; no thread is asked for that."""
        del config
        return input


class _Sending(Runnable[Any, Any]):
    """A branch, which writes where to go: the arguments of a `Send` are shaped."""

    def __init__(self, branch: Runnable[Any, Any], sending: _Sends) -> None:
        """Take a branch, and what shapes the arguments that it writes."""
        self.name = "Sending"
        self._branch = branch
        self._sending = sending
        # LangGraph draws a graph by what its branches say of themselves.
        ChannelWrite.register_writer(self, getattr(branch, _DECLARED, None))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 - LangChain's name
        """Go where the branch says."""
        with self._sending(config):
            return self._branch.invoke(input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 - LangChain's name
        """See `invoke`."""
        with self._sending(config):
            return await self._branch.ainvoke(input, config)


_UPDATES: ContextVar[bool] = ContextVar("keepset_updates", default=False)


@contextmanager
def updating() -> Iterator[None]:
    """Have what is written meanwhile admitted also where it is written as the beginning."""
    token = _UPDATES.set(True)
    try:
        yield
    finally:
        _UPDATES.reset(token)


_READ: ContextVar[Callable[..., Any] | None] = ContextVar("keepset_read", default=None)


@contextmanager
def _reading(config: Mapping[str, Any] | None) -> Iterator[None]:
    """Let `_was_there` know the state that a task has read."""
    token = _READ.set(reader_of(config))
    try:
        yield
    finally:
        _READ.reset(token)


def _was_there(channel: str, value: Any) -> bool:
    """Tell whether a value stood in a channel when the task began, or the task itself put it there.

    A graph inside may be given what the graph around it has extracted. Never so is what comes from
    outside: an input, another saver.
    """
    place = running()
    read = _READ.get() or (place.read if place else None)
    return (
        read is not None
        and _extracts(read, channel)
        and any(_is_same(read(channel, fresh=own), value) for own in (False, True))
    )


def _extracts(read: Callable[..., Any], channel: str) -> bool:
    """Tell whether a graph that a task reads is bound and has such a rule for a channel."""
    given = getattr(read, "args", ())  # LangGraph's own function, and the channels that it reads
    channels = (one.get(channel) for one in given if isinstance(one, Mapping))
    keepers = (getattr(one, "keeper", None) for one in channels)
    rules = (one.contract.fields[channel].rule for one in keepers if one is not None)
    return any(isinstance(rule, Extract) for rule in rules)


def _is_same(one: Any, value: Any) -> bool:
    return one is value or (
        type(one) is type(value) and isinstance(one, LEAVES) and bool(one == value)
    )


def _as_it_is(_channel: str, value: Any) -> Any:
    return value


def _told(node: str, function: Callable[[A], B]) -> Callable[[A], B]:
    """Give a function whose refusals name the node that it works for, and its thread."""

    @wraps(function)
    def telling(given: A) -> B:
        try:
            return function(given)
        except PolicyError as error:
            place = running()
            said = error.within(f"node {node}") if place is None else place.told_of(error, node)
            raise said from error.__cause__

    return telling


def _then_all(
    mapper: Callable[[Any], Sequence[tuple[str, Any]] | None],
    admit: Callable[[Sequence[tuple[str, Any]]], list[tuple[str, Any]]],
) -> Callable[[Any], Sequence[tuple[str, Any]] | None]:
    def admitted(value: Any) -> Sequence[tuple[str, Any]] | None:
        given = mapper(value)
        return admit(given) if given else given

    return admitted


def _shapes(field: Field) -> bool:
    rule = field.rule
    return isinstance(rule, Extract | Drop) or (isinstance(rule, Keep) and bool(rule.without))


def _without(field: Field, value: Any) -> Any:
    """Leave out the paths of ``without``; one item that a reducer adds is seen as a list of one."""
    rule = field.rule
    if not isinstance(rule, Keep):
        return value
    for text in rule.without:
        glob = parse_glob(text)
        alone = not isinstance(value, list | tuple | dict) and glob[0] in _ONE_OF_MANY
        kept = pruned([value] if alone else value, glob, (field.name,))
        value = kept[0] if alone and kept else kept
    return value
