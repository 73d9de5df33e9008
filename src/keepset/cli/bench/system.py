"""What is measured: each system saves the same histories, and gives them back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from keepset.cli.bench.workload import Change, History, State

Save = Callable[[State, Change], None]
"""Stores the state after a step; what the step changed is given too, for who wants it."""
Begin = Callable[[str], Save]
"""Begins a run of that id."""


@dataclass(frozen=True)
class Written:
    """A history that was saved.

    Attributes:
        nanoseconds: What each save took.
        marks: What names the checkpoint after each step.
    """

    nanoseconds: list[int]
    marks: list[Any]


@dataclass(frozen=True)
class Loaded:
    """A checkpoint that was read by a store that was opened for it.

    Attributes:
        opening: Nanoseconds to open the store.
        loading: Nanoseconds from the open store to the state.
        state: The state.
    """

    opening: int
    loading: int
    state: State


class System(Protocol):
    """A way to save the state after each step, used as its own documentation says.

    Attributes:
        refusals: What it raises when it cannot save or open now.
    """

    refusals: ClassVar[tuple[type[Exception], ...]]

    def create(self, path: Path) -> None:
        """Make an empty store and let go of it."""

    def write(self, path: Path, history: History, durability: str) -> Written:
        """Save a history in a store that is there, and let go of it.

        Args:
            path: The store's file.
            history: What to save; the state is changed in place from step to step.
            durability: ``full`` or ``normal``, as SQLite's ``synchronous`` means them.
        """

    def load(self, path: Path, history: History, mark: Any | None) -> Loaded:
        """Read the checkpoint that a mark names, or the newest one, with nothing in memory."""


class Concurrent(System, Protocol):
    """A system that many threads or processes can save to at a time."""

    def open(self, path: Path) -> AbstractContextManager[Begin]:
        """Open a store at full durability for saves from several threads."""


@dataclass(frozen=True)
class Entry:
    """A system by name; its module is imported only in the process that measures it.

    Attributes:
        title: What the table calls it.
        module: Where its class `Measured` is.
        packages: The distributions that it needs, the one whose version is told first.
        durabilities: Those that it can be run with.
        is_concurrent: Whether it is a `Concurrent`.
    """

    title: str
    module: str
    packages: tuple[str, ...] = ()
    durabilities: tuple[str, ...] = ("full", "normal")
    is_concurrent: bool = False

    def version(self) -> str | None:
        """Give the version that is installed; None where a package is missing."""
        try:
            versions = [version(package) for package in self.packages or ("keepset",)]
        except PackageNotFoundError:
            return None
        return versions[0]


_LANGGRAPH = ("langgraph-checkpoint-sqlite", "langgraph")
_WITH_GRAPH = ("keepset", *_LANGGRAPH)
OURS = frozenset({"keepset", "graph", "audit"})
"""Systems that are keepset itself."""

SYSTEMS = {
    "keepset": Entry("keepset", "ours", is_concurrent=True),
    "raw": Entry("raw INSERT", "raw", is_concurrent=True),
    "saver": Entry("LangGraph SqliteSaver", "langgraph_saver", _LANGGRAPH, is_concurrent=True),
    "delta": Entry("SqliteSaver, DeltaChannel(100)", "langgraph_delta", _LANGGRAPH),
    "dbos": Entry("DBOS on SQLite", "dbos_steps", ("dbos",), ("full",)),
    "graph": Entry("keepset, bound to the graph", "graph_savers", _WITH_GRAPH, ("full",)),
    "memory": Entry("LangGraph InMemorySaver", "graph_savers", _LANGGRAPH[::-1], ("full",)),
    "audit": Entry("keepset audit", "audit_store", _WITH_GRAPH, ("full",)),
    "none": Entry("no saver", "graph_savers", _LANGGRAPH[::-1], ("full",)),
}


def system(name: str) -> System:
    """Import a system and make it.

    Raises:
        ImportError: A package that it needs is not installed.
    """
    module = import_module(f"{__package__}.systems.{SYSTEMS[name].module}")
    return cast("System", module.Measured())
