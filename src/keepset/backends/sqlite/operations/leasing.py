"""Take leases, renew them, give them back, take them away."""

from __future__ import annotations

from keepset.backends.sqlite import claim_queries
from keepset.backends.sqlite.operations.claiming import (
    create,
    deleted,
    find_seen,
    lease_columns,
    newer_head,
    raise_token,
    refuse_lower_epoch,
    refuse_stale,
)
from keepset.backends.sqlite.operations.rows import lease_row, named, read_newest
from keepset.backends.sqlite.statements import Statement, Steps
from keepset.plan.leases import Lease, Leasing, require_lease
from keepset.plan.leasing import BreakLease, GiveBack, ReadLease, Renew, Take
from keepset.plan.requests import Fence
from keepset.plan.rows import RunKey


def take(plan: Take) -> Steps[Fence]:
    """Take a run's lease and claim it; a run that is not there is noted.

    Raises:
        ConflictError: Another execution works on it, the claim is stale, the run was deleted or has
            a newer checkpoint than the writer knows, or a higher epoch has written to it.
    """
    claim = plan.claim
    if isinstance(claim, Fence):
        rows = yield Statement(claim_queries.CLAIMED, {"run": claim.run})
        if not rows:
            raise deleted()
        refuse_stale(claim, rows[0][0], rows[0][1])
        yield from _require_head(plan)
        yield from settle_lease(plan.key, claim.run, plan.leasing)
        return claim
    run = yield from find_seen(plan.key, plan.mark, claim)
    if run is None:
        return (yield from create(plan.key, plan.incarnation, plan.contract, plan.at, plan.leasing))
    refuse_lower_epoch(plan.contract.epoch, run.contract.epoch)
    yield from _require_head(plan)
    return (yield from raise_token(run, plan.leasing))


def _require_head(plan: Take) -> Steps[None]:
    if plan.line is not None and (yield from read_newest(plan.line)) != plan.head:
        raise newer_head()


def take_at_once(plan: Take) -> Statement | None:
    """Give the usual taking as one statement: that of a writer that has its claim."""
    claim, own = plan.claim, plan.leasing.own
    if not isinstance(claim, Fence) or plan.line is not None:
        return None
    expected = (claim.run, claim.incarnation, claim.token, own.by, own.number)
    return Statement(claim_queries.TAKE, (*own, *expected))


def settle_lease(key: RunKey, run: int, leasing: Leasing) -> Steps[None]:
    """Take or give back the lease of a run whose claim the writer has.

    Raises:
        ConflictError: ``run.leased`` or ``run.lease-lost``.
    """
    rows = yield Statement(claim_queries.LEASE, {"run": run})
    require_lease(key.run_id, lease_row(rows[0]), leasing)
    yield Statement(claim_queries.SET_LEASE, {"run": run, **lease_columns(leasing.after)})


def give_back(plan: GiveBack) -> Steps[None]:
    """Give leases back; a run of which nothing was saved goes with its lease."""
    which = [(plan.by, number) for number in plan.numbers]
    yield Statement(claim_queries.DROP_UNSAVED, many=which)
    yield Statement(claim_queries.GIVE_BACK, many=which)


def renew(plan: Renew) -> Steps[frozenset[int]]:
    """Let all leases of a holder last longer."""
    rows = yield Statement(claim_queries.RENEW, {"by": plan.by, "until": plan.until})
    return frozenset(number for (number,) in rows)


def break_lease(plan: BreakLease) -> Steps[bool]:
    """Take a run's lease and claim away from whoever has them."""
    return bool((yield Statement(claim_queries.BREAK, named(plan.key))))


def read_lease(plan: ReadLease) -> Steps[Lease | None]:
    """Read the lease of a run."""
    rows = yield Statement(claim_queries.LEASE_OF, named(plan.key))
    return lease_row(rows[0]) if rows else None
