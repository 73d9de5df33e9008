"""The options that commands share, and the way from ``--store`` to an open store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

import keepset as ks
from keepset.errors import NotFoundError, StoreError, UsageError
from keepset.store.places import SQLITE, file_of, is_in_memory

if TYPE_CHECKING:
    from collections.abc import Callable

REPLACE: Final = "Write over a file that is there and was not made by this command."
"""The help of ``--replace`` where a report is written to a file."""

F = TypeVar("F", bound="Callable[..., Any]")


def store_options(*, required: bool = True) -> Callable[[F], F]:
    """Give a command ``--store``, ``--tenant`` and ``--json``."""
    store = click.option(
        "--store",
        "store_url",
        envvar="KEEPSET_STORE",
        required=required,
        metavar="URL",
        callback=_not_empty,
        help="The store, such as sqlite:///runs.db, or its path.  [env: KEEPSET_STORE]",
    )
    tenant = click.option(
        "--tenant", default="default", show_default=True, help="Whose runs to look at."
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    return lambda command: store(tenant(as_json(command)))


def _not_empty(context: click.Context, parameter: click.Parameter, url: str | None) -> str | None:
    """Refuse a store without a name: a variable of a script that was not set, most likely."""
    del context, parameter
    if url is not None and not url.strip():
        raise click.BadParameter("it is empty; name a store, such as sqlite:///runs.db")
    return url


def url_of(text: str) -> str:
    """Turn what was given as a store into a URL; a plain path is a SQLite file.

    Raises:
        UsageError: ``store.memory``: a memory store has nothing in it when a command opens it.
        NotFoundError: ``store.not-found``: there is no such file. Commands that read create none.
        StoreError: ``store.not-a-file``: it is a folder; ``store.cannot-open``: its path cannot
            be looked at.
    """
    return f"{SQLITE}{_there(text)}"


def path_named(text: str) -> Path:
    """Give the file of a store that a command is to open, which may not be there yet.

    Raises:
        UsageError: ``store.memory``, or ``store.url``: no store is called so.
        StoreError: ``store.not-a-file``: it is a folder; ``store.cannot-open``.
    """
    _look_at(Path(text.removeprefix(SQLITE)))
    path = None if is_in_memory(text) else file_of(text)
    if path is None:
        raise UsageError(
            "a memory store lives in one process only",
            code="store.memory",
            hint="Name a file, such as sqlite:///runs.db.",
        )
    return Path(path)


def _look_at(path: Path) -> None:
    """Refuse a folder, and a path that cannot be looked at."""
    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise StoreError(
            f"{path}: it cannot be looked at ({error.strerror})",
            code="store.cannot-open",
            hint="Look at the path, and whether this user may go there.",
        ) from error
    if is_folder:
        raise StoreError(
            f"{path}: it is a folder",
            code="store.not-a-file",
            hint=f"Name the file in it, such as {path / 'runs.db'}.",
        )


def _there(text: str) -> Path:
    """Give the file of a store that is there."""
    path = path_named(text)
    if not path.exists():
        raise NotFoundError(
            f"there is no store at {path}",
            code="store.not-found",
            hint="Look at the path; sqlite:///runs.db is relative, sqlite:////var/runs.db is not.",
        )
    return path


def open_store(text: str, tenant: str) -> ks.Store:
    """Open a store that is there, to read from it."""
    return ks.open(url_of(text), tenant=tenant, role="viewer")


def key_file(text: str) -> Path:
    """Give the file that holds the key of a store: it lies beside the database, as named."""
    path = _there(text)
    return path.with_name(f"{path.name}.key")
