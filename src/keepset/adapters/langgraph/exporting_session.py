"""Open what an export needs: the threads of a store, and the place that they go to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from keepset.adapters.langgraph.binding import GraphBinding
from keepset.adapters.langgraph.exporting import Choices, Export
from keepset.adapters.langgraph.exporting_restoring import Refetched
from keepset.adapters.langgraph.exporting_targets import Measured
from keepset.adapters.langgraph.options import named_types
from keepset.adapters.langgraph.threads import Threads, registry
from keepset.adapters.langgraph.types import host_types
from keepset.backends.driver import drive
from keepset.errors import UsageError
from keepset.readers.sources import is_server
from keepset.store import Store

_FILE = "sqlite:///"


@contextmanager
def exporting(  # noqa: PLR0913 - each is a choice of the user's
    store: Store,
    place: str,
    choices: Choices,
    *,
    graph: Any = None,
    types: Mapping[str, type],
    restores: bool = False,
    is_applied: bool = False,
) -> Iterator[Export]:
    """Open an export of the threads of a store.

    Args:
        store: The store.
        place: ``sqlite:///FILE`` or ``postgresql://…``.
        choices: How threads are exported.
        graph: The compiled graph that wrote them; None where none is known.
        types: The classes that states hold, by the names under which they are stored.
        restores: Whether loaders give again what is not stored; that needs the graph.
        is_applied: Whether anything is written.

    Raises:
        UsageError: ``export.not-installed``, ``export.own-store``.
        StoreError: ``export.target``: the place refuses.
    """
    known = registry(host_types(), named_types(types))
    threads = Threads(store.services, known)
    if graph is not None:
        threads.bind(GraphBinding(graph, known))
    if restores:
        choices = replace(choices, refetched=Refetched())
    serde = Measured()
    with _target(place, serde, is_applied=is_applied) as target:
        backend = store.services.backend
        yield Export(threads, lambda flow: drive(flow, backend), target, serde, choices)


def _target(place: str, serde: Measured, *, is_applied: bool) -> Any:
    if is_server(place):
        made = _module("postgres").postgres_target
        return made(place, serde, is_applied=is_applied)
    made = _module("sqlite").sqlite_target
    return made(Path(place.removeprefix(_FILE)), serde, is_applied=is_applied)


def _module(name: str) -> Any:
    try:
        return import_module(f"keepset.adapters.langgraph.exporting_{name}")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"an export to LangGraph's tables needs {error.name}, which is not installed",
            code="export.not-installed",
            hint=f'pip install "langgraph-checkpoint-{name}"',
        ) from error
