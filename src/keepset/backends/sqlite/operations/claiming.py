"""Who may write: claims on a run, and what makes one stale."""

from __future__ import annotations

from keepset.backends.sqlite import claim_queries, queries
from keepset.backends.sqlite.operations.rows import (
    conflict,
    lease_row,
    named,
    no_run,
    read_deletions,
    read_run,
)
from keepset.backends.sqlite.statements import Statement, Steps
from keepset.errors import ConflictError
from keepset.plan.leases import Lease, Leasing, require_lease
from keepset.plan.requests import Fence, Seen
from keepset.plan.rows import ContractRow, RunKey, RunRow
from keepset.plan.writes import Claim


def claim(plan: Claim) -> Steps[Fence]:
    """Claim a run that exists.

    Raises:
        NotFoundError: ``run.not-found``: there was none, and there is none.
        ConflictError: The run was deleted, is leased to another execution that the writer minds,
            or a higher epoch has written to it.
    """
    run = yield from find_seen(plan.key, plan.mark, plan.seen)
    if run is None:
        raise no_run(plan.key)
    refuse_lower_epoch(plan.epoch, run.contract.epoch)
    return (yield from raise_token(run, plan.leasing))


def find_seen(key: RunKey, mark: bytes, seen: Seen) -> Steps[RunRow | None]:
    """Read the run that a writer has seen; None where it saw none and there still is none.

    Raises:
        ConflictError: What the writer saw is not what is there.
    """
    run = yield from read_run(key)
    if run is not None and run.incarnation == seen.incarnation:
        refuse_other_layout(seen.layout, run.layout)
        return run
    deletions = yield from read_deletions(mark)
    if seen.incarnation is not None or deletions != seen.deletions:
        raise deleted()
    if run is not None:
        raise newer_head()
    return None


def raise_token(run: RunRow, leasing: Leasing | None) -> Steps[Fence]:
    """Make the caller the newest writer of a run, with the lease that it wants.

    Raises:
        ConflictError: ``run.leased`` or ``run.lease-lost``.
    """
    require_lease(run.key.run_id, run.lease, leasing)
    token = yield from claimed(run.id, leasing)
    return Fence(run.id, run.incarnation, token, run.layout)


def claimed(run: int, leasing: Leasing | None) -> Steps[int]:
    """Raise a run's token, write the lease in the same statement, and give the token."""
    own: dict[str, object] = {"run": run}
    if leasing is None:
        rows = yield Statement(claim_queries.CLAIM, own)
    else:
        wanted = {**own, **lease_columns(leasing.after)}
        rows = yield Statement(claim_queries.CLAIM_WITH_LEASE, wanted)
    token: int = rows[0][0]
    return token


def create(
    key: RunKey, incarnation: bytes, contract: ContractRow, at: int, leasing: Leasing | None
) -> Steps[Fence]:
    """Create a run, or take over one that was begun and has nothing yet.

    Raises:
        ConflictError: ``run.leased``; ``conflict.deleted``: what the writer began has gone.
    """
    begun = yield Statement(claim_queries.BEGUN_RUN, named(key))
    if begun:
        number, incarnation, layout, *lease = begun[0]
        require_lease(key.run_id, lease_row(tuple(lease)), leasing)
        token = yield from claimed(number, leasing)
        return Fence(number, incarnation, token, layout)
    if leasing is not None and leasing.held:
        raise deleted()
    columns = {
        **named(key),
        **lease_columns(leasing.after if leasing else None),
        "incarnation": incarnation,
        "contract": (yield from contract_id(contract)),
        "created": at,
    }
    ((number,),) = yield Statement(claim_queries.ADD_RUN, columns)
    return Fence(number, incarnation, 1)


def lease_columns(lease: Lease | None) -> dict[str, object]:
    """A lease as the parameters of a statement."""
    by, number, until = lease or (None, None, None)
    return {"lease_by": by, "lease_number": number, "lease_until": until}


def contract_id(contract: ContractRow) -> Steps[int]:
    """Give the number of a contract as it is, and store it where it is new."""
    values = {"name": contract.name, "epoch": contract.epoch, "shape": contract.shape}
    rows = yield Statement(queries.CONTRACT_ID, values)
    if not rows:
        rows = yield Statement(queries.ADD_CONTRACT, {**values, "structure": contract.structure})
    number: int = rows[0][0]
    return number


def refuse_lower_epoch(own: int, stored: int) -> None:
    """Refuse a writer whose contract is older than what has been written.

    Raises:
        ConflictError: ``conflict.epoch``.
    """
    if own < stored:
        raise conflict(
            f"this code writes epoch {own}, and epoch {stored} has written to the run",
            "conflict.epoch",
            "Finish the deploy of the newer code; the older one must not go on with this run.",
        )


def refuse_stale(fence: Fence, incarnation: bytes | None, token: int) -> None:
    """Refuse a claim that is no longer the newest.

    Raises:
        ConflictError: ``conflict.deleted`` or ``conflict.token``.
    """
    if incarnation != fence.incarnation:
        raise deleted()
    if token != fence.token:
        raise conflict(
            "another writer has claimed the run",
            "conflict.token",
            "Another process goes on with this run: load it again if that one has ended.",
        )


def refuse_other_layout(known: int, stored: int) -> None:
    """Refuse a writer whose rows were written anew.

    Raises:
        ConflictError: ``conflict.layout``.
    """
    if known != stored:
        raise conflict(
            "the run's rows were written anew since they were loaded",
            "conflict.layout",
            "The run was pruned meanwhile: load it again and go on.",
        )


def deleted() -> ConflictError:
    """Make the error for a writer whose run has been deleted."""
    return conflict(
        "the run that was loaded has been deleted",
        "conflict.deleted",
        "What it held must not come back: load the run again to start a new one under its id.",
    )


def newer_head() -> ConflictError:
    """Make the error for a writer that does not know the newest checkpoint."""
    return conflict(
        "the line has a newer checkpoint than the one that was loaded",
        "conflict.head",
        "Another writer was first: load the run again and go on from there.",
    )
