"""Open what an export needs: the threads of a store, and the place that they go to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from langgraph.pregel import Pregel

from keepset.adapters.langgraph.binding import GraphBinding, before
from keepset.adapters.langgraph.exporting import Choices, Export
from keepset.adapters.langgraph.exporting_restoring import Refetched
from keepset.adapters.langgraph.exporting_targets import Measured
from keepset.adapters.langgraph.options import named_types
from keepset.adapters.langgraph.proving import is_graph
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
    graph: object = None,
    types: Mapping[str, type],
    restores: bool = False,
    is_applied: bool = False,
) -> Iterator[Export]:
    """Open an export of the threads of a store.

    Args:
        store: The store.
        place: ``sqlite:///FILE`` or ``postgresql://…``.
        choices: How threads are exported.
        graph: A graph, its builder, or a function that makes one; None where none is known.
        types: The classes that states hold, by the names under which they are stored.
        restores: Whether loaders give again what is not stored; that needs the graph.
        is_applied: Whether anything is written.

    Raises:
        UsageError: ``export.not-installed``, ``export.own-store``, ``langgraph.not-a-graph``.
        StoreError: ``export.target``: the place refuses.
    """
    known = registry(host_types(), named_types(types))
    threads = Threads(store.services, known)
    if graph is not None:
        threads.bind(GraphBinding(_compiled(graph), known))
    if restores:
        choices = replace(choices, refetched=Refetched())
    serde = Measured()
    with _target(place, serde, is_applied=is_applied) as target:
        backend = store.services.backend
        yield Export(threads, lambda flow: drive(flow, backend), target, serde, choices)


def _compiled(named: Any) -> Any:
    made = named() if callable(named) and not is_graph(named) else named
    if not is_graph(made):
        raise UsageError(
            f"a {type(made).__qualname__} is no graph",
            code="langgraph.not-a-graph",
            hint="Name a graph of LangGraph's, its builder, or a function that makes one.",
        )
    return before(made) if isinstance(made, Pregel) else made.compile()


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
