"""SQLite files of others, opened in every state that they are found in."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keepset.errors import StoreError
from keepset.readers.databases.sqlite import opened

WRITE = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("pragma journal_mode = " + sys.argv[2])
connection.execute("create table t (x)")
if sys.argv[2] == "delete":
    connection.execute("insert into t values ('before')")
    connection.execute("pragma cache_size = 1")
    connection.execute("begin")
    connection.executemany("update t set x = ?", [("half",)])
    connection.executemany("insert into t values (?)", [("half" * 500,)] * 200)
else:
    connection.execute("insert into t values ('in the log')")
os.kill(os.getpid(), signal.SIGKILL)
"""

READ = """
import os, sys
from pathlib import Path
from keepset.readers.databases.sqlite import opened
if os.getuid() == 0:
    os.setuid(65534)  # root may do all
with opened(Path(sys.argv[1])) as database:
    print(database.fetch("select x from t"), *database.notes())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that also somebody without rights may come to, as no folder of pytest's is."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        yield place
        place.chmod(0o755)


def killed(path: Path, mode: str) -> None:
    done = subprocess.run([sys.executable, "-c", WRITE, path, mode], check=False)
    assert done.returncode == -signal.SIGKILL


def read_without_rights(path: Path) -> str:
    """Read a file as somebody who may write neither it nor its folder."""
    for one in path.parent.iterdir():
        one.chmod(0o444)
    path.parent.chmod(0o555)
    # Who may write nothing cannot write down which lines were run either.
    surroundings = {name: value for name, value in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        [sys.executable, "-c", READ, path],
        capture_output=True,
        text=True,
        check=False,
        env=surroundings,
    )
    assert not done.stderr
    return done.stdout


def test_what_a_killed_writer_left_in_the_log_is_read(folder: Path) -> None:
    path = folder / "a b#?.db"
    killed(path, "wal")
    before = path.read_bytes()
    with opened(path) as database:
        assert database.fetch("select x from t") == [("in the log",)]
    assert path.read_bytes() == before


def test_a_log_in_a_folder_that_lets_nothing_be_written_is_read_in_a_copy(folder: Path) -> None:
    path = folder / "a.db"
    killed(path, "wal")
    path.with_name("a.db-shm").unlink()
    names = sorted(one.name for one in folder.iterdir())
    told = read_without_rights(path)
    assert "in the log" in told
    assert "a copy was read" in told
    assert sorted(one.name for one in folder.iterdir()) == names


def test_a_file_without_a_log_in_such_a_folder_is_read_where_it_is(folder: Path) -> None:
    path = folder / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table t as select 'here' x")
        connection.commit()
    assert read_without_rights(path) == "[('here',)]\n"


def test_a_change_that_was_begun_and_never_ended_is_not_read(folder: Path) -> None:
    path = folder / "a.db"
    killed(path, "delete")
    with opened(path) as database:
        assert database.fetch("select x from t") == [("before",)]


def test_a_writer_that_comes_while_a_still_file_is_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table t as select 1 x")
    with opened(path) as database:
        assert database.fetch("select x from t") == [(1,)]
        assert [one.name for one in tmp_path.iterdir()] == ["a.db"]
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("update t set x = 2")
            assert database.fetch("select x from t") == [(2,)]
            connection.execute("update t set x = 3")
            assert database.fetch("select x from t") == [(3,)]


def test_a_writer_that_has_come_and_gone_leaves_the_file_alone_as_it_was(tmp_path: Path) -> None:
    """Else a log and its index would be made to read it, and stay."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table t as select 1 x")
    with opened(path) as database:
        for x in range(2, 5):
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("update t set x = ?", (x,))
            assert database.fetch("select x from t") == [(x,)]
    assert [one.name for one in tmp_path.iterdir()] == ["a.db"]


def test_a_page_that_is_read_while_it_is_written_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table t as select 1 x")
    whole = path.read_bytes()
    with opened(path) as database:
        open_again = database._open_again

        def once_it_is_written() -> None:
            path.write_bytes(whole)
            open_again()

        monkeypatch.setattr(database, "_open_again", once_it_is_written)
        path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        assert database.fetch("select x from t") == [(1,)]


def test_nothing_can_be_written_through_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("create table t as select 1 x")
    with opened(path) as database, pytest.raises(StoreError, match=r"audit\.cannot-read"):
        database.fetch("insert into t values (2)")


def test_views_and_virtual_tables_are_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("create table plain (a TEXT, b BLOB)")
        connection.execute("create view checkpoints as select 1 thread_id")
        connection.execute("create virtual table writes using fts5(x)")
    with opened(path) as database:
        assert database.tables["plain"] == {"a": "text", "b": "blob"}
        assert not {"checkpoints", "writes"} & set(database.tables)


def test_a_damaged_file_is_told_without_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("create table t as select 'secret' x")
    data = bytearray(path.read_bytes())
    data[100:4096] = os.urandom(3996)
    path.write_bytes(data)
    with pytest.raises(StoreError) as caught, opened(path) as database:
        assert database.tables
    assert caught.value.code == "audit.cannot-read"
    assert "secret" not in str(caught.value)


def test_text_that_is_no_text_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("create table t as select cast(x'61ff62' as text) x")
    with opened(path) as database:
        assert database.fetch("select x from t") == [("a\ufffdb",)]


def freed(path: Path, secure_delete: str) -> int:
    """Bytes of deleted data that are told of a file from which a large value was deleted."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"pragma secure_delete = {secure_delete}")
        connection.execute("create table t as select randomblob(100000) x")
        connection.execute("delete from t")
    with opened(path) as database:
        assert database.size() > 100_000
        return database.free()


def test_room_that_deleted_data_takes_is_measured(tmp_path: Path) -> None:
    assert 90_000 < freed(tmp_path / "a.db", "off") < 110_000


def test_room_from_which_data_was_really_taken_away_holds_none(tmp_path: Path) -> None:
    assert freed(tmp_path / "a.db", "on") == 0


ENDLESS = "with recursive n(i) as (select soon() union all select i from n) select max(i) from n"


def test_a_signal_ends_a_statement_and_does_not_pass_for_one_that_took_too_long(
    tmp_path: Path,
) -> None:
    """SQLite drops what is raised while it looks whether its time is up."""
    path = tmp_path / "a.sqlite"
    sqlite3.connect(path).close()

    def soon() -> int:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
        return 0

    before = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    try:
        with opened(path) as database:
            database._connection.create_function("soon", 0, soon)
            with pytest.raises(KeyboardInterrupt):
                database.fetch(ENDLESS)
            assert database.fetch("select 1") == [(1,)]
    finally:
        signal.signal(signal.SIGVTALRM, before)
