"""Tables of people's own."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import ormsgpack
import pytest

from keepset.readers.databases.sqlite import opened
from keepset.readers.decoding.guessed import guessed
from keepset.readers.ports import Foreign, Unreadable
from keepset.readers.table import Columns, TableReader
from tests.readers.decoding.hostile import planted_pickles


@contextmanager
def reading(path: Path, *columns: str) -> Iterator[TableReader]:
    with opened(path) as database:
        yield TableReader(database, Columns(*columns))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "app.db"
    with closing(sqlite3.connect(found)) as connection:
        connection.executescript(
            """
            create table "my ""history" (who text, at real, "the value" blob);
            create table runs (id integer, step text, body text,
                primary key (id, step)) without rowid;
            """
        )
        rows = [
            ("ada", 2.0, json.dumps({"messages": ["hi", "yes"], "n": 2})),
            ("bob", 1.0, json.dumps(["x"])),
            ("ada", 1.0, json.dumps({"messages": ["hi"], "n": 1})),
            (None, 1.0, "lost"),
        ]
        connection.executemany('insert into "my ""history" values (?, ?, ?)', rows)
        connection.executemany(
            "insert into runs values (?, ?, ?)",
            [(n, f"s{m}", f"{n}{m}") for n in (1, 2) for m in "ab"],
        )
        connection.commit()
    return found


def test_a_table_is_read_by_its_three_columns(path: Path) -> None:
    with reading(path, 'my "history', "who", "at", "the value") as reader:
        facts = {one.run: one for one in reader.runs()}
        ada, bob = list(reader.items("ada")), list(reader.items("bob"))
        lost = list(reader.items("(no run)"))
        overview = reader.overview()
        assert reader.orphans() == {'my "history': 1}
    assert set(facts) == {"ada", "bob", "(no run)"}
    assert facts["ada"].checkpoints == 2
    assert [(one.step, one.field, one.value) for one in ada] == [
        ("1.0", "messages", ["hi"]),
        ("1.0", "n", 1),
        ("2.0", "messages", ["hi", "yes"]),
        ("2.0", "n", 2),
    ]
    assert [(one.field, one.value) for one in bob] == [("the value", ["x"])]
    assert [one.value for one in lost] == ["lost"]
    assert overview.rows == {'my "history': 4}
    assert overview.runs == 3


def test_a_table_without_row_numbers_and_with_numbers_as_runs_is_read(path: Path) -> None:
    with reading(path, "runs", "id", "step", "body") as reader:
        assert [one.run for one in reader.runs()] == ["1", "2"]
        assert [one.value for one in reader.items("2")] == ["2a", "2b"]
        assert list(reader.items("none")) == []
        assert reader.orphans() == {}


@pytest.mark.parametrize("run", [7, 7.5, b"\x00\xff", "7", "ab"])
@pytest.mark.parametrize("declared", ["", "blob", "text", "integer"])
def test_runs_are_found_whatever_their_ids_are(tmp_path: Path, run: object, declared: str) -> None:
    """SQLite keeps a number in a column without a type as one, and no text is equal to it."""
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create table history (chat {declared}, n integer, body text)")
        connection.executemany("insert into history values (?, ?, 'x')", [(run, 1), (run, 2)])
        connection.commit()
    with reading(path, "history", "chat", "n", "body") as reader:
        [facts] = reader.runs()
        assert len(list(reader.items(facts.run))) == facts.checkpoints == 2


def test_rows_without_a_step_are_read_as_they_were_put_in(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table t (run text, step text, value text)")
        connection.executemany(
            "insert into t values ('r', ?, ?)", [("b", "1"), (None, "2"), ("a", "3")]
        )
        connection.commit()
    with reading(path, "t", "run", "step", "value") as reader:
        assert [one.value for one in reader.items("r")] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("data", "encoding", "value"),
    [
        (None, "null", None),
        ("plain", "text", "plain"),
        ("[not json", "text", "[not json"),
        ('{"a": 1}', "json", {"a": 1}),
        (b'[{"lc": 1, "type": "constructor", "id": ["a", "B"]}]', "json", [Foreign("a.B")]),
        (pickle.dumps([1, "x"]), "pickle", [1, "x"]),
        (ormsgpack.packb({"a": [1]}), "msgpack", {"a": [1]}),
        (b"\x00\xff", "bytes", b"\x00\xff"),
        (b"text", "text", "text"),
        (7, "text", 7),
        (b"", "text", ""),
    ],
)
def test_how_a_value_is_stored_is_told_from_its_first_bytes(
    data: object, encoding: str, value: object
) -> None:
    assert guessed(data) == (encoding, value)


def test_an_object_that_is_cut_off_is_told_as_unreadable() -> None:
    assert isinstance(guessed('{"a": ')[1], Unreadable)


def test_a_planted_pickle_in_a_column_is_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    kinds = {guessed(data)[0] for data in planted_pickles(marker)}
    assert "pickle" in kinds
    assert not marker.exists()
