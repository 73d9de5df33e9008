"""From a place to what takes the runs in it over, whichever tool wrote them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from keepset.adapters.openai_agents.importing import SessionImporter
from keepset.audit.ours.opener import is_ours
from keepset.cli.moving.named import classes_moved, classes_named, graph_named
from keepset.cli.moving.several import Several
from keepset.errors import UsageError
from keepset.readers.langgraph.layout import layout_of
from keepset.readers.records.hosts import host_of
from keepset.readers.sources import databases_at, is_database, is_server, shown

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

    def has(self, run: str, /) -> bool:
        """Tell whether there is a run to take over."""
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
        moved: Name those that lay elsewhere then.
        metadata_keys: Keys of the metadata that are taken over.
        skips: Whether a run is taken over without the values that cannot be.
        again: Whether a run that has gone on where it comes from is taken over anew.
    """

    graph: str | None = None
    types: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    metadata_keys: tuple[str, ...] = ()
    skips: bool = False
    again: bool = False

    def of_langgraph(self) -> Iterator[str]:
        """Give the options that speak of LangGraph threads alone."""
        options = {
            "--graph": self.graph,
            "--types": self.types,
            "--moved": self.moved,
            "--metadata-keys": self.metadata_keys,
        }
        return (option for option, given in options.items() if given)


@contextmanager
def importing(place: str, asked: Asked) -> Iterator[Make]:
    """Open a place, and give what makes an importer for the tools that wrote it.

    Raises:
        UsageError: ``import.unknown-store``, ``import.not-installed``, ``import.no-threads``, or
            what is named is no graph or no class.
        StoreError: The place cannot be read.
    """
    if not is_database(place):
        raise _unknown(place)
    with databases_at(place) as found:
        every = [(maker(one, asked), maker) for one in found for maker in (_threads, _sessions)]
        makers = [make for make, _ in every if make is not None]
        if not makers:
            raise _unknown(place)
        if not any(make is not None and maker is _threads for make, maker in every):
            _require_no_threads(place, asked)
        yield makers[0] if len(makers) == 1 else lambda *ends: Several([m(*ends) for m in makers])


def _threads(database: Database, asked: Asked) -> Make | None:
    layout = layout_of(database)
    if layout is None or layout.checkpoints is None:
        return None
    module = _langgraph()
    options = module.Options(
        graph=None if asked.graph is None else graph_named(asked.graph),
        types=classes_named(asked.types),
        moved=classes_moved(asked.moved),
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


def _require_no_threads(place: str, asked: Asked) -> None:
    """Refuse what would mean nothing where only sessions lie."""
    meaningless = ", ".join(asked.of_langgraph())
    if meaningless:
        raise UsageError(
            f"{shown(place)} holds sessions of the OpenAI Agents SDK, and no LangGraph threads: "
            f"{meaningless} would mean nothing",
            code="import.no-threads",
            hint=f"Leave out {meaningless}: a session's items are taken over as they are.",
        )


def _unknown(place: str) -> UsageError:
    hint = (
        "Name the database of LangGraph's SqliteSaver or PostgresSaver, or one with sessions "
        "of the OpenAI Agents SDK."
    )
    if is_ours(place):
        hint = "It is a store of keepset's already: `keepset runs --store` lists what is in it."
    elif is_server(place):
        hint += " Look at the schema as well: ?schema=NAME names one."
    return UsageError(
        f"{shown(place)} holds no runs that can be taken over",
        code="import.unknown-store",
        hint=hint,
    )
