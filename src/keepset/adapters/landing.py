"""Runs that are written under another name first, and take their own in one transaction.

Whoever looks meanwhile, or after a crash, sees a run whole or not at all. What a crash has left is
removed when the same run lands the next time, or by an import a day later: by then nobody works on
it any more.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Final

from keepset.backends.driver import drive
from keepset.plan.reads import ASIDE, Everything, Found, ListRuns, ReadEverything
from keepset.plan.requests import Flow, Seen
from keepset.plan.rows import RunKey
from keepset.plan.search import newest_headers
from keepset.plan.writes import Delete, Rename, Replace
from keepset.run.services import Services

_PAGE: Final = 4  # there is none, most times
_MANY: Final = 100
_A_DAY: Final = 24 * 60 * 60 * 1_000
_BY_TIME: Final = "7"
"""Says of a UUID that it begins with the time: its version."""


def _begin(run: str) -> str:
    """Begin the name of a run that holds another; an id may be 512 characters long."""
    return f"{ASIDE}{hashlib.sha256(run.encode()).hexdigest()[:32]}/"


def aside_of(services: Services, run: str) -> str:
    """Give a new name for a run to be held under for a while; it says since when."""
    return f"{_begin(run)}{services.new_id(services.now())}"


def held_aside(services: Services) -> Flow[list[RunKey]]:
    """Give the runs that a store holds under other names: some may be left by a crash."""
    found: list[RunKey] = []
    after, more = ASIDE, True
    while more:
        page = yield ListRuns(services.tenant, after=after, limit=_MANY)
        keys = [summary.run.key for summary in page]
        mine = [key for key in keys if key.run_id.startswith(ASIDE)]
        found += mine
        more = len(mine) == _MANY
        after = keys[-1].run_id if keys else after
    return found


def sweep(services: Services) -> Flow[None]:
    """Remove what is held under other names since a day or longer."""
    now = services.now()
    for key in (yield from held_aside(services)):
        if _since(key.run_id) < now - _A_DAY:
            yield Delete(key, services.mark(key), now)


def _since(aside: str) -> int:
    """Give the milliseconds since 1970-01-01 UTC at which a name was made."""
    made = aside.rpartition("/")[2].replace("-", "")
    return int(made[:12], 16) if made[12:13] == _BY_TIME else 0


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


@dataclass(frozen=True, slots=True)
class Replaced:
    """A run that another one takes the place of, if it stays what it was before they were compared.

    Attributes:
        seen: Its incarnation.
        heads: The newest position of each of its lines.
        written: Digests of its pending writes, in order.
    """

    seen: Seen
    heads: tuple[tuple[int, int], ...]
    written: tuple[bytes, ...]


def to_be_replaced(services: Services, run: str, found: Found) -> Flow[Replaced]:
    """Take note of what a run is, before it is compared with the one that is to replace it.

    Args:
        services: The parts of the store that it is in.
        run: Its id.
        found: It, as it was looked at.

    Raises:
        NotFoundError: It has gone since.
    """
    assert found.run is not None  # noqa: S101 - it was found
    everything: Everything = yield ReadEverything(RunKey(services.tenant, run))
    written = sorted(write.digest for _, _, write in everything.writes)
    heads = yield from _heads(found)
    seen = Seen(found.run.incarnation, found.deletions, found.run.layout)
    return Replaced(seen, heads, tuple(written))


def is_another(found: Found, replaced: Replaced | None) -> bool:
    """Tell whether there is another run by now than the one to be replaced, or was one."""
    if replaced is None:
        return bool(found.run or found.deletions)
    return found.run is None or found.run.incarnation != replaced.seen.incarnation


def land(services: Services, aside: str, run: str, replaced: Replaced | None) -> None:
    """Give a run its own name.

    Args:
        services: The store's parts.
        aside: The name that it was written under.
        run: Its own name.
        replaced: The run of that name that it takes the place of; None where there is none.

    Raises:
        ConflictError: There is one of that name, or there was; or the one to be replaced has gone
            on since.
    """
    own, target = RunKey(services.tenant, aside), RunKey(services.tenant, run)
    mark, fresh = services.mark(target), uuid.uuid4().bytes
    if replaced is None:
        services.backend.execute(Rename(own, target, fresh, mark))
    else:
        seen, heads, written = replaced.seen, replaced.heads, replaced.written
        services.backend.execute(Replace(own, target, fresh, mark, seen, heads, written))
    drive(clear(services, run), services.backend)


def _heads(found: Found) -> Flow[tuple[tuple[int, int], ...]]:
    """Give the newest position of each line of a run."""
    heads: list[tuple[int, int]] = []
    for line in found.lines:
        rows = yield from newest_headers(line.id, None, 1)
        heads.append((line.id, rows[0].seq if rows else 0))
    return tuple(heads)
