"""Recognise a store of ours from its content, and open it to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from keepset.audit.ours.reader import OurReader
from keepset.audit.ours.watched import Watched
from keepset.backends.sqlite import open_sqlite
from keepset.backends.sqlite.migrations import APPLICATION_ID, newest_schema
from keepset.errors import KeepsetError, NotFoundError
from keepset.readers.databases import sqlite
from keepset.readers.databases.deleted import deleted_bytes
from keepset.readers.databases.files import copied, stamp
from keepset.readers.databases.pages import distinct
from keepset.readers.databases.port import Database
from keepset.readers.sources import is_server, path_of

_NAMED: Final = 5


def is_ours(place: str) -> bool:
    """Tell whether a place is a store of ours, also one of a newer keepset."""
    if is_server(place):
        return False
    try:
        return stamp(path_of(place))[0] == APPLICATION_ID
    except KeepsetError:
        return False


class OurOpener:
    """Opens stores of ours.

    Args:
        tenant: Whose runs are read; None for all.
    """

    def __init__(self, tenant: str | None = None) -> None:
        """Remember whose."""
        self._tenant = tenant

    def recognises(self, place: str) -> bool:
        """Tell whether a place is one."""
        return is_ours(place)

    @contextmanager
    def open(self, place: str) -> Iterator[OurReader]:
        """Open one; nothing of it is changed, and nothing is left beside it.

        One of an older schema is read in a copy, which is brought to the schema of today.

        Raises:
            NotFoundError: ``audit.no-tenant``: it has no run of the tenant.
            StoreError: ``store.newer-format``: a newer keepset wrote it; or it cannot be read.
        """
        path = path_of(place)
        schema = stamp(path)[1]
        deleted = deleted_bytes(path)
        with _of_today(path, schema) as file, sqlite.opened(file) as database:
            tenants = _tenants(database, self._tenant)
            watched = Watched(database.path, is_still=database.is_still)
            with closing(watched):
                yield OurReader(watched, database, tenants, schema=schema, deleted=deleted)


@contextmanager
def _of_today(path: Path, schema: int) -> Iterator[Path]:
    """Give the file, or a copy of it that has the schema of today."""
    if schema >= newest_schema():
        with nullcontext(path) as file:
            yield file
        return
    with copied(path) as copy:
        open_sqlite(copy).close()
        yield copy


def _tenants(database: Database, wanted: str | None) -> list[str]:
    """Give the tenants that have runs; or the one that is asked for.

    Raises:
        NotFoundError: ``audit.no-tenant``.
    """
    found = [str(one) for one in distinct(database, "run", "tenant")]
    if wanted is None:
        return found or ["default"]
    if wanted in found:
        return [wanted]
    few = ", ".join(found[:_NAMED]) or "none"
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    raise NotFoundError(
        f"the store has no run of tenant {wanted}",
        code="audit.no-tenant",
        hint=f"It has runs of these: {few}{more}.",
    )
