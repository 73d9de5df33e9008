"""Runs that are written under another name first, and take their own in one transaction.

Whoever looks meanwhile, or after a crash, sees a run whole or not at all. What a crash has left is
removed when the same run lands the next time.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Final

from keepset.backends.driver import drive
from keepset.plan.reads import Found, ListRuns
from keepset.plan.requests import Flow, Seen
from keepset.plan.rows import RunKey
from keepset.plan.search import newest_headers
from keepset.plan.writes import Delete, Rename, Replace
from keepset.run.services import Services

ASIDE: Final = "langgraph#taken-over/"
"""What the names of runs begin with that hold another one while it is taken over."""

_PAGE: Final = 4  # there is none, most times


def _begin(run: str) -> str:
    """Begin the name of a run that holds another; an id may be 512 characters long."""
    return f"{ASIDE}{hashlib.sha256(run.encode()).hexdigest()[:32]}/"


def aside_of(run: str) -> str:
    """Give a new name for a run to be held under for a while."""
    return f"{_begin(run)}{uuid.uuid4().hex}"


def clear(services: Services, run: str) -> Flow[None]:
    """Remove what is left of attempts to take a run over."""
    begin = _begin(run)
    after, left = begin, True
    while left:
        page = yield ListRuns(services.tenant, after=after, limit=_PAGE)
        keys = [summary.run.key for summary in page]
        mine = [key for key in keys if key.run_id.startswith(begin)]
        for key in mine:
            yield Delete(key, services.mark(key), services.now())
        left = len(mine) == _PAGE
        after = keys[-1].run_id if keys else begin


def remove(services: Services, aside: str) -> None:
    """Remove a run that has not taken its own name."""
    key = RunKey(services.tenant, aside)
    services.backend.execute(Delete(key, services.mark(key), services.now()))


def land(services: Services, aside: str, run: str, replaced: Found | None) -> None:
    """Give a run its own name.

    Args:
        services: The store's parts.
        aside: The name that it was written under.
        run: Its own name.
        replaced: The run of that name that it takes the place of, as it was looked at.

    Raises:
        ConflictError: There is one of that name, or there was; or the one to be replaced has gone
            on since.
    """
    own, target = RunKey(services.tenant, aside), RunKey(services.tenant, run)
    mark, fresh = services.mark(target), uuid.uuid4().bytes
    if replaced is None or replaced.run is None:
        services.backend.execute(Rename(own, target, fresh, mark))
    else:
        heads = drive(_heads(replaced), services.backend)
        there = replaced.run
        seen = Seen(there.incarnation, replaced.deletions, there.layout)
        services.backend.execute(Replace(own, target, fresh, mark, seen, heads))
    drive(clear(services, run), services.backend)


def _heads(found: Found) -> Flow[tuple[tuple[int, int], ...]]:
    """Give the newest position of each line of a run."""
    heads: list[tuple[int, int]] = []
    for line in found.lines:
        rows = yield from newest_headers(line.id, None, 1)
        heads.append((line.id, rows[0].seq if rows else 0))
    return tuple(heads)
