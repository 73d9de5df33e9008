"""Read the settings in force, with what each of them protects."""

from __future__ import annotations

import shutil
import sqlite3

from keepset.backends.port import Setting, Settings, StoredFile
from keepset.backends.sqlite.connecting import Place
from keepset.backends.sqlite.files import file_sizes
from keepset.backends.sqlite.migrations import schema_of

_SYNCHRONOUS = {"full": "2", "normal": "1"}

_PROTECTS = {
    "journal_mode": "readers never wait for writers, and a kill leaves the last checkpoint whole",
    "synchronous": "2 (full): what was saved survives a loss of power; 1 (normal): the last may go",
    "secure_delete": "what is deleted is overwritten in the file",
    "foreign_keys": "no row without the run or line that it belongs to",
    "temp_store": "2: no value of a run lies in a temporary file",
    "mmap_size": "an error of the disk is an error of a call, not the end of the process",
    "trusted_schema": "a file that was tampered with cannot run functions",
    "page_size": "",
    "journal_size_limit": "the log does not stay as large as it once was",
    "wal_autocheckpoint": "the log is moved into the database every so many pages",
}


def read_settings(connection: sqlite3.Connection, place: Place) -> Settings:
    """Read the settings of the connection that writes, and look at the files."""
    wanted = {
        "synchronous": "" if place.readonly else _SYNCHRONOUS[place.durability],
        "journal_mode": "memory" if place.path is None else "wal",
        "secure_delete": "1",
        "foreign_keys": "1",
        "temp_store": "2",
        "mmap_size": "" if place.path is None else "0",
        "trusted_schema": "0",
    }
    settings = []
    for name, protects in _PROTECTS.items():
        rows = connection.execute(f"PRAGMA {name}").fetchall()
        value = str(rows[0][0]) if rows else ""
        settings.append(Setting(name, value, wanted.get(name, ""), protects))
    found = file_sizes(place.path) if place.path else []
    return Settings(
        engine="memory" if place.path is None else "sqlite",
        version=sqlite3.sqlite_version,
        location="" if place.path is None else str(place.path),
        format=schema_of(connection),
        settings=tuple(settings),
        files=tuple(StoredFile(*file) for file in found),
        free_disk=shutil.disk_usage(place.path.parent).free if place.path else None,
    )
