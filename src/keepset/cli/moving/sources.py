"""From a place to what takes the runs in it over, whichever tool wrote them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from keepset.adapters.openai_agents.importing import SessionImporter
from keepset.errors import UsageError
from keepset.readers.langgraph.layout import layout_of
from keepset.readers.records.hosts import host_of
from keepset.readers.sources import databases_at, is_database, shown
from keepset.testing.references import load

if TYPE_CHECKING:
    import keepset as ks
    from keepset.adapters.moved import Moved
    from keepset.readers.databases.port import Database

_LANGGRAPH: Final = "keepset.adapters.langgraph.importing"
_SESSIONS: Final = "openai-agents"


class Importer(Protocol):
    """Takes the runs of one place over."""

    def runs(self) -> Iterator[str]:
        """Give the ids of all runs that there are to take over."""
        ...

    def move(self, run: str, /) -> Moved:
        """Take one over, or say why not."""
        ...


Make = Callable[["ks.Store", "ks.Store | None", Callable[[int], None]], Importer]
"""Makes what takes runs over: from where they go, what is there already, and who hears of bytes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How runs are to be taken over.

    Attributes:
        graph: Names the graph that wrote them; None where it is not known.
        types: Name the classes that they hold.
        metadata_keys: Keys of the metadata that are taken over.
        skips: Whether a run is taken over without the values that cannot be.
        again: Whether a run that has gone on where it comes from is taken over anew.
    """

    graph: str | None
    types: tuple[str, ...]
    metadata_keys: tuple[str, ...]
    skips: bool
    again: bool


@contextmanager
def importing(place: str, asked: Asked) -> Iterator[Make]:
    """Open a place, and give what makes an importer for the tool that wrote it.

    Raises:
        UsageError: ``import.unknown-store``, ``import.not-installed`` or ``import.graph``.
        StoreError: The place cannot be read.
    """
    if not is_database(place):
        raise _unknown(place)
    with databases_at(place) as found:
        makers = (_threads(one, asked) or _sessions(one, asked) for one in found)
        make = next((maker for maker in makers if maker is not None), None)
        if make is None:
            raise _unknown(place)
        yield make


def _threads(database: Database, asked: Asked) -> Make | None:
    layout = layout_of(database)
    if layout is None or layout.checkpoints is None:
        return None
    module = _langgraph()
    options = module.Options(
        graph=None if asked.graph is None else _graph(asked.graph),
        types=_classes(asked.types),
        metadata_keys=asked.metadata_keys,
        skips=asked.skips,
        again=asked.again,
    )
    return lambda store, target, told: module.Importer(
        database, layout, store, target, options, told=told
    )


def _sessions(database: Database, asked: Asked) -> Make | None:
    host = host_of(database)
    if host is None or host.kind != _SESSIONS:
        return None
    return lambda store, target, told: SessionImporter(
        database, host, store, target, skips=asked.skips, again=asked.again, told=told
    )


def _langgraph() -> Any:
    try:
        return importlib.import_module(_LANGGRAPH)
    except ImportError as error:
        raise UsageError(
            "to take LangGraph threads over, LangGraph is needed",
            code="import.not-installed",
            hint='pip install "keepset[langgraph]"',
        ) from error


def _graph(reference: str) -> Any:
    """Give the compiled graph that a name stands for: it, its builder, or what makes one.

    Raises:
        UsageError: ``import.graph``: it is none; or it cannot be imported.
    """
    named: Any = load(reference)
    is_graph = importlib.import_module("keepset.adapters.langgraph.proving").is_graph
    if not is_graph(named) and callable(named):
        try:
            named = named()
        except Exception as error:
            raise _no_graph(reference, f"it raised {type(error).__qualname__}") from error
    if not is_graph(named):
        raise _no_graph(reference, f"it is a {type(named).__qualname__}")
    return named.compile() if hasattr(named, "compile") else named


def _no_graph(reference: str, why: str) -> UsageError:
    return UsageError(
        f"{reference} gives no graph: {why}",
        code="import.graph",
        hint="Name a builder, a compiled graph, or a function without arguments that gives one.",
    )


def _classes(references: tuple[str, ...]) -> dict[str, type]:
    """Import classes, each by the name that it is stored under.

    Raises:
        UsageError: ``import.types``: one is none; or it cannot be imported.
    """
    found: dict[str, type] = {}
    for reference in references:
        name, equals, place = reference.partition("=")
        cls = load(place if equals else reference)
        if not isinstance(cls, type):
            raise UsageError(
                f"{reference} is no class",
                code="import.types",
                hint="Name a class: --types app.models:Order, or order/1=app.models:Order.",
            )
        found[name if equals else cls.__qualname__] = cls
    return found


def _unknown(place: str) -> UsageError:
    return UsageError(
        f"{shown(place)} holds no runs that can be taken over",
        code="import.unknown-store",
        hint="Name the database of LangGraph's SqliteSaver or PostgresSaver, or one with sessions "
        "of the OpenAI Agents SDK.",
    )
