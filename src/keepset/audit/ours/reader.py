"""The reader of our own stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from keepset.audit.ours.declared import personal_fields
from keepset.audit.ours.items import RunItems
from keepset.audit.ours.watched import Watched
from keepset.audit.survey import OURS
from keepset.codec import GLOBAL, Codec
from keepset.errors import IntegrityError, NotFoundError
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.reads import ListRuns, ReadEverything
from keepset.plan.rows import RunKey, RunSummary
from keepset.readers.databases.pages import asked, count
from keepset.readers.databases.port import Database
from keepset.readers.ports import Item, Overview, RunFacts
from keepset.verdict.status import Status

_PAGE: Final = 200
_TABLES: Final = ("run", "line", "step", "segment", "write", "blob")
_WEIGHT: Final = (
    "select coalesce((select sum(length(s.data) + length(s.digest)) from line l"
    " join segment s on s.line = l.id where l.run = ?1), 0)"
    " + coalesce((select sum(length(s.changes) + length(s.metadata) + length(s.digest)"
    " + length(s.checkpoint) + length(s.parent) + length(s.name)) from line l"
    " join step s on s.id between l.id << 32 and (l.id + 1 << 32) - 1 where l.run = ?1), 0)"
    " + coalesce((select sum(length(w.value) + length(w.digest) + length(w.task)"
    " + length(w.channel)) from line l"
    " join write w on w.step between l.id << 32 and (l.id + 1 << 32) - 1 where l.run = ?1), 0)"
    " + coalesce((select sum(length(data) + length(digest)) from blob where run = ?1), 0)"
)
_STRUCTURES: Final = "select structure from contract order by id"
_NO_MARK: Final = b""
"""Nobody asks here how often a run was deleted, and only the store's key could tell."""
_UNVERSIONED: Final = "select distinct name from contract where epoch = 0 order by name"


class OurReader:
    """Reads a store of ours; where it has several tenants, the id of a run begins with its tenant.

    Args:
        store: Executes reads.
        database: The same file, to count in.
        tenants: Whose runs are read.
        schema: Number of the store's schema.
        deleted: Bytes of deleted data in the file.
    """

    def __init__(
        self,
        store: Watched,
        database: Database,
        tenants: Sequence[str],
        *,
        schema: int,
        deleted: int,
    ) -> None:
        """Read nothing yet."""
        self._store = store
        self._database = database
        self._tenants = tuple(tenants)
        self._schema = schema
        self._deleted = deleted
        self._codec = Codec(GLOBAL, opaque=True)

    @property
    def kind(self) -> str:
        """Ours."""
        return OURS

    def overview(self) -> Overview:
        """Count rows and runs."""
        database = self._database
        counted = "select count(*) from run where tenant = ?"
        runs = sum(
            int(asked(database, counted, (one,), table="run")[0][0]) for one in self._tenants
        )
        return Overview(
            kind=OURS,
            version=f"schema {self._schema}",
            size=database.size(),
            rows={table: count(database, table) for table in _TABLES},
            runs=runs,
            notes=database.notes(),
            free=self._deleted,
            unversioned=tuple(
                str(name) for (name,) in asked(database, _UNVERSIONED, table="contract")
            ),
            personal=personal_fields(
                str(one) for (one,) in asked(database, _STRUCTURES, table="contract")
            ),
        )

    def runs(self) -> Iterator[RunFacts]:
        """Give the runs of each tenant, in order of their ids."""
        for tenant in self._tenants:
            after = ""
            while page := self._store.execute(ListRuns(tenant, after=after, limit=_PAGE)):
                yield from map(self._facts, page)
                after = page[-1].run.key.run_id

    def _facts(self, summary: RunSummary) -> RunFacts:
        run = summary.run
        ((size,),) = asked(self._database, _WEIGHT, (run.id,), table="segment")
        return RunFacts(
            run=self._name(run.key),
            checkpoints=summary.checkpoints,
            size=int(size),
            first=run.created / 1000,
            last=(summary.updated or run.created) / 1000,
            is_unfinished=summary.status != Status.DONE if summary.status else None,
        )

    def _name(self, key: RunKey) -> str:
        if len(self._tenants) == 1:
            return key.run_id
        return "/".join(one.replace("%", "%25").replace("/", "%2F") for one in key)

    def _key(self, name: str) -> RunKey:
        if len(self._tenants) == 1:
            return RunKey(self._tenants[0], name)
        tenant, _, run_id = name.partition("/")
        return RunKey(unquote(tenant), unquote(run_id))

    def items(self, run: str) -> Iterator[Item]:
        """Give what each step of a run has brought in; its rows are of one moment.

        Raises:
            NotFoundError: ``run.not-found``: it was deleted since; ``run.rewritten``: large values
                of it went while it was read.
            IntegrityError: A row is damaged.
            DecodeError: A value cannot be read.
        """
        key = self._key(run)
        everything = self._store.execute(ReadEverything(key))
        try:
            yield from RunItems(run, everything, self._store, self._codec).items()
        except IntegrityError as error:
            if self._store.run(went_meanwhile(error, key, _NO_MARK, everything.run)):
                raise _rewritten(run) from error
            raise

    def orphans(self) -> Mapping[str, int]:
        """Nothing: every row of ours has a run, which the database itself holds it to."""
        return {}


def _rewritten(run: str) -> NotFoundError:
    return NotFoundError(
        f"run {run} was pruned or deleted while it was read",
        code="run.rewritten",
        hint="Nothing is damaged: audit the store once more.",
    )
