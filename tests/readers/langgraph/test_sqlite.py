"""LangGraph's SQLite stores, read as data."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from keepset.errors import KeepsetError
from keepset.readers import recognise
from keepset.readers.ports import Foreign, Unreadable
from tests.readers.decoding.hostile import planted_extensions, planted_pickles
from tests.readers.langgraph.stores import (
    ERROR,
    connected,
    of,
    reading,
    thread,
    write_threads,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.sqlite"


@pytest.fixture
def written(path: Path) -> Path:
    with connected(path) as saver:
        write_threads(saver)
    return path


def test_every_thread_is_told_with_its_size_its_times_and_whether_something_is_left_to_do(
    written: Path,
) -> None:
    with reading(written) as reader:
        facts = {one.run: one for one in reader.runs()}
    assert {run: one.is_unfinished for run, one in facts.items()} == {
        "done": False,
        "failed": True,
        "waits": True,
    }
    now = time.time()
    for one in facts.values():
        assert one.first is not None
        assert one.last is not None
        assert now - 600 < one.first <= one.last <= now
        assert one.checkpoints > 1
        assert 500 < one.size < 50_000


def test_the_store_is_counted_without_being_read(written: Path) -> None:
    with closing(sqlite3.connect(written)) as connection:
        rows = {
            table: connection.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608 - a name of ours
            for table in ("checkpoints", "writes")
        }
    with reading(written) as reader:
        found = reader.overview()
        assert reader.kind == "langgraph-sqlite"
    assert found.rows == rows
    assert (found.kind, found.runs) == ("langgraph-sqlite", 3)
    assert found.size == written.stat().st_size


def test_the_values_of_a_thread_are_those_that_the_saver_gives(written: Path) -> None:
    with connected(written) as saver:
        theirs = [one.checkpoint["channel_values"] for one in saver.list(thread("done"))][::-1]
    with reading(written) as reader:
        items = list(reader.items("done"))
    for field in ("question", "log"):
        assert of(items, field, "state") == [one[field] for one in theirs if field in one]
    assert of(items, "tags", "state")[-1] == Foreign("builtins.set", ["a"])
    messages = of(items, "messages", "state")[-1]
    assert [one.type.rpartition(".")[2] for one in messages] == ["HumanMessage", "AIMessage"]
    assert [one.parts["content"] for one in messages] == ["hi", "yes"]


def test_every_place_at_which_a_value_was_let_in_is_told_apart(written: Path) -> None:
    with reading(written) as reader:
        done, failed = list(reader.items("done")), list(reader.items("failed"))
        waits = list(reader.items("waits"))
    assert of(done, "__start__", "input")[0]["question"] == "why?"
    assert of(done, "__resume__", "resume")[0] in ("you may", ["you may"])
    assert of(waits, "__interrupt__", "interrupt")[0][0].parts["value"] == "may I?"
    assert ERROR in of(failed, "__error__", "error")[0]
    assert "work 1" in [log[0] for log in of(done, "log", "write")]
    assert set(of(done, "openai_api_key", "metadata")) == {"sk-in-config"}
    assert of(done, "step", "metadata") == list(range(-1, len(of(done, "step", "metadata")) - 1))
    sent = [one for value in of(done, "__pregel_tasks", "state") for one in value]
    sent += of(done, "__pregel_tasks", "write")
    assert {one.type for one in sent} == {"langgraph.types.Send"}


def test_what_is_told_of_each_value_adds_up(written: Path) -> None:
    with reading(written) as reader:
        facts = {one.run: one for one in reader.runs()}
        for run, fact in facts.items():
            items = list(reader.items(run))
            assert all(one.run == run and one.namespace == "" for one in items)
            assert 0 < sum(one.size for one in items) < fact.size
            steps = [one.step for one in items if one.surface == "state"]
            assert steps == sorted(steps)
            assert all(one.written is not None for one in items)
            assert {one.encoding for one in items} <= {"msgpack", "json", "null"}


def test_reading_changes_no_byte_and_leaves_no_file(written: Path) -> None:
    before = hashlib.sha256(written.read_bytes()).digest()
    with reading(written) as reader:
        reader.overview()
        for one in reader.runs():
            list(reader.items(one.run))
        reader.orphans()
    assert hashlib.sha256(written.read_bytes()).digest() == before
    assert os.listdir(written.parent) == [written.name]  # noqa: PTH208 - names


def test_a_writer_goes_on_while_the_store_is_read_and_what_it_writes_is_seen(path: Path) -> None:
    with connected(path) as saver:
        write_threads(saver)
        with reading(path) as reader:
            first = [one.run for one in reader.runs()]
            items = reader.items("done")
            next(items)
            saver.delete_thread("failed")  # no lock is held, and none is in the way
            list(items)
            assert [one.run for one in reader.runs()] == ["done", "waits"]
    assert first == ["done", "failed", "waits"]


def test_rows_whose_checkpoint_is_gone_are_counted_and_their_values_are_still_given(
    written: Path,
) -> None:
    with closing(sqlite3.connect(written)) as connection:
        connection.execute("delete from checkpoints where thread_id = 'failed'")
        connection.commit()
        lost = connection.execute("select count(*) from writes where thread_id = 'failed'")
        number = lost.fetchone()[0]
    with reading(written) as reader:
        assert reader.orphans() == {"writes": number}
        facts = {one.run: one for one in reader.runs()}
        assert facts["failed"].checkpoints == 0
        assert facts["failed"].is_unfinished is None
        assert ERROR in of(list(reader.items("failed")), "__error__", "error")[0]
        assert reader.overview().runs == 3


def test_encrypted_checkpoints_are_counted_as_such_and_their_open_metadata_is_read(
    path: Path,
) -> None:
    class Turned:
        """A cipher, as LangGraph's `EncryptedSerializer` takes one."""

        def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
            return "aes", plaintext[::-1]

        def decrypt(self, _: str, ciphertext: bytes) -> bytes:
            return ciphertext[::-1]

    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer  # noqa: PLC0415 - here alone

    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        write_threads(SqliteSaver(connection, serde=EncryptedSerializer(Turned())))
    with reading(path) as reader:
        items = list(reader.items("done"))
        facts = {one.run: one.is_unfinished for one in reader.runs()}
    assert {one.value for one in items if one.encoding == "encrypted"} == {None}
    assert {one.field for one in items if one.surface == "state"} == {"checkpoint"}
    assert set(of(items, "openai_api_key", "metadata")) == {"sk-in-config"}
    assert facts == {"done": None, "failed": True, "waits": True}


