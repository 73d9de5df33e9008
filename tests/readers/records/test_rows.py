"""Rows of a host's tables that name no run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from keepset.readers import recognise


def test_a_row_that_names_no_run_is_counted_and_hides_no_other(tmp_path: Path) -> None:
    """An application may have made the tables itself, and let the column be empty."""
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "create table agent_messages (id integer primary key, session_id text,"
            " message_data text, created_at timestamp)"
        )
        connection.executemany(
            "insert into agent_messages (session_id, message_data) values (?, '{\"n\": 1}')",
            [(None,), ("a",), ("b",), (None,)],
        )
        connection.commit()
    with recognise(str(path)).open(str(path)) as reader:
        assert [one.run for one in reader.runs()] == ["a", "b"]
        assert reader.overview().runs == 2
        assert [one.value for one in reader.items("b")] == [{"n": 1}]
        assert reader.orphans() == {"agent_messages": 2}
