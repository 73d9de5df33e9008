"""Which executions of graphs that are not bound begin a thread, and save it at their end."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from keepset.adapters.langgraph.address import RUNTIME
from keepset.run.holding import Holding

_REMEMBERED: Final = 16


class Beginnings:
    """The leases of such executions of one thread, until their first checkpoint."""

    def __init__(self) -> None:
        """Know none."""
        self._lock = threading.Lock()
        # A runtime is kept beside its id, so that no other one can have that.
        self._begun: OrderedDict[int, tuple[object, Holding]] = OrderedDict()

    def note(self, config: Mapping[str, Any], holding: Holding) -> None:
        """Remember the lease of an execution, by the config that it passes."""
        runtime = _runtime(config)
        with self._lock:
            self._begun[id(runtime)] = (runtime, holding)
            while len(self._begun) > _REMEMBERED:
                self._begun.popitem(last=False)

    def take(self, config: Mapping[str, Any] | None) -> Holding | None:
        """Give the lease of an execution, once."""
        with self._lock:
            _, holding = self._begun.pop(id(_runtime(config)), (None, None))
        return holding


def _runtime(config: Mapping[str, Any] | None) -> object:
    return ((config or {}).get("configurable") or {}).get(RUNTIME)
