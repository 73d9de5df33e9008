"""Sessions of the OpenAI Agents SDK, written by itself."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keepset.readers import recognise

agents: Any = pytest.importorskip("agents", reason="needs the package openai-agents")

ITEMS = [
    {"role": "user", "content": "my key is sk-123"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "hello"}]},
]


def write(path: Path, **names: str) -> None:
    async def fill() -> None:
        for name in ("a/b", "c"):
            session = agents.SQLiteSession(name, path, **names)
            await session.add_items(ITEMS)
            session.close()

    asyncio.run(fill())


@pytest.mark.parametrize("names", [{}, {"sessions_table": "mine", "messages_table": "my_items"}])
def test_sessions_are_given_message_by_message_whatever_their_tables_are_called(
    tmp_path: Path, names: dict[str, str]
) -> None:
    path = tmp_path / "sessions.db"
    write(path, **names)
    with recognise(str(path)).open(str(path)) as reader:
        facts = list(reader.runs())
        items = list(reader.items("a/b"))
        overview = reader.overview()
        assert set(reader.orphans().values()) == {0}
    assert overview.kind == "openai-agents-sqlite"
    assert [one.run for one in facts] == ["a/b", "c"]
    assert all(one.checkpoints == 2 and one.size > 100 for one in facts)
    assert facts[0].last is not None
    assert abs(time.time() - facts[0].last) < 600
    assert [one.value for one in items] == ITEMS
    assert {(one.field, one.surface, one.encoding) for one in items} == {
        ("message_data", "state", "json")
    }


def test_messages_whose_session_is_gone_are_counted_and_still_given(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    write(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from agent_sessions where session_id = 'c'")
        connection.commit()
    with recognise(str(path)).open(str(path)) as reader:
        assert reader.orphans() == {"agent_messages": 2}
        assert [one.run for one in reader.runs()] == ["a/b", "c"]
        assert [one.value for one in reader.items("c")] == ITEMS


def test_sessions_in_the_tables_of_sqlalchemy_and_encrypted_ones_are_told(tmp_path: Path) -> None:
    memory: Any = pytest.importorskip(
        "agents.extensions.memory.sqlalchemy_session", reason="needs the SDK's extra sqlalchemy"
    )
    sealing: Any = pytest.importorskip(
        "agents.extensions.memory.encrypt_session", reason="needs the SDK's extra encrypt"
    )
    pytest.importorskip("aiosqlite")
    path = tmp_path / "sessions.db"

    async def fill() -> None:
        url = f"sqlite+aiosqlite:///{path}"
        plain = memory.SQLAlchemySession.from_url("plain", url=url, create_tables=True)
        await plain.add_items(ITEMS)
        under = memory.SQLAlchemySession.from_url("sealed", url=url, create_tables=True)
        sealed = sealing.EncryptedSession(
            session_id="sealed", underlying_session=under, encryption_key="a key of somebody"
        )
        await sealed.add_items(ITEMS)
        for one in (plain, under):
            await one.engine.dispose()

    asyncio.run(fill())
    with recognise(str(path)).open(str(path)) as reader:
        assert [one.value for one in reader.items("plain")] == ITEMS
        assert [(one.encoding, one.value) for one in reader.items("sealed")] == [
            ("encrypted", None)
        ] * 2
