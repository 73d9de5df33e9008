"""One call of a bound graph: whether it goes on, and what of it the store has refused meanwhile.

LangGraph saves in the background and asks what came of it when the call ends. Here a checkpoint
that is refused stops the call before its next node: all that the call does after it would be lost,
and what its nodes do to the world outside would be done for nothing, or twice.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from copy import copy
from typing import Any, Final

from keepset.adapters.langgraph.address import Address
from keepset.adapters.langgraph.handed import Handed
from keepset.backends.driver import adrive, drive
from keepset.errors import KeepsetError
from keepset.plan.rows import RunKey
from keepset.run.holding import Holding
from keepset.run.services import Services

_log = logging.getLogger("keepset")

EXECUTION: Final = "__pregel_keepset"
"""Key of a configurable. LangGraph takes what begins with ``__pregel_`` out of what it streams."""


class Execution:
    """One call of a bound graph; those of graphs inside belong to it.

    Attributes:
        resuming: Whether it goes on with what is next, and does not begin with a new input.
        handed: What its tasks have written.
        is_async: Whether it runs on an event loop.
    """

    __slots__ = ("__weakref__", "_leased", "_parts", "_refused", "handed", "is_async", "resuming")

    def __init__(self, *, resuming: bool) -> None:
        """Begin with nothing refused, and with no lease."""
        self.resuming = resuming
        self.handed = Handed()
        self.is_async = False
        self._parts: object = None
        self._refused: dict[tuple[str, str], KeepsetError] = {}
        self._leased: dict[tuple[str, str, int], tuple[Holding, Services]] = {}

    def holding(self, thread: str, services: Services) -> Holding:
        """Give its lease of a thread, which it may have or not."""
        key = (thread, services.tenant, id(services.leases))
        if key not in self._leased:
            run = RunKey(services.tenant, thread)
            fresh = services.leases.holding(run, is_open=False)
            self._leased.setdefault(key, (fresh, services))
        return self._leased[key][0]

    def streams(self, parts: AsyncIterator[Any]) -> None:
        """Begin to close as soon as nobody has what it streams any more.

        An event loop finds that out before, and closes the stream when it is its turn.
        """
        self.is_async = True
        own = weakref.ref(self)

        def close(_: object) -> None:
            execution = own()
            if execution is not None:
                execution.close()

        self._parts = weakref.ref(parts, close)

    def close(self) -> None:
        """Take note that it is on its way to its end."""
        for holding, _ in self._leased.values():
            holding.closing = True

    def end(self) -> None:
        """Give back all leases."""
        for holding, services in self._leased.values():
            holding.over = True
            try:
                drive(holding.give_back(), services.backend)
            except KeepsetError as error:
                _tell(holding, error)

    async def aend(self) -> None:
        """See `end`."""
        for holding, services in self._leased.values():
            holding.over = True
            try:
                await adrive(holding.give_back(), services.backend)
            except KeepsetError as error:
                _tell(holding, error)

    def refuse(self, at: Address, error: KeepsetError) -> None:
        """Take note that a checkpoint was refused; the first reason of a namespace counts."""
        self._refused.setdefault((at.thread, at.namespace), copy(error))

    def require_saved(self, thread: str, namespace: str) -> None:
        """Refuse to go on in a namespace, where a checkpoint of it or of one around it was.

        Raises:
            KeepsetError: Why it was, or that the thread's lease was lost.
        """
        for (leased, *_), (holding, _) in list(self._leased.items()):
            if leased == thread:
                holding.require()
        for (refused, around), error in list(self._refused.items()):
            if refused == thread and (not around or f"{namespace}|".startswith(f"{around}|")):
                raise copy(error)


def execution_of(config: Mapping[str, Any] | None) -> Execution | None:
    """Give the call that a config belongs to; None where no bound graph was called."""
    found = ((config or {}).get("configurable") or {}).get(EXECUTION)
    return found if isinstance(found, Execution) else None


def _tell(holding: Holding, error: KeepsetError) -> None:
    run = holding.key.run_id
    _log.warning("the lease of thread %s ends by itself, since %s", run, error.message)


def until_end(parts: Iterator[Any], execution: Execution | None) -> Iterator[Any]:
    """Give what a call streams, and end the call with it."""
    return parts if execution is None else _until_end(parts, execution)


def _until_end(parts: Iterator[Any], execution: Execution) -> Generator[Any, Any, Any]:
    try:
        return (yield from parts)
    finally:
        execution.end()


def auntil_end(parts: AsyncIterator[Any], execution: Execution | None) -> AsyncIterator[Any]:
    """See `until_end`."""
    if execution is None:
        return parts
    until = _auntil_end(parts, execution)
    execution.streams(until)
    return until


async def _auntil_end(parts: AsyncIterator[Any], execution: Execution) -> AsyncGenerator[Any, None]:
    try:
        async for part in parts:
            yield part
    finally:
        execution.close()
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()
        await execution.aend()
