"""What a store does with runs, each written once as a flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from keepset.errors import ConflictError, IntegrityError
from keepset.plan.blobs import Blobs
from keepset.plan.leasing import BreakLease
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.prune import Keeps, Policy, Pruned, Shorter, prune
from keepset.plan.reads import Everything, FindRun, ListRuns, ReadEverything
from keepset.plan.replay import Replay
from keepset.plan.requests import Flow, Seen
from keepset.plan.rows import RunKey, RunRow
from keepset.plan.verify import Verified, verify_run
from keepset.plan.writes import Delete, Rewrite
from keepset.run.reader import Reader
from keepset.run.services import Services
from keepset.store.opening import check_name

_PAGE = 200
_ATTEMPTS = 5


def delete(services: Services, run_id: str) -> Flow[bool]:
    """End a run and remove its bytes; False where there was none."""
    services.may_write()
    key = RunKey(services.tenant, check_name("run id", run_id))
    gone: bool = yield Delete(key, services.mark(key), services.now())
    return gone


def break_lease(services: Services, run_id: str) -> Flow[bool]:
    """Take a run's lease away from whoever works on it; False where nobody does."""
    services.may_write()
    key = RunKey(services.tenant, check_name("run id", run_id))
    there: bool = yield BreakLease(key)
    services.leases.lose(key)
    return there


def prune_run(services: Services, run_id: str, policy: Policy) -> Flow[Pruned]:
    """Remove checkpoints of a run as a policy says; again where it was written to meanwhile.

    Raises:
        NotFoundError: There is no such run.
        ConflictError: The run was written to each time; nothing is changed.
    """
    return (yield from shorten(services, run_id, lambda _: policy))


def shorten(services: Services, run_id: str, choose: Callable[[Replay], Keeps]) -> Flow[Pruned]:
    """Remove checkpoints of a run, as is decided on what it holds.

    Args:
        services: The store's parts.
        run_id: The run.
        choose: Decides; it is asked again where the run was written to meanwhile.

    Raises:
        NotFoundError: There is no such run.
        ConflictError: The run was written to each time; nothing is changed.
    """
    services.may_write()
    check_name("run id", run_id)
    left = _ATTEMPTS
    while True:
        left -= 1
        try:
            return (yield from _prune(services, run_id, choose))
        except ConflictError as error:
            if error.code not in {"conflict.head", "conflict.layout"} or not left:
                raise


def _prune(services: Services, run_id: str, choose: Callable[[Replay], Keeps]) -> Flow[Pruned]:
    row = yield from Reader(services, run_id, services.inspector).row()
    found = yield FindRun(row.key, services.mark(row.key))
    everything: Everything = yield ReadEverything(row.key)
    replay = Replay(everything, services.inspector)
    policy = choose(replay)
    try:
        shorter, there = yield from _shorter(services, everything.run, replay, policy)
    except IntegrityError as error:
        if (yield from went_meanwhile(error, row.key, services.mark(row.key), everything.run)):
            raise _rewritten(run_id) from error
        raise
    if shorter.pruned.removed:
        yield Rewrite(
            key=row.key,
            mark=services.mark(row.key),
            seen=Seen(everything.run.incarnation, found.deletions, everything.run.layout),
            heads=tuple(history.head() for history in replay.histories),
            written=tuple(sorted(write.digest for _, _, write in everything.writes)),
            lines=shorter.lines,
            stay=tuple(sorted({*shorter.stay, *there})),
            blobs=shorter.blobs,
            restored=shorter.restored,
        )
    return shorter.pruned


def _shorter(
    services: Services, run: RunRow, replay: Replay, policy: Keeps
) -> Flow[tuple[Shorter, tuple[bytes, ...]]]:
    """Give a run with less, and the large values that it needs with all that they consist of."""
    codec = services.inspector
    blobs = Blobs(run.id, codec)
    shorter = yield from prune(replay, policy, blobs, codec, compressed=services.compressed)
    there: tuple[bytes, ...] = ()
    if shorter.pruned.removed:
        there = yield from blobs.with_parts(replay.stored.intersection(shorter.stay))
    return shorter, there


def _rewritten(run_id: str) -> ConflictError:
    return ConflictError(
        f"run {run_id} was pruned while it was read",
        code="conflict.layout",
        hint="Another one was first: prune the run once more.",
    )


def verify(services: Services, run_id: str | None) -> Flow[Verified]:
    """Check one run or all runs of the tenant."""
    if run_id is not None:
        check_name("run id", run_id)
        yield from Reader(services, run_id, services.inspector).row()
        key = RunKey(services.tenant, run_id)
        one: Verified = yield from verify_run(key, services.mark(key), services.inspector)
        return one
    total = Verified(0, 0, ())
    after = ""
    while page := (yield ListRuns(services.tenant, after=after, limit=_PAGE)):
        for summary in page:
            key = summary.run.key
            part = yield from verify_run(key, services.mark(key), services.inspector)
            total = replace(
                total,
                runs=total.runs + part.runs,
                checkpoints=total.checkpoints + part.checkpoints,
                problems=total.problems + part.problems,
            )
        after = page[-1].run.key.run_id
    return total
