"""Live handles are told from data by their types, without importing any driver."""

from __future__ import annotations

import asyncio
import functools
import io
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import types
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from keepset.scan import Scanner


def kinds(scanner: Scanner, value: object) -> list[tuple[str, str]]:
    found = scanner.leaves(value, ("f",), name="f", parts=lambda _: None)
    return [(finding.kind, finding.detail) for finding in found]


def _numbers() -> Iterator[int]:
    yield 1


async def _later() -> int:
    return 1


def test_what_is_open_running_or_code_is_a_handle(scanner: Scanner, tmp_path: Path) -> None:
    with ExitStack() as stack:
        connection = sqlite3.connect(":memory:")
        stack.callback(connection.close)
        loop = asyncio.new_event_loop()
        stack.callback(loop.close)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        coroutine = _later()
        stack.callback(coroutine.close)
        live = [
            connection,
            connection.cursor(),
            stack.enter_context(socket.socket()),
            loop,
            pool,
            stack.enter_context((tmp_path / "f").open("w")),
            io.BytesIO(),
            threading.Lock(),
            threading.RLock(),
            threading.Event(),
            threading.Thread(),
            threading.local(),
            coroutine,
            _numbers(),
            functools.partial(print),
            print,
            _numbers,
            lambda: 1,
            sys,
            loop.create_future(),
            asyncio.Lock(),
            asyncio.Queue(),
            "".join,
            memoryview(b""),
            map(str, []),
            stack.enter_context(subprocess.Popen([sys.executable, "-c", ""])),
        ]
        for value in live:
            assert [kind for kind, _ in kinds(scanner, [value])] == ["handle"], value


def test_a_handle_is_named_by_its_type(scanner: Scanner) -> None:
    connection = sqlite3.connect(":memory:")
    with connection:
        assert kinds(scanner, {"db": connection}) == [("handle", "sqlite3.Connection")]
    connection.close()


CLIENTS = [
    "openai._client.OpenAI",
    "anthropic._client.AsyncAnthropic",
    "httpx._client.AsyncClient",
    "requests.sessions.Session",
    "aiohttp.client.ClientSession",
    "psycopg.Connection",
    "psycopg.AsyncCursor",
    "psycopg_pool.pool.ConnectionPool",
    "asyncpg.pool.Pool",
    "redis.client.Redis",
    "pymongo.mongo_client.MongoClient",
    "sqlalchemy.engine.base.Engine",
    "google.genai.client.Client",
    "qdrant_client.qdrant_client.QdrantClient",
    "boto3.session.Session",
    "langchain_core.vectorstores.base.VectorStore",
    "neo4j._sync.driver.Driver",
    "grpc.Channel",
]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_of_a_well_known_library_and_what_is_derived_from_it_is_a_handle(
    scanner: Scanner, name: str
) -> None:
    module, _, qualname = name.rpartition(".")
    client = types.new_class(qualname, exec_body=lambda names: names.update(__module__=module))
    own = types.new_class("Own", (client,), exec_body=lambda names: names.update(__module__="app"))
    assert kinds(scanner, client()) == [("handle", name)]
    assert kinds(scanner, own()) == [("handle", "app.Own")]


def test_anything_that_behaves_like_a_database_connection_is_a_handle(scanner: Scanner) -> None:
    class Connection:
        def cursor(self) -> None: ...
        def commit(self) -> None: ...
        def rollback(self) -> None: ...
        def close(self) -> None: ...

    (finding,) = scanner.leaves(Connection(), ("db",), name="db", parts=lambda _: None)
    assert finding.kind == "handle"
    assert "Reopen" in finding.advice


@dataclass
class Session:
    user: str
    open: bool = True

    def close(self) -> None:
        self.open = False


def test_data_is_no_handle(scanner: Scanner) -> None:
    data: list[object] = [
        1,
        1.5,
        1j,
        None,
        True,
        "x" * 40,
        b"y",
        [1],
        (1,),
        {1},
        frozenset({1}),
        {"a": 1},
        range(3),
        datetime.now(UTC),
        Decimal(1),
        Fraction(1, 2),
        uuid.uuid4(),
        re.compile("a"),
        deque([1]),
        OrderedDict(a=1),
        Counter("ab"),
        defaultdict(list),
        Path("a"),
        Session("ann"),
        ValueError("x"),
        types.SimpleNamespace(a=1),
        bytearray(b"z"),
    ]
    assert not kinds(scanner, data)
