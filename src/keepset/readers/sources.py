"""From the name of a place to what lies there: files, and databases on servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode

from keepset.errors import NotFoundError, StoreError, UsageError
from keepset.readers.databases import postgres, sqlite
from keepset.readers.databases.files import Glance, is_sqlite
from keepset.readers.databases.port import Database

_SERVERS: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
_FILES: Final = ("sqlite:///", "file://")
_OPEN: Final = ("host", "port", "dbname", "user", "schema", "sslmode")
_NAMED: Final = 5


def is_server(place: str) -> bool:
    """Tell whether a place is a database on a server."""
    return place.startswith(_SERVERS)


def shown(place: str) -> str:
    """Give the name of a place as it may be printed: without a password.

    What else is needed to find it stays, so that it can be typed again.
    """
    if not is_server(place):
        return place
    scheme, _, rest = place.partition("://")
    address, _, query = rest.partition("?")
    user, at, host = address.rpartition("@")
    kept = [pair for pair in parse_qsl(query) if pair[0] in _OPEN]
    more = f"?{urlencode(kept, safe='/')}" if kept else ""
    return f"{scheme}://{user.partition(':')[0]}{at}{host}{more}"


def path_of(place: str) -> Path:
    """Give the path of a file that is named by a path or by a URL.

    Raises:
        UsageError: ``audit.place``: the URL is of a kind that is not known.
        UsageError: ``audit.empty``: nothing was ever written to it.
        NotFoundError: ``audit.not-found``: there is no such file.
        StoreError: ``audit.cannot-read``: it may not be read, or was cut off.
    """
    path = _named(place)
    if not path.exists():
        raise NotFoundError(
            f"there is no file {path}",
            code="audit.not-found",
            hint="Name a file, such as `checkpoints.sqlite`, or a URL, such as "
            "`postgresql://user@host/database`.",
        )
    if path.is_dir():
        raise _folder(path)
    if not path.is_file():
        raise UsageError(
            f"{path} is a pipe, a socket or a device",
            code="audit.place",
            hint="Name a plain file: what comes through a pipe can be put into one.",
        )
    if not os.access(path, os.R_OK):
        raise StoreError(
            f"{path} may not be read by this user",
            code="audit.cannot-read",
            hint="Ask for the right to read it, or for a copy.",
        )
    if not path.stat().st_size:
        raise _empty(path)
    return path


def _folder(path: Path) -> UsageError:
    """Make the refusal of a folder; the databases in it are named."""
    try:
        names = sorted(one.name for one in path.iterdir() if one.is_file() and is_sqlite(one))
    except OSError:
        names = []
    few = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return UsageError(
        f"{path} is a folder",
        code="audit.place",
        hint=f"Name a file in it: {few}{more}."
        if names
        else "Name a file; none in it is a SQLite database.",
    )


def _empty(path: Path) -> UsageError | StoreError:
    """Make the refusal of a file without a byte."""
    if Glance(path).has_log:
        return StoreError(
            f"{path} is empty, and the log beside it is not: the database was cut off",
            code="audit.cannot-read",
            hint="Restore it from a backup, and keep the log as it is.",
        )
    return UsageError(
        f"{path} is empty: nothing was ever written to it",
        code="audit.empty",
        hint="Look at the path that the saver is given; a relative one is another file in each "
        "folder.",
    )


def _named(place: str) -> Path:
    for scheme in _FILES:
        if place.startswith(scheme):
            return Path(unquote(place.removeprefix(scheme).partition("?")[0]))
    if "://" in place:
        raise UsageError(
            f"a place of the kind {place.partition('://')[0]}:// is not known",
            code="audit.place",
            hint="Name a file, `sqlite:///FILE` or `postgresql://user@host/database`.",
        )
    return Path(place)


def is_database(place: str) -> bool:
    """Tell whether a place is a database that can be opened."""
    return is_server(place) or is_sqlite(path_of(place))


@contextmanager
def databases_at(place: str) -> Iterator[list[Database]]:
    """Open a database to read; one on a server is given once for each of its schemas.

    Raises:
        KeepsetError: There is none, or it cannot be read; the code begins with ``audit.``.
    """
    if is_server(place):
        with postgres.opened(place) as schemas:
            yield [*schemas]
        return
    with sqlite.opened(path_of(place)) as database:
        yield [database]
