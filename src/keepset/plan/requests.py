"""What a store can be asked, as a value; `keepset.plan.reads`, `.writes` and `.leasing` list it.

A `Plan[R]` is executed by a backend in one transaction and gives an `R`. A write lands whole or
not at all. A backend raises, and changes nothing, where a plan's expectation does not hold:

* `ConflictError` ``conflict.deleted``: the incarnation that the writer loaded has ended;
* `ConflictError` ``conflict.token``: a newer writer has claimed the run;
* `ConflictError` ``conflict.layout``: the rows were written anew since the writer loaded them;
  it loads its line again and goes on;
* `ConflictError` ``conflict.head``: the line has a newer checkpoint than the writer loaded, or
  one where the writer found none, or the line is no longer there;
* `ConflictError` ``conflict.duplicate``: an unpacked step of the line has the checkpoint's id;
* `ConflictError` ``conflict.epoch``: a higher epoch has written to the run;
* `ConflictError` ``run.leased``: another execution works on the run, and the writer is one too;
* `ConflictError` ``run.lease-lost``: the writer's lease is not there any more;
* `NotFoundError` ``run.not-found`` / ``checkpoint.not-found``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class Plan(Generic[R_co]):
    """Something that a backend does in one transaction."""

    __slots__ = ()


class Read(Plan[R_co]):
    """A plan that changes nothing; it sees one consistent state of the store."""

    __slots__ = ()


class Write(Plan[R_co]):
    """A plan that changes the store, whole or not at all."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A user's callable to run outside any transaction: a loader, a factory, a probe.

    A coroutine function is awaited by an asynchronous driver and refused by a synchronous one.
    """

    function: Callable[..., Any]
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait until another flow of this process has done its work, or the time is up.

    Attributes:
        work: Is done when the other flow has ended, whatever came of it.
        seconds: How long to wait at the most.
    """

    work: Future[None]
    seconds: float


Request: TypeAlias = "Plan[Any] | Call[Any] | Wait"
Flow: TypeAlias = Generator[Request, Any, T]
"""An operation written once: it yields requests, receives their results, and returns a `T`."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a writer knew of a run when it loaded it, before it has claimed it.

    Attributes:
        incarnation: The incarnation that was there; None where there was no run.
        deletions: How many deletions of the run id the store had recorded.
        layout: The run's layout.
    """

    incarnation: bytes | None
    deletions: int
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Fence:
    """A writer's claim on a run: its row number, incarnation and fencing token.

    The layout is that of the rows which the writer knows; only a save depends on it.
    """

    run: int
    incarnation: bytes
    token: int
    layout: int = 0
