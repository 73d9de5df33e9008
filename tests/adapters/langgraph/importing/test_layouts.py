"""Tables as older releases of the savers laid them out are read as those releases read them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send

from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.importing.stores import outcomes, taken
from tests.adapters.langgraph.saver.steps import config

TABLES = """
create table checkpoints (thread_id text not null, checkpoint_ns text not null default '',
  checkpoint_id text not null, parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
  primary key (thread_id, checkpoint_ns, checkpoint_id));
create table writes (thread_id text not null, checkpoint_ns text not null default '',
  checkpoint_id text not null, task_id text not null, idx integer not null, channel text not null,
  type text, value blob, primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""
SERDE = JsonPlusSerializer()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two checkpoints of a release that kept what nodes are sent with the parent's writes."""
    place = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(place)) as database:
        database.executescript(TABLES)
        parent = ""
        for number in (1, 2):
            checkpoint: Any = empty_checkpoint()
            checkpoint.update(v=1, channel_values={"log": [str(number)]})
            checkpoint["channel_versions"] = {"log": f"{number:032}.0.1"}
            checkpoint["id"] = f"1ef0000{number}-0000-6000-8000-000000000000"
            tag, data = SERDE.dumps_typed(checkpoint)
            database.execute(
                "insert into checkpoints values ('t', '', ?, ?, ?, ?, ?)",
                (checkpoint["id"], parent or None, tag, data, b'{"source": "loop", "step": 1}'),
            )
            parent = parent or checkpoint["id"]
        written = (("b", 0, "log", ["b"]), ("a", 0, "__pregel_tasks", Send("work", {"n": 1})))
        for task, place_of_it, channel, value in written:
            tag, data = SERDE.dumps_typed(value)
            database.execute(
                "insert into writes values ('t', '', ?, ?, ?, ?, ?, ?)",
                (parent, task, place_of_it, channel, tag, data),
            )
        database.commit()
    return place


def test_what_nodes_were_sent_is_found_with_the_writes_of_the_parent(
    path: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    assert outcomes(taken(path, url)) == {"t": "taken"}
    with KeepsetSaver(url) as ours:
        newest, oldest = list(ours.list(config("t")))
    assert newest.checkpoint["channel_values"]["__pregel_tasks"] == [Send("work", {"n": 1})]
    assert newest.checkpoint["channel_versions"]["__pregel_tasks"] == f"{2:032}.0.1"
    assert "__pregel_tasks" not in oldest.checkpoint["channel_values"]
    assert oldest.pending_writes == [
        ("a", "__pregel_tasks", Send("work", {"n": 1})),
        ("b", "log", ["b"]),
    ]


def test_checkpoints_that_were_stored_as_json_are_read(path: Path, tmp_path: Path) -> None:
    message = (
        b'{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages",'
        b' "HumanMessage"], "kwargs": {"content": "hello", "id": "1"}}'
    )
    with closing(sqlite3.connect(path)) as database:
        for (name,) in database.execute("select checkpoint_id from checkpoints").fetchall():
            text = (
                b'{"v": 1, "id": "%s", "ts": "2024-01-01T00:00:00+00:00", "channel_values":'
                b' {"said": [%s]}, "channel_versions": {}, "versions_seen": {}}'
            ) % (name.encode(), message)
            database.execute(
                "update checkpoints set type = 'json', checkpoint = ? where checkpoint_id = ?",
                (text, name),
            )
        database.commit()
    url = f"sqlite:///{tmp_path}/runs.db"
    assert outcomes(taken(path, url)) == {"t": "taken"}
    with KeepsetSaver(url) as ours:
        newest = ours.get_tuple(config("t"))
    assert newest is not None
    (said,) = newest.checkpoint["channel_values"]["said"]
    assert (type(said).__name__, said.content, said.id) == ("HumanMessage", "hello", "1")
