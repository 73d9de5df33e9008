"""Restore once what a run of a graph resumes with, however often LangGraph asks for it."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from keepset.adapters.langgraph.address import RUNTIME, Address
from keepset.adapters.langgraph.checkpoints import OWN
from keepset.adapters.langgraph.continuing import without_tasks
from keepset.adapters.langgraph.restoring import (
    TASKS,
    channels_as_ruled,
    refilled,
    restored,
    writes_as_ruled,
)
from keepset.contracts import Contract
from keepset.plan.requests import Flow
from keepset.run.hosted import Stored, Surface

_log = logging.getLogger("keepset")
_REMEMBERED = 64
"""Of how many runs that were sent to a checkpoint it is remembered what they resumed with."""


@dataclass(frozen=True, slots=True)
class _Resumed:
    """What one run resumed with.

    Attributes:
        runtime: The run; kept, so that no other can have its identity.
        checkpoint: Id of the checkpoint.
        stored: The checkpoint, restored.
    """

    runtime: object
    checkpoint: str
    stored: Stored


class Resumes:
    """What the latest runs resumed with.

    Attributes:
        changed: Fields that were restored with another content than was there, each with its
            namespace, without the ids of tasks.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self.changed: set[tuple[str, str]] = set()
        self._runs: OrderedDict[tuple[int, str, str], _Resumed] = OrderedDict()
        self._lock = threading.Lock()

    def resumed(
        self,
        contract: Contract,
        config: Mapping[str, Any],
        to: Address,
        stored: Stored,
        surface: Surface,
    ) -> Flow[Stored]:
        """Give a checkpoint restored for the run that asks.

        A run that was sent to a checkpoint asks a second time, for the newest one, and only to
        compare their ids: nothing is restored for that. Any other run asks once, and nothing of
        what it resumes with is kept.

        Args:
            contract: The contract of the checkpoint's namespace.
            config: What the run passed; it has the run's runtime.
            to: What the config says.
            stored: The checkpoint.
            surface: What its values go through.

        Raises:
            NotFoundError: A loader or factory failed, or there is no secret under a reference.
            IntegrityError: A loader gave other documents than those asked for.
        """
        runtime = config["configurable"][RUNTIME]
        key = (id(runtime), to.thread, to.namespace)
        known = self._runs.get(key)
        if known is not None and known.checkpoint == stored.header.checkpoint:
            return replace(known.stored, values=dict(known.stored.values))
        if known is not None and not to.checkpoint:
            return stored
        fresh, changed = yield from _restored(contract, stored, surface)
        self.changed.update((without_tasks(to.namespace), name) for name in changed)
        if not to.checkpoint:
            return fresh
        with self._lock:
            self._runs[key] = _Resumed(runtime, stored.header.checkpoint, fresh)
            while len(self._runs) > _REMEMBERED:
                self._runs.popitem(last=False)
        return replace(fresh, values=dict(fresh.values))


def _restored(
    contract: Contract, stored: Stored, surface: Surface
) -> Flow[tuple[Stored, tuple[str, ...]]]:
    codec, resolve = surface.guard.codec, surface.entering.resolve
    own = {name: value for name, value in stored.values.items() if name.startswith(OWN)}
    values = channels_as_ruled(contract, {n: v for n, v in stored.values.items() if n not in own})
    changed = yield from restored(contract, values, codec, resolve)
    for name in changed:
        _log.warning("the content of %s is not what was there when the run was saved", name)
    writes = []
    for write in writes_as_ruled(contract, stored.writes):
        if write.channel == TASKS:
            packet = yield from refilled(contract, write.value, values, codec, resolve)
            writes.append(replace(write, value=packet))
        else:
            writes.append(write)
    return replace(stored, values={**values, **own}, writes=writes), changed