def test_a_checkpoint_that_was_pickled_is_given_by_its_channels(path: Path) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection, serde=JsonPlusSerializer(pickle_fallback=True))
        checkpoint: Any = {
            "v": 4, "id": "1", "ts": "2026-01-02T00:00:00+00:00", "versions_seen": {},
            "channel_versions": {}, "channel_values": {"a": 3 + 4j, "b": "x" * 1000},
        }  # fmt: skip
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        saver.put(config, checkpoint, {"source": "input"}, {})
    with reading(path) as reader:
        items = {one.field: one for one in reader.items("t") if one.surface == "state"}
        (fact,) = reader.runs()
    assert items["a"].value == Foreign("builtins.complex", [3.0, 4.0])
    assert items["b"].encoding == "pickle"
    assert 900 < items["b"].size < 1_300
    assert items["b"].written == 1767312000
    assert fact.is_unfinished is False


def test_planted_values_are_told_and_not_run_by_the_whole_reading(path: Path) -> None:
    marker = path.with_name("ran")
    with connected(path) as saver:
        saver.setup()
        planted = [
            *(("msgpack", one) for one in planted_extensions(marker)),
            *(("pickle", one) for one in planted_pickles(marker)),
        ]
        for number, (tag, data) in enumerate(planted):
            saver.conn.execute(
                "insert into checkpoints values ('t', '', ?, null, ?, ?, '{}')",
                (f"{number:04}", tag, data),
            )
            saver.conn.execute(
                "insert into writes values ('t', '', ?, 'task', '', 0, 'x', ?, ?)",
                (f"{number:04}", tag, data),
            )
        saver.conn.commit()
    with reading(path) as reader:
        list(reader.runs())
        found = repr(list(reader.items("t")))
    assert "os.system" in found
    assert "posix.system" in found
    assert not marker.exists()


