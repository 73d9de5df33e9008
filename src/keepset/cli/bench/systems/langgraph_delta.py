"""The same saver, with the fields that grow in LangGraph's DeltaChannel (beta).

What a step adds is stored as its writes, and the whole value at every hundredth: the channel's
own default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.channels.delta import DeltaChannel

from keepset.cli.bench.systems import langgraph_saver
from keepset.cli.bench.workload import WINDOW, How

EVERY = 100


class Measured(langgraph_saver.Measured):
    """Saves and loads as the plain saver does; only the state's class is another."""

    def reduced(self, how: How) -> Any:
        """See the plain saver's."""
        reducer: Any = {How.APPEND: _appended, How.MERGE: _merged, How.SLIDE: _slid}.get(how)
        return None if reducer is None else DeltaChannel(reducer, snapshot_frequency=EVERY)


def _appended(items: list[Any], writes: Sequence[list[Any]]) -> list[Any]:
    return items + [item for write in writes for item in write]


def _slid(window: list[Any], writes: Sequence[list[Any]]) -> list[Any]:
    new = [item for write in writes for item in write]
    return (window + new)[-WINDOW:]


def _merged(entries: dict[str, Any], writes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    merged = dict(entries)
    for write in writes:
        merged.update(write)
    return merged
