"""What a store can be asked about leases alone; a save says beside itself what it wants of one."""

from __future__ import annotations

from dataclasses import dataclass

from keepset.plan.leases import Lease, Leasing
from keepset.plan.requests import Fence, Read, Seen, Write
from keepset.plan.rows import ContractRow, RunKey


@dataclass(frozen=True, slots=True)
class Take(Write[Fence]):
    """Take a run's lease before anything is done, and claim the run.

    A run that is not there yet is noted: it is there for nobody else until its first checkpoint,
    and goes again when the lease is given back without one. Deleted meanwhile, it is one that was
    deleted.

    Attributes:
        key: The run.
        mark: Keyed hash of its tombstone.
        claim: The claim that the writer has, which stays, or what it saw.
        incarnation: Id for the new incarnation, where there is none.
        contract: The writer's contract.
        leasing: The lease.
        at: The time.
        line: The line whose newest checkpoint the writer knows; None where it has read none yet.
        head: The seq of that checkpoint on the line itself; 0 for none.
    """

    key: RunKey
    mark: bytes
    claim: Fence | Seen
    incarnation: bytes
    contract: ContractRow
    leasing: Leasing
    at: int
    line: int | None = None
    head: int = 0


@dataclass(frozen=True, slots=True)
class GiveBack(Write[None]):
    """Give leases back; one that is no longer there is none.

    Attributes:
        by: The holder.
        numbers: Its executions.
    """

    by: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Renew(Write[frozenset[int]]):
    """Let all leases of a holder last longer, and give the numbers of those that are there."""

    by: str
    until: int


@dataclass(frozen=True, slots=True)
class BreakLease(Write[bool]):
    """Take a run's lease away from whoever has it, and its claim; False where there is none."""

    key: RunKey


@dataclass(frozen=True, slots=True)
class ReadLease(Read[Lease | None]):
    """Read the lease of a run, also of one that has no checkpoint yet."""

    key: RunKey