@pytest.mark.parametrize("data", [None, b"", b"\xc1", b"\x81\xaechannel_values\xc1", "text", 7])
def test_a_damaged_checkpoint_is_told_as_unreadable_and_the_others_are_read(
    written: Path, data: object
) -> None:
    with closing(sqlite3.connect(written)) as connection:
        connection.execute("update checkpoints set checkpoint = ? where thread_id='waits'", (data,))
        connection.commit()
    with reading(written) as reader:
        assert {one.run for one in reader.runs()} == {"done", "failed", "waits"}
        waits = [one for one in reader.items("waits") if one.surface == "state"]
        assert {type(one.value) for one in waits} == {Unreadable}
        assert of(list(reader.items("done")), "question", "state")


@pytest.mark.parametrize("seed", range(20))
def test_a_file_with_wrong_bytes_in_it_is_read_or_refused_with_a_code(
    written: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same bytes in each run
    data = bytearray(written.read_bytes())
    for _ in range(4 ** (seed % 5)):
        data[chance.randrange(16, len(data))] = chance.randrange(256)
    written.write_bytes(data[: chance.choice([len(data), len(data) // 2])])
    told = ""
    try:
        with recognise(str(written)).open(str(written)) as reader:
            reader.overview()
            for one in reader.runs():
                list(reader.items(one.run))
            reader.orphans()
    except KeepsetError as error:
        told = str(error)
    assert not told or "[audit." in told
    assert "sk-" not in told


def test_the_layout_without_task_paths_and_metadata_as_text_is_read(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            create table checkpoints (thread_id TEXT NOT NULL,
                checkpoint_ns TEXT NOT NULL DEFAULT '',
                checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB,
                metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
            create table writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
                checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL,
                channel TEXT NOT NULL, type TEXT, value BLOB,
                PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
            insert into checkpoints values ('t', '', '1', null, 'json',
                '{"v": 1, "ts": "2024-01-02T00:00:00+00:00", "channel_values": {"a": [1]},
                  "pending_sends": [{"lc": 2, "type": "constructor",
                                     "id": ["langgraph", "types", "Send"], "args": ["n", 1]}]}',
                '{"source": "input", "writes": {"a": {"lc": 1, "type": "constructor",
                  "id": ["x", "Y"], "kwargs": {"k": 1}}}}');
            insert into writes values ('t', '', '1', 'task', 0, 'b', 'json', '"x"');
            """
        )
    with reading(path) as reader:
        items = list(reader.items("t"))
        (fact,) = reader.runs()
        assert reader.overview().version == "before 2.0.12"
    assert of(items, "a", "state") == [[1]]
    assert of(items, "__pregel_tasks", "state") == [[Foreign("langgraph.types.Send", ["n", 1])]]
    assert of(items, "writes", "metadata") == [{"a": Foreign("x.Y", {"k": 1})}]
    assert of(items, "b", "write") == ["x"]
    assert items[0].written == 1704153600
    assert fact.is_unfinished is True


def test_a_graph_inside_is_told_by_its_namespace(path: Path) -> None:
    from tests.adapters.langgraph.saver.graphs import THREAD, outer  # noqa: PLC0415 - here alone

    with connected(path) as saver:
        outer(saver).invoke({"log": ["in"]}, THREAD)
        from langgraph.types import Command  # noqa: PLC0415 - the same

        outer(saver).invoke(Command(resume="yes"), THREAD)
    with reading(path) as reader:
        items = list(reader.items("t"))
        (fact,) = reader.runs()
    namespaces = {one.namespace.partition(":")[0] for one in items}
    assert namespaces == {"", "inner"}
    assert fact.is_unfinished is True


def test_documents_of_langgraphs_store_are_given_by_their_entries(path: Path) -> None:
    from langgraph.store.sqlite import SqliteStore  # noqa: PLC0415 - needs an extension of SQLite

    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        store.put(("users", "1"), "profile", {"name": "Ada", "likes": ["tea"]})
        store.put(("users", "2"), "profile", {"name": "Bob"})
    with reading(path) as reader:
        facts = list(reader.runs())
        items = list(reader.items("store:users.1"))
        assert reader.overview().runs == 2
        assert reader.orphans() == {}
    assert [one.run for one in facts] == ["store:users.1", "store:users.2"]
    assert facts[0].last is not None
    assert abs(facts[0].last - time.time()) < 600
    told = [(one.surface, one.step, one.field, one.value) for one in items]
    assert told == [
        ("store", "profile", "name", "Ada"),
        ("store", "profile", "likes", ["tea"]),
    ]
