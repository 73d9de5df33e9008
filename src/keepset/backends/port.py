"""The port: what a store asks of the place where its bytes live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from keepset.backends.outcome import Outcome
from keepset.plan.requests import Plan, Write

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a backend as it is in force.

    Attributes:
        name: The engine's own name of it.
        value: What is in force.
        wanted: What keepset relies on; empty where any value is fine.
        protects: What is lost where it is not as wanted.
    """

    name: str
    value: str
    wanted: str
    protects: str

    @property
    def good(self) -> bool:
        """Whether the setting is as wanted."""
        return not self.wanted or self.value == self.wanted


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the store: its path, its size in bytes, and its permission bits."""

    path: str
    size: int
    mode: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What is in force at a backend, for `keepset doctor`.

    Attributes:
        engine: ``sqlite`` or ``memory``.
        version: The engine's version.
        location: Path of the database; empty for memory.
        format: Number of the schema that the store has.
        settings: The engine's settings.
        files: The database and its companion files.
        free_disk: Bytes that are free on the disk; None for memory.
    """

    engine: str
    version: str
    location: str
    format: int
    settings: tuple[Setting, ...]
    files: tuple[StoredFile, ...]
    free_disk: int | None


class Backend(Protocol):
    """Executes plans, each in one transaction; safe for threads and for several event loops.

    A plan that is refused changes nothing and raises what `keepset.plan.requests` names. Every
    other failure is a `StoreError` or an `IntegrityError`, never an error of a driver.
    """

    def execute(self, plan: Plan[R]) -> R:
        """Execute a plan; a write is durable when this returns."""
        ...

    def settle(self, plan: Write[Any], outcome: Outcome) -> None:
        """Execute a write as `execute` does, and put what it gives or raises into `outcome`.

        Where the calling thread is interrupted meanwhile, the interrupt is raised here, and
        ``outcome.settled`` says whether the write came to its end: then `outcome` says how. A write
        that did not begin is not done later.
        """
        ...

    async def aexecute(self, plan: Plan[R]) -> R:
        """Execute a plan without blocking the event loop.

        A write that was begun goes on to its end when the awaiting task is cancelled.
        """
        ...

    def close(self) -> None:
        """Finish the writes that wait, then let go of files and threads; may be called again."""
        ...

    def settings(self) -> Settings:
        """Read which settings are in force."""
        ...
