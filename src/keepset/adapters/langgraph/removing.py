"""Delete, shorten and copy threads."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

from keepset.adapters.langgraph.keeping import latest, without_runs
from keepset.errors import NotFoundError, UsageError
from keepset.plan.reads import ListRuns
from keepset.plan.requests import Flow
from keepset.plan.rows import RunKey
from keepset.plan.writes import Copy
from keepset.run.services import Services
from keepset.store.opening import check_name
from keepset.store.operations import delete, shorten

_PAGE = 200


def delete_thread(services: Services, thread: str) -> Flow[None]:
    """Delete a thread and its bytes; nothing happens where there is none."""
    yield from delete(services, str(thread))


def delete_for_runs(services: Services, run_ids: Collection[str]) -> Flow[None]:
    """Delete, in every thread, the checkpoints of some executions."""
    services.may_write()
    gone = frozenset(map(str, run_ids))
    after = ""
    while gone and (page := (yield ListRuns(services.tenant, after=after, limit=_PAGE))):
        after = page[-1].run.key.run_id
        for summary in page:
            yield from _shorten(services, summary.run.key.run_id, gone)


def _shorten(services: Services, thread: str, gone: frozenset[str]) -> Flow[None]:
    try:
        yield from shorten(
            services, thread, lambda replay: without_runs(replay, gone, services.inspector)
        )
    except NotFoundError:  # deleted meanwhile
        return


def prune(services: Services, threads: Sequence[str], strategy: str) -> Flow[None]:
    """Shorten threads to what resuming needs, or delete them.

    Raises:
        UsageError: The strategy is not known.
        ConflictError: A thread was written to again and again.
    """
    if strategy not in {"keep_latest", "delete"}:
        raise UsageError(
            f"the strategy {strategy!r} is not known",
            code="langgraph.strategy",
            hint='Use "keep_latest" or "delete".',
        )

    for thread in map(str, threads):
        if strategy == "delete":
            yield from delete(services, thread)
            continue
        try:
            yield from shorten(services, thread, lambda replay: latest(replay, services.inspector))
        except NotFoundError:
            continue


def copy_thread(services: Services, source: str, target: str) -> Flow[None]:
    """Copy a whole thread.

    Raises:
        NotFoundError: There is no such thread.
        ConflictError: The target is there already.
    """
    services.may_write()
    key = RunKey(services.tenant, check_name("thread id", str(target)))
    yield Copy(
        RunKey(services.tenant, check_name("thread id", str(source))),
        key,
        uuid.uuid4().bytes,
        services.now(),
    )
