"""Sessions of the OpenAI Agents SDK become runs, an item at a time, and are compared."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.adapters.moved import Moved
from keepset.adapters.openai_agents.session import Session, SessionRun
from keepset.backends.driver import drive
from keepset.cli.moving.sources import Asked, importing
from tests.adapters.landed import held
from tests.cli.terminal import say

TABLES = """
create table agent_sessions (session_id text primary key,
  created_at timestamp default current_timestamp, updated_at timestamp default current_timestamp);
create table agent_messages (id integer primary key autoincrement, session_id text not null,
  message_data text not null, created_at timestamp default current_timestamp);
"""
KEY = "sk-proj-Zq3vX8mN2pL7kR4tY9wB6cD1fG5hJ0aSuEiOxVbNmQwErTyU"
ITEMS: list[Any] = [
    {"role": "user", "content": f"hello, with {KEY}"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "hi", "n": 1.0, "on": True}]},
    {"type": "function_call", "arguments": '{"a": 1}', "lc": 1, "id": ["not", "a", "call"]},
    {"type": "function_call_output", "output": None, "big": 2**70},
]


def write(path: Path, session: str, texts: list[str]) -> None:
    """Write rows as the SDK does."""
    with closing(sqlite3.connect(path)) as database:
        if not database.execute("select 1 from sqlite_master").fetchall():
            database.executescript(TABLES)
        database.execute("insert or ignore into agent_sessions (session_id) values (?)", (session,))
        for number, text in enumerate(texts):
            database.execute(
                "insert into agent_messages (session_id, message_data, created_at)"
                " values (?, ?, ?)",
                (session, text, f"2026-01-02 03:04:{number % 60:02}"),
            )
        database.commit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "sessions.db"
    write(place, "a", [json.dumps(item) for item in ITEMS])
    write(place, "b/1", [json.dumps({"n": number}) for number in range(100)])
    return place


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def taken(path: Path, url: str, *, apply: bool = True, **how: Any) -> dict[str, Moved]:
    asked = Asked(skips=how.get("skips", False), again=how.get("again", False))
    mode = how.get("mode", "protect")
    with (
        importing(str(path), asked) as make,
        ks.open(url, mode=mode) as to,
        ks.open("memory:") as m,
    ):
        importer = make(to if apply else m, to, how.get("told", lambda _: None))
        return {run: importer.move(run) for run in importer.runs()}


def outcomes(moved: dict[str, Moved]) -> dict[str, str]:
    return {run: one.outcome.value for run, one in moved.items()}


def items(url: str, session: str) -> list[Any]:
    with ks.open(url) as store:
        state: Any = store.run(Session, session).state
        found: list[Any] = state["items"]
        return found


def test_a_session_is_a_run_with_a_checkpoint_for_each_item_at_its_own_time(
    path: Path, url: str
) -> None:
    assert outcomes(taken(path, url, mode="observe")) == {"a": "taken", "b/1": "taken"}
    assert items(url, "a") == ITEMS
    assert [type(one) for one in items(url, "a")[1]["content"][0].values()] == [
        str,
        str,
        float,
        bool,
    ]
    assert items(url, "b/1") == [{"n": number} for number in range(100)]
    with ks.open(url) as store:
        (first, _) = store.runs()
        steps = store.run(Session, "a").history()
        assert first.run.contract.name == "openai-agents/session"
        assert [first.checkpoints, len(list(steps))] == [4, 4]
        assert store.verify().problems == ()


def test_states_that_have_their_items_in_common_are_those_that_are_stored(
    path: Path, url: str
) -> None:
    taken(path, url)
    with ks.open(url) as store:
        run, backend = SessionRun(store.services, "b/1"), store.services.backend
        found = drive(run.reader.look(), backend)
        assert found.run is not None
        ((line, headers),) = drive(run.reader.headers_of(found, ""), backend)
        apart, common = (
            [
                one.values if one else {}
                for one in drive(run.reader.several(found.run, line, headers, by), backend)
            ]
            for by in (run.surface, run.looking())
        )
    assert apart == common
    assert [len(values["items"]) for values in common] == [*range(100, 0, -1)]
    assert common[0]["items"][0] is common[50]["items"][0]
    assert common[0]["items"] is not common[50]["items"]


def test_a_secret_in_a_session_is_masked_and_counted(path: Path, url: str) -> None:
    moved = taken(path, url)
    assert KEY not in repr(items(url, "a"))
    assert items(url, "a")[1:] == ITEMS[1:]
    assert {place for _, place in moved["a"].withheld} == {"items.*.content"}
    assert outcomes(taken(path, url)) == {"a": "there", "b/1": "there"}


def test_in_observe_mode_it_is_there(path: Path, url: str) -> None:
    """The control."""
    taken(path, url, mode="observe")
    assert KEY in repr(items(url, "a"))


def test_a_dry_run_writes_nothing(path: Path, url: str) -> None:
    assert outcomes(taken(path, url, apply=False)) == {"a": "taken", "b/1": "taken"}
    with ks.open(url) as store:
        assert held(store) == []


def test_a_session_that_grew_is_taken_anew_only_if_that_is_said(path: Path, url: str) -> None:
    taken(path, url)
    write(path, "a", ['{"role": "user", "content": "again"}'])
    assert outcomes(taken(path, url)) == {"a": "grown", "b/1": "there"}
    assert len(items(url, "a")) == 4
    assert outcomes(taken(path, url, again=True)) == {"a": "taken", "b/1": "there"}
    assert items(url, "a")[-1] == {"role": "user", "content": "again"}
    assert outcomes(taken(path, url, again=True)) == {"a": "there", "b/1": "there"}


def test_a_session_that_goes_on_here_while_another_is_to_take_its_place_loses_nothing(
    path: Path, url: str
) -> None:
    taken(path, url)
    write(path, "a", ["{}"])

    def meanwhile(_: int) -> None:
        if items(url, "a") == here:
            with ks.open(url) as store:
                run = store.run(Session, "a")
                run.save(
                    "said", {"items": [*run.state["items"], {"role": "user", "content": "late"}]}
                )

    here = items(url, "a")
    assert outcomes(taken(path, url, again=True, told=meanwhile))["a"] == "differs"
    assert items(url, "a")[-1] == {"role": "user", "content": "late"}


def test_of_two_that_take_a_session_anew_one_is_first_and_the_other_one_compares(
    path: Path, url: str
) -> None:
    taken(path, url)
    write(path, "a", ["{}"])
    first: list[Any] = []

    def meanwhile(_: int) -> None:
        if not first:
            first.append("")
            first[0] = outcomes(taken(path, url, again=True))

    assert outcomes(taken(path, url, again=True, told=meanwhile))["a"] == "there"
    assert first[0]["a"] == "taken"


def test_a_session_whose_items_are_others_is_left_as_it_is(path: Path, url: str) -> None:
    taken(path, url)
    with closing(sqlite3.connect(path)) as database:
        database.execute("update agent_messages set message_data = '{}' where id = 2")
        database.execute("delete from agent_messages where id > 100")
        database.commit()
    assert outcomes(taken(path, url, again=True)) == {"a": "differs", "b/1": "ahead"}
    assert items(url, "a")[1:] == ITEMS[1:]


@pytest.mark.parametrize("text", ["{", '{"__enc__": 1, "payload": "x"}', "[" * 100_000])
def test_an_item_that_cannot_be_read_leaves_its_session_out_or_goes_alone(
    path: Path, url: str, text: str
) -> None:
    write(path, "b/1", [text, '{"n": 100}'])
    moved = taken(path, url)
    assert outcomes(moved) == {"a": "taken", "b/1": "left"}
    assert [one.path for one in moved["b/1"].left] == ["items[100]"]
    moved = taken(path, url, skips=True)
    assert outcomes(moved) == {"a": "there", "b/1": "taken"}
    assert items(url, "b/1") == [{"n": number} for number in range(101)]


def test_what_the_sdk_itself_writes_is_taken_over(tmp_path: Path, url: str) -> None:
    agents: Any = pytest.importorskip("agents", reason="needs the package openai-agents")
    place = tmp_path / "real.db"

    async def fill() -> None:
        session = agents.SQLiteSession("s", place)
        await session.add_items(ITEMS[1:3])
        await session.add_items(ITEMS[3:])
        session.close()

    asyncio.run(fill())
    assert outcomes(taken(place, url)) == {"s": "taken"}
    assert items(url, "s") == ITEMS[1:]


def test_an_item_that_cannot_be_stored_goes_alone_and_the_same_import_again_changes_nothing(
    path: Path, url: str
) -> None:
    write(path, "deep", ['{"a": 1}', "[" * 700 + "]" * 700, '{"b": 2}'])
    first = taken(path, url, skips=True)["deep"]
    assert (first.outcome.value, len(first.left)) == ("taken", 1)
    assert items(url, "deep") == [{"a": 1}, {"b": 2}]
    assert outcomes(taken(path, url, skips=True))["deep"] == "there"


def test_a_session_that_is_here_and_not_where_it_would_come_from_is_said_to_be_none_there(
    path: Path, url: str
) -> None:
    taken(path, url)
    with closing(sqlite3.connect(path)) as database:
        database.execute("delete from agent_messages where session_id = 'a'")
        database.commit()
    with (
        importing(str(path), Asked()) as make,
        ks.open(url) as to,
    ):
        moved = make(to, to, lambda _: None).move("a")
    assert (moved.outcome.value, moved.why) == ("left", "there are no items of it to take over")


@pytest.mark.parametrize("at", [1e300, 10**18, -5, "inf", "9999-12-31 23:59:59"])
def test_an_item_with_a_time_that_no_calendar_has_is_taken_over(
    tmp_path: Path, url: str, at: object
) -> None:
    place = tmp_path / "sessions.db"
    write(place, "t", ["{}"])
    with closing(sqlite3.connect(place)) as database:
        database.execute("update agent_messages set created_at = ?", (at,))
        database.commit()
    assert outcomes(taken(place, url)) == {"t": "taken"}


@pytest.mark.parametrize(
    ("option", "given"),
    [("--graph", "app:GRAPH"), ("--types", "app:Order"), ("--moved", "old.Order=app:Order"),
     ("--metadata-keys", "user")],
)  # fmt: skip
def test_what_speaks_of_langgraph_threads_alone_is_refused_for_sessions(
    path: Path, tmp_path: Path, option: str, given: str
) -> None:
    said = say("import", path, "--into", tmp_path / "runs.db", option, given, "--json")
    assert (said.code, said.error()["code"]) == (2, "import.no-threads")
    assert option in said.error()["hint"]
