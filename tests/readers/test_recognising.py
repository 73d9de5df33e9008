"""What a place is, told from its content."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from keepset.errors import KeepsetError
from keepset.readers import Columns, recognise, table_opener
from keepset.readers.sources import shown
from tests.readers.langgraph.stores import connected, write_threads


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "some file"
    with connected(path) as saver:
        write_threads(saver)
    return path


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "file://{}"])
def test_a_store_is_recognised_by_its_content_whatever_its_name_is(
    written: Path, form: str
) -> None:
    place = form.format(str(written).replace(" ", "%20") if "//" in form else written)
    opener = recognise(place)
    assert opener.recognises(place)
    with opener.open(place) as reader:
        assert reader.kind == "langgraph-sqlite"
        assert len(list(reader.runs())) == 3


def test_json_is_recognised_by_its_content(tmp_path: Path) -> None:
    for number, text in enumerate(['{"a": 1}', ' \n[{"a": 1}]', '\ufeff{"a": 1}\n{"a": 2}\n']):
        path = tmp_path / str(number)
        path.write_text(text)
        with recognise(str(path)).open(str(path)) as reader:
            assert reader.kind == "json"


def _code(place: str) -> tuple[str, str]:
    with pytest.raises(KeepsetError) as caught:
        recognise(place)
    return caught.value.code, str(caught.value)


def test_what_is_not_there_not_known_or_not_to_be_read_is_told_with_what_to_do(
    tmp_path: Path,
) -> None:
    empty, text, other = tmp_path / "empty", tmp_path / "text", tmp_path / "other.db"
    empty.touch()
    text.write_text("hello")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("create table history (id, messages)")
        for number in range(20):
            connection.execute(f"create table more_{number:02} (id)")
    assert _code(str(tmp_path / "none"))[0] == "audit.not-found"
    with closing(sqlite3.connect(tmp_path / "bare.db")) as connection:
        connection.execute("pragma user_version = 1")
    code, told = _code(str(tmp_path))
    assert code == "audit.place"
    assert "bare.db, other.db" in told
    (tmp_path / "folder").mkdir()
    assert "none in it" in _code(str(tmp_path / "folder"))[1]
    os.mkfifo(tmp_path / "pipe")
    assert _code(str(tmp_path / "pipe"))[0] == "audit.place"
    assert _code(str(tmp_path / "bare.db"))[0] == "audit.empty"
    assert _code("redis://localhost/0")[0] == "audit.place"
    assert _code(str(empty))[0] == "audit.empty"
    empty.with_name("empty-wal").write_bytes(b"what was written")
    assert _code(str(empty)) == ("audit.cannot-read", _code(str(empty))[1])
    assert _code(str(text))[0] == "audit.unknown-store"
    code, told = _code(str(other))
    assert code == "audit.unknown-store"
    assert "history, more_00" in told
    assert "and 9 more" in told
    assert "--table" in told


def test_a_store_of_another_kind_is_not_recognised_and_not_opened(
    tmp_path: Path, written: Path
) -> None:
    opener = recognise(str(written))
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table history (id)")
    for place in (str(path), str(tmp_path), str(tmp_path / "none"), "redis://x"):
        assert not opener.recognises(place)
    with pytest.raises(KeepsetError, match=r"audit\.unknown-store"), opener.open(str(path)):
        pass


def test_a_damaged_database_is_told_as_one_that_cannot_be_read(written: Path) -> None:
    written.write_bytes(written.read_bytes()[:100] + b"\xff" * 4000)
    assert _code(str(written))[0] == "audit.cannot-read"


def test_tables_that_a_person_knows_are_opened_by_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table history (id text, n integer, messages text)")
        connection.execute("insert into history values ('a', 1, '[1]')")
        connection.commit()
    place = str(path)
    with table_opener(Columns("history", "id", "n", "messages")).open(place) as reader:
        assert [one.value for one in reader.items("a")] == [[1]]
    for columns, code in (
        (Columns("none", "id", "n", "messages"), "audit.no-table"),
        (Columns("history", "id", "none", "messages"), "audit.no-column"),
    ):
        with (
            pytest.raises(KeepsetError, match=code.replace(".", r"\.")),
            table_opener(columns).open(place),
        ):
            pass


def test_a_place_is_shown_so_that_it_can_be_typed_again_and_without_a_password() -> None:
    place = "postgresql://me:hunter2@db/agents?host=/run/pg&password=hunter2&schema=app&x=hunter2"
    assert shown(place) == "postgresql://me@db/agents?host=/run/pg&schema=app"
    assert shown("postgresql://db/agents?password=hunter2") == "postgresql://db/agents"
    assert shown("a b.sqlite") == "a b.sqlite"
