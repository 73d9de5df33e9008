"""Stores of LangGraph before 0.2, by the tables that its releases made."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keepset.readers import recognise
from keepset.readers.databases.sqlite import opened
from keepset.readers.langgraph.older import of_today
from keepset.readers.ports import Foreign, Item, Overview, RunFacts
from tests.cli.terminal import say
from tests.readers.langgraph.stores import of

KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z" * 2

ONE_A_THREAD = "create table checkpoints (thread_id TEXT PRIMARY KEY, checkpoint BLOB)"
BY_TIME = (
    "create table checkpoints (thread_id TEXT NOT NULL, thread_ts TEXT NOT NULL, parent_ts TEXT,"
    " checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, thread_ts))"
)
WRITES = (
    "create table writes (thread_id TEXT NOT NULL, thread_ts TEXT NOT NULL, task_id TEXT NOT NULL,"
    " idx INTEGER NOT NULL, channel TEXT NOT NULL, value BLOB,"
    " PRIMARY KEY (thread_id, thread_ts, task_id, idx))"
)
IDS = ("1f1ecae3-d260-6792-bfff-6eacbb14e97c", "1f1ecae3-d280-6e6c-8000-5c8feca4f55c")
"""In the order of their times, the first at the beginning of a thread."""

HUMAN = {
    "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"],
    "kwargs": {"content": "hi", "type": "human", "id": "m1"},
}  # fmt: skip


def document(
    values: Mapping[str, object],
    seen: Mapping[str, Mapping[str, int]] | None = None,
    **versions: int,
) -> dict[str, Any]:
    return {
        "v": 1,
        "ts": "2024-05-06T07:08:09+00:00",
        "channel_values": dict(values),
        "channel_versions": versions,
        "versions_seen": dict(seen or {}),
        "pending_sends": [],
    }


def read(path: Path) -> tuple[Overview, list[RunFacts], list[Item]]:
    with recognise(str(path)).open(str(path)) as reader:
        runs = list(reader.runs())
        items = [item for run in runs for item in reader.items(run.run)]
        assert set(reader.orphans().values()) <= {0, 1}
        return reader.overview(), runs, items


@pytest.fixture
def by_time(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoints.sqlite"
    first = document({"__start__": {"question": "why?"}}, __start__=1)
    second = document(
        {"question": "why?", "messages": [HUMAN], "api_key": KEY, "answer": "answer"},
        {"__start__": {"__start__": 1}, "answer": {"start:answer": 2}},
        answer=3, question=2,
    )  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(BY_TIME)
        connection.execute(WRITES)
        for number, one in enumerate((first, second)):
            parent = IDS[number - 1] if number else None
            metadata = json.dumps({"source": "loop", "step": number, "writes": {"api_key": KEY}})
            row = ("t", IDS[number], parent, json.dumps(one).encode(), metadata.encode())
            connection.execute("insert into checkpoints values (?, ?, ?, ?, ?)", row)
        for at, channel, value in ((IDS[0], "question", b'"why?"'), ("lost", "api_key", b'"x"')):
            connection.execute(
                "insert into writes values ('t', ?, 'task', 0, ?, ?)", (at, channel, value)
            )
        connection.commit()
    return path


def test_checkpoints_by_their_times_are_read_as_those_of_today(by_time: Path) -> None:
    overview, (run,), items = read(by_time)
    assert overview.kind == "langgraph-sqlite"
    assert overview.version == "of LangGraph before 0.2"
    assert overview.rows == {"checkpoints": 2, "writes": 2}
    assert (run.run, run.checkpoints) == ("t", 2)
    assert run.size > 500
    assert run.first is not None
    assert run.last is not None
    assert run.first < run.last
    assert of(items, "api_key", "state") == [KEY]
    (message,) = of(items, "messages", "state")[0]
    assert isinstance(message, Foreign)
    assert message.type.endswith("HumanMessage")
    assert of(items, "__start__", "input") == [{"question": "why?"}]
    assert of(items, "writes", "metadata") == [{"api_key": KEY}] * 2
    assert of(items, "question", "write") == ["why?"]
    assert [item.step for item in items if item.surface == "state"] == [IDS[1]] * 4


def test_rows_are_found_along_the_index_however_many_threads_there_are(by_time: Path) -> None:
    with opened(by_time) as database:
        tables = of_today(database)
        plan = tables.fetch(
            f"explain query plan select checkpoint from {tables.named('checkpoints')}"  # noqa: S608 - the name is ours
            " where thread_id = ? and checkpoint_ns = '' and (checkpoint_id) > (?)"
            " order by checkpoint_id limit 5",
            ("t", ""),
        )
    told = " ".join(str(row[-1]) for row in plan)
    assert "USING INDEX" in told
    assert "TEMP B-TREE" not in told


def test_edges_are_no_fields_and_one_that_may_end_the_graph_leaves_it_open(by_time: Path) -> None:
    _, (run,), items = read(by_time)
    assert {item.field for item in items if item.surface == "state"} == {
        "question", "messages", "api_key", "branch:answer",
    }  # fmt: skip
    assert run.is_unfinished is None


def test_an_edge_that_has_started_a_node_before_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    seen = {"answer": {"start:answer": 2}, "pay": {"answer": 3}}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(BY_TIME)
        for name, one in (
            ("waits", document({"answer": "answer"}, seen, answer=5)),
            ("done", document({"question": "why?"}, seen, answer=3)),
            ("starts", document({"start:answer": "__start__"}, {})),
        ):
            connection.execute(
                "insert into checkpoints values (?, ?, null, ?, '{}')",
                (name, IDS[0], json.dumps(one).encode()),
            )
        connection.commit()
    _, runs, _ = read(path)
    assert {run.run: run.is_unfinished for run in runs} == {
        "waits": True, "done": False, "starts": True,
    }  # fmt: skip


def test_one_pickle_a_thread_is_read_as_data(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    values = {"question": "why?", "api_key": KEY, "pay:inbox": {"api_key": KEY}}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(ONE_A_THREAD)
        row = ("t", pickle.dumps(document(values)))
        connection.execute("insert into checkpoints values (?, ?)", row)
        connection.commit()
    overview, (run,), items = read(path)
    assert overview.rows == {"checkpoints": 1}
    assert (run.checkpoints, run.is_unfinished) == (1, None)
    assert of(items, "api_key", "state") == [KEY]
    assert {item.encoding for item in items} == {"pickle"}


@pytest.mark.parametrize("layout", ["by_time", "one"])
def test_the_audit_of_an_older_store_finds_the_secret(
    layout: str, by_time: Path, tmp_path: Path
) -> None:
    path = by_time
    if layout == "one":
        path = tmp_path / "one.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(ONE_A_THREAD)
            row = ("t", pickle.dumps(document({"question": "why?", "api_key": KEY})))
            connection.execute("insert into checkpoints values (?, ?)", row)
            connection.commit()
    said = say("audit", path)
    assert said.code == 40, said.err
    assert "a secret (openai.api-key)" in said.out
    assert KEY not in said.out
    assert "1 of 2 fields belongs" in said.out or "2 of 3 fields belong" in said.out
