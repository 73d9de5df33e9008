"""The options that commands share, and the way from ``--store`` to an open store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import keepset as ks
from keepset.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

SQLITE = "sqlite:///"


def store_options(*, required: bool = True) -> Callable[[F], F]:
    """Give a command ``--store``, ``--tenant`` and ``--json``."""
    store = click.option(
        "--store",
        "store_url",
        envvar="KEEPSET_STORE",
        required=required,
        metavar="URL",
        help="The store, such as sqlite:///runs.db, or its path.  [env: KEEPSET_STORE]",
    )
    tenant = click.option(
        "--tenant", default="default", show_default=True, help="Whose runs to look at."
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    return lambda command: store(tenant(as_json(command)))


def url_of(text: str) -> str:
    """Turn what was given as a store into a URL; a plain path is a SQLite file.

    Raises:
        UsageError: ``store.memory``: a memory store has nothing in it when a command opens it.
        NotFoundError: ``store.not-found``: there is no such file. Commands that read create none.
    """
    if text.startswith("memory:"):
        raise UsageError(
            "a memory store lives in one process only",
            code="store.memory",
            hint="Name a file, such as sqlite:///runs.db.",
        )
    url = text if "://" in text else f"{SQLITE}{text}"
    if url.startswith(SQLITE) and not path_of(url).exists():
        raise NotFoundError(
            f"there is no store at {path_of(url)}",
            code="store.not-found",
            hint="Look at the path; sqlite:///runs.db is relative, sqlite:////var/runs.db is not.",
        )
    return url


def path_of(url: str) -> Path:
    """Give the file of a SQLite URL."""
    return Path(url.removeprefix(SQLITE).partition("?")[0])


def open_store(text: str, tenant: str) -> ks.Store:
    """Open a store that is there, to read from it."""
    return ks.open(url_of(text), tenant=tenant, role="viewer")
