"""Sessions of Google's ADK, written by itself."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keepset.readers import recognise
from keepset.readers.ports import Foreign


def write(path: Path) -> None:
    sessions: Any = pytest.importorskip(
        "google.adk.sessions.database_session_service", reason="needs the package google-adk"
    )
    events: Any = pytest.importorskip("google.adk.events")
    genai: Any = pytest.importorskip("google.genai.types")

    async def fill() -> None:
        service = sessions.DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{path}")
        for user in ("ada", "b/c"):
            state = {"api_key": "sk-123", "app:theme": "dark", "user:name": user}
            session = await service.create_session(app_name="shop", user_id=user, state=state)
            for number in range(3):
                actions = events.EventActions(state_delta={"n": number})
                content = genai.Content(role="user", parts=[genai.Part(text=f"hi {number}")])
                event = events.Event(author="user", content=content, actions=actions)
                await service.append_event(session, event)
        await service.db_engine.dispose()

    asyncio.run(fill())


@pytest.mark.filterwarnings("default")  # of packages that ADK loads
def test_sessions_events_and_states_are_given_by_their_entries(tmp_path: Path) -> None:
    path = tmp_path / "adk.db"
    write(path)
    with recognise(str(path)).open(str(path)) as reader:
        facts = {one.run: one for one in reader.runs()}
        items: dict[str, list[Any]] = {run: list(reader.items(run)) for run in facts}
        assert reader.overview().kind == "google-adk-sqlite"
        assert reader.overview().version == "events as JSON"
        assert set(reader.orphans().values()) == {0}
    assert {"shop", "shop/ada", "shop/b%2Fc"} < set(facts)
    (session,) = [run for run in facts if run.startswith("shop/b%2Fc/")]
    assert facts[session].checkpoints == 3
    assert abs(time.time() - (facts[session].last or 0)) < 600
    assert ("api_key", "sk-123") in [(one.field, one.value) for one in items[session]]
    told = [one.value["parts"][0]["text"] for one in items[session] if one.field == "content"]
    assert told == ["hi 0", "hi 1", "hi 2"]
    assert [(one.field, one.value) for one in items["shop"]] == [("theme", "dark")]
    assert [(one.field, one.value) for one in items["shop/b%2Fc"]] == [("name", "b/c")]


def test_events_in_columns_with_pickled_actions_are_read(tmp_path: Path) -> None:
    """The layout of the releases before 1.20, whose tables later ones do not write any more."""
    path = tmp_path / "adk.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            create table sessions (app_name text, user_id text, id text, state text,
                create_time text, update_time text, primary key (app_name, user_id, id));
            create table events (id text, app_name text, user_id text, session_id text,
                invocation_id text, author text, actions blob, timestamp text, content text,
                error_code text, error_message text,
                primary key (id, app_name, user_id, session_id));
            insert into sessions values ('a', 'u', 's', '{"k": 1}', '2025-01-02 03:04:05.000006',
                '2025-01-02 03:04:05.000006');
            """
        )
        connection.execute(
            "insert into events values ('e', 'a', 'u', 's', 'i', 'user', ?,"
            " '2025-01-02 03:04:05.000006', '{\"parts\": []}', null, 'boom')",
            (pickle.dumps(Path("x")),),
        )
        connection.commit()
    with recognise(str(path)).open(str(path)) as reader:
        items = {one.field: one for one in reader.items("a/u/s")}
        assert reader.overview().version == "events in columns, with actions as pickles"
    assert items["k"].value == 1
    assert isinstance(items["actions"].value, Foreign)
    assert items["actions"].value.type.startswith("pathlib")
    assert items["content"].value == {"parts": []}
    assert (items["error_message"].surface, items["error_message"].value) == ("error", "boom")
    assert items["k"].written == pytest.approx(1735787045.000006)
