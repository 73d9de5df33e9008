"""Delete, shorten and copy threads."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

from keepset.adapters.landing import clear
from keepset.adapters.langgraph.keeping import latest, without_runs
from keepset.adapters.langgraph.listing import others, query
from keepset.adapters.langgraph.taking import take_over
from keepset.adapters.langgraph.threads import Threads
from keepset.errors import NotFoundError, UsageError
from keepset.plan.reads import ListRuns
from keepset.plan.requests import Flow
from keepset.plan.rows import RunKey
from keepset.plan.writes import Copy
from keepset.run.services import Services
from keepset.store.opening import check_name
from keepset.store.operations import delete, shorten

_PAGE = 200


def delete_thread(threads: Threads, thread: str) -> Flow[None]:
    """Delete a thread and its bytes, here and where it was taken from.

    It goes there first: as long as it is here, what is there is not read.

    Raises:
        UsageError: ``langgraph.fallback-keeps``: it cannot be deleted there; it stays here too.
    """
    name = check_name("thread id", str(thread))
    threads.services.may_write()
    if threads.fallback is not None:
        yield from threads.fallback.delete(name)
        yield from clear(threads.services, name)
    yield from delete(threads.services, name)


def delete_for_runs(threads: Threads, run_ids: Collection[str]) -> Flow[None]:
    """Delete, in every thread, the checkpoints of some executions."""
    services = threads.services
    services.may_write()
    gone = frozenset(map(str, run_ids))
    for run_id in sorted(gone):
        asked = query(None, {"run_id": run_id}, None)
        for name in (yield from others(threads, asked, None, ())):
            yield from take_over(threads, threads.thread(name))
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


def prune(threads: Threads, names: Sequence[str], strategy: str) -> Flow[None]:
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

    services = threads.services
    for thread in map(str, names):
        if strategy == "delete":
            yield from delete_thread(threads, thread)
            continue
        yield from take_over(threads, threads.thread(check_name("thread id", thread)))
        try:
            yield from shorten(services, thread, lambda replay: latest(replay, services.inspector))
        except NotFoundError:
            continue


def copy_thread(threads: Threads, source: str, target: str) -> Flow[None]:
    """Copy a whole thread.

    Raises:
        NotFoundError: There is no such thread.
        ConflictError: The target is there already.
    """
    services = threads.services
    services.may_write()
    names = [check_name("thread id", str(name)) for name in (source, target)]
    for name in names:
        yield from take_over(threads, threads.thread(name))
    old, new = (RunKey(services.tenant, name) for name in names)
    yield Copy(old, new, uuid.uuid4().bytes, services.now())
