"""The hosts whose tables are known, each told by its tables.

Layouts: OpenAI Agents `SQLiteSession` and `SQLAlchemySession` (0.2 to 0.24), Google ADK
`DatabaseSessionService` and `SqliteSessionService` (both schemas of events, 1.x and 2.x), DBOS
system database (1.x to 3.x).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from keepset.readers.databases.port import Database
from keepset.readers.decoding import from_json, from_pickle
from keepset.readers.decoding.guessed import guessed
from keepset.readers.ports import Encoding, Surface, Unreadable
from keepset.readers.records.part import Host, Part, Value

_Tables = Mapping[str, Mapping[str, str]]

_SEALED: Final = "__enc__"  # the mark of the Agents SDK's `EncryptedSession`
_ADK: Final = ("app_name", "user_id", "session_id")
_PICKLE: Final = b"\x80"
_LEFT_TO_DO: Final = frozenset({
    "PENDING", "ENQUEUED", "DELAYED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", "RETRIES_EXCEEDED",
})  # fmt: skip


def host_of(database: Database) -> Host | None:
    """Tell which host wrote a database; None where none that is known did."""
    tables = database.tables
    return _agents(tables) or _adk(tables) or _dbos(tables)


def _agents(tables: _Tables) -> Host | None:
    """Sessions of the OpenAI Agents SDK; an application may choose other names for the tables."""
    messages = _like(tables, "agent_messages", {"id", "session_id", "message_data", "created_at"})
    if messages is None:
        return None
    sessions = _like(tables, "agent_sessions", {"session_id", "created_at", "updated_at"})
    run = ("session_id",)
    value = Value("message_data", "state", read=_message)
    parts = [Part(messages, run, ("id",), (value,), "created_at")]
    if sessions is None:
        return Host("openai-agents", "without a table of sessions", tuple(parts))
    parts.insert(0, Part(sessions, run, run, (), has_runs=True))
    return Host("openai-agents", "", tuple(parts), first="created_at", last="updated_at")


def _like(tables: _Tables, usual: str, columns: set[str]) -> str | None:
    """Find a table by its usual name, else by exactly its columns."""
    if set(tables.get(usual, ())) >= columns:
        return usual
    same = [name for name, found in tables.items() if set(found) == columns]
    return same[0] if len(same) == 1 else None


def _message(data: object) -> tuple[Encoding, object]:
    """Take a message apart; of one that the SDK encrypted there is nothing to see."""
    encoding, value = guessed(data)
    if isinstance(value, dict) and _SEALED in value:
        return "encrypted", None
    return encoding, value


def _adk(tables: _Tables) -> Host | None:
    """Sessions of Google's ADK, with the states of applications and users."""
    sessions, events = set(tables.get("sessions", ())), tables.get("events", {})
    if not sessions >= {"app_name", "user_id", "id", "state"} or not set(events) >= {*_ADK, "id"}:
        return None
    state = Value("state", "state", is_spread=True)
    if "event_data" in events:
        version = "events as JSON"
        values: tuple[Value, ...] = (Value("event_data", "state", is_spread=True),)
    else:
        version = "events in columns, with actions as pickles"
        names = [one for one in events if one not in {*_ADK, "id", "timestamp"}]
        values = tuple(Value(one, _adk_surface(one)) for one in names)
    run = ("app_name", "user_id", "id")
    parts = [
        Part("sessions", run, ("id",), (state,), "update_time", has_runs=True),
        Part("events", _ADK, ("timestamp", "id"), values, "timestamp"),
    ]
    for table, key in (("app_states", _ADK[:1]), ("user_states", _ADK[:2])):
        if "state" in tables.get(table, ()):
            parts.append(Part(table, key, key, (state,), "update_time", has_runs=True))
    return Host("google-adk", version, tuple(parts), first="create_time", last="update_time")


def _adk_surface(column: str) -> Surface:
    return "error" if column.startswith("error") else "state"


def _dbos(tables: _Tables) -> Host | None:
    """Workflows of DBOS with what each step gave; releases differ in where they keep inputs."""
    status = tables.get("workflow_status", {})
    if not {"workflow_uuid", "status"} <= set(status) or "operation_outputs" not in tables:
        return None
    run = ("workflow_uuid",)
    known: list[tuple[str, tuple[str, ...], tuple[str, ...], str, str]] = [
        ("workflow_status", run, run, "", "updated_at"),
        ("operation_outputs", run, ("function_id",), "function_name", "completed_at_epoch_ms"),
        ("workflow_input", run, run, "", ""),
        ("workflow_output", run, run, "", ""),
        ("workflow_events", run, ("key",), "key", ""),
        ("workflow_events_history", run, ("key", "function_id"), "key", ""),
        ("streams", run, ("key", "offset"), "key", ""),
        ("notifications", ("destination_uuid",), ("message_uuid",), "topic", "created_at_epoch_ms"),
    ]
    parts = []
    for table, key, keys, named_by, written in known:
        has = tables.get(table, {})
        if set(has) >= {*key, *keys}:
            values = tuple(_dbos_values(has, named_by))
            at = written if written in has else ""
            parts.append(Part(table, key, keys, values, at, has_runs=table == "workflow_status"))
    return Host(
        "dbos", "", tuple(parts), status="status", unfinished=_LEFT_TO_DO,
        first="created_at", last="updated_at",
    )  # fmt: skip


_DBOS: Final[dict[str, Surface]] = {
    "inputs": "input",
    "output": "state",
    "error": "error",
    "value": "state",
    "message": "input",
    "request": "metadata",
    "authenticated_user": "metadata",
    "authenticated_roles": "metadata",
    "attributes": "metadata",
}


def _dbos_values(has: Mapping[str, str], named_by: str) -> list[Value]:
    by = named_by if named_by in has else ""
    return [
        Value(column, surface, "" if surface in {"error", "metadata"} else by, read=_serialised)
        for column, surface in _DBOS.items()
        if column in has
    ]


def _serialised(data: object) -> tuple[Encoding, object]:
    """Take a value of DBOS apart: a pickle in base64, or JSON."""
    if not isinstance(data, str):
        return guessed(data)
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if raw.startswith(_PICKLE):
        return "pickle", from_pickle(raw)
    value = from_json(data)
    return ("text", data) if isinstance(value, Unreadable) else ("json", value)
