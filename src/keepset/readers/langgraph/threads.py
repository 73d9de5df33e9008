"""The threads of a LangGraph database: which there are, how large, and what belongs to none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keepset.readers.databases.pages import Listing, asked, distinct, weights
from keepset.readers.databases.port import Cancelled, Database
from keepset.readers.langgraph.layout import Layout
from keepset.readers.langgraph.standing import is_unfinished
from keepset.readers.ports import RunFacts
from keepset.readers.times import time_of

Fixed = tuple[tuple[str, object], ...]


def every_value(
    database: Database, layout: Layout, column: str, fixed: Fixed = ()
) -> Iterator[str]:
    """Give the values of a column: those of checkpoints, then of rows that have lost theirs."""
    if layout.checkpoints is None:
        return
    first = layout.checkpoints.table
    yield from (str(one) for one in distinct(database, first, column, fixed))
    for other in (layout.writes, layout.blobs):
        if other is None:
            continue
        for one in distinct(database, other.table, column, fixed):
            known = (first,) if other is layout.writes else _before_blobs(layout, first)
            if not any(_has(database, table, (*fixed, (column, one))) for table in known):
                yield str(one)


def _before_blobs(layout: Layout, first: str) -> tuple[str, ...]:
    return (first,) if layout.writes is None else (first, layout.writes.table)


def _has(database: Database, table: str, fixed: Fixed) -> bool:
    terms = " and ".join(f"{database.quoted(one)} = {database.mark}" for one, _ in fixed)
    statement = f"select 1 from {database.named(table)} where {terms} limit 1"  # noqa: S608 - names are quoted
    return bool(asked(database, statement, [value for _, value in fixed], table=table))


def facts(database: Database, layout: Layout, thread: str) -> RunFacts:
    """Tell of one thread."""
    assert layout.checkpoints is not None  # noqa: S101 - threads come from there
    mark, table = database.mark, layout.checkpoints.table
    statement = (
        "select count(*), min(checkpoint_id), max(checkpoint_id)"  # noqa: S608 - the same
        f" from {database.named(table)} where thread_id = {mark}"
    )
    ((number, first, last),) = asked(database, statement, (thread,), table=table)
    tables = (layout.checkpoints, layout.writes, layout.blobs)
    return RunFacts(
        run=thread,
        checkpoints=int(number),
        size=sum(_bytes(database, one, thread) for one in tables if one is not None),
        first=time_of(first),
        last=time_of(last),
        is_unfinished=is_unfinished(database, layout, thread),
    )


def _bytes(database: Database, listing: Listing, thread: str) -> int:
    """Add up the bytes of a thread's rows: in one statement, or where that takes long in many."""
    columns = [*listing.fixed, *listing.keys, *listing.columns]
    each = "+".join(f"coalesce({database.weight(listing.table, one)},0)" for one in columns)
    statement = (
        f"select coalesce(sum({each}),0) from {database.named(listing.table)}"  # noqa: S608 - the same
        f" where thread_id = {database.mark}"
    )
    try:
        return int(database.fetch(statement, (thread,))[0][0])
    except Cancelled:
        keys = ("checkpoint_ns", *listing.keys)
        narrow = Listing(listing.table, keys, tuple(columns), ("thread_id",))
        return sum(weights(database, narrow, (thread,)))


def orphans(database: Database, layout: Layout) -> Mapping[str, int]:
    """Count pending writes whose checkpoint is gone, and channels that no checkpoint names."""
    found: dict[str, int] = {}
    if layout.checkpoints is None:
        return found
    for listing, statement in (
        (layout.writes, _LOST_WRITES),
        (layout.blobs, _LOST_BLOBS),
    ):
        if listing is None:
            continue
        filled = statement.format(
            table=database.named(listing.table),
            checkpoints=database.named(layout.checkpoints.table),
            mark=database.mark,
        )
        total = 0
        for thread in distinct(database, listing.table, "thread_id"):
            parameters = [thread] * statement.count("{mark}")
            total += int(asked(database, filled, parameters, table=listing.table)[0][0])
        found[listing.table] = total
    return found


_LOST_WRITES = (
    "select count(*) from {table} w where w.thread_id = {mark} and not exists (select 1 from"
    " {checkpoints} c where c.thread_id = w.thread_id and c.checkpoint_ns = w.checkpoint_ns"
    " and c.checkpoint_id = w.checkpoint_id)"
)
_LOST_BLOBS = (
    "select count(*) from {table} b where b.thread_id = {mark} and"
    " (b.checkpoint_ns, b.channel, b.version) not in (select c.checkpoint_ns, v.key, v.value"
    " from {checkpoints} c cross join lateral jsonb_each_text("
    "case jsonb_typeof(c.checkpoint -> 'channel_versions') when 'object'"  # a call refuses all else
    " then c.checkpoint -> 'channel_versions' else '{{}}' end) v"
    " where c.thread_id = {mark} and v.value is not null)"
)
