"""The one place where errors of the sqlite3 module become ours."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from keepset.errors import (
    IntegrityError,
    KeepsetError,
    NotFoundError,
    PolicyError,
    StoreError,
    UsageError,
)

DRIVER_ERRORS = (sqlite3.Error, UnicodeEncodeError, OverflowError)
"""What a statement may raise that has to be translated."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    kind: type[KeepsetError]
    code: str
    what: str
    hint: str
    retryable: bool = False


LOCKED = _Meaning(
    StoreError,
    "store.locked",
    "another process holds the store",
    "Try again; if it stays, look for a process that is stopped in the middle of a write.",
    retryable=True,
)
_FAILED = _Meaning(
    StoreError,
    "store.failed",
    "SQLite refused",
    "Run `keepset doctor` on the store.",
)
_CLOSED = _Meaning(
    StoreError,
    "store.closed",
    "the store is closed",
    "Open it again, or use it before its `with` block ends.",
)
_TOO_LARGE = _Meaning(
    PolicyError,
    "store.too-large",
    "a value is larger than SQLite can hold in one row",
    "Keep an id in the state and declare `Refetch` for the content.",
)
_CONSTRAINT = _Meaning(
    IntegrityError,
    "store.constraint",
    "a row contradicts what is stored",
    "Run `keepset verify` on the store.",
)
DAMAGED = _Meaning(
    IntegrityError,
    "store.damaged",
    "the database file is damaged",
    "Nothing was changed. Restore it from a backup, or copy it away before you try to mend it.",
)
READ_ONLY = _Meaning(
    StoreError,
    "store.read-only",
    "the store cannot be written to",
    "Make the file and its folder writable for this user, and check that the disk is not mounted"
    " read-only.",
)
NOT_OURS = _Meaning(
    StoreError,
    "store.not-ours",
    "the file is a SQLite database of another program",
    "Nothing was changed. Give another path: `keepset audit` reads other tools' stores, and "
    "`keepset import` takes LangGraph's over.",
)
NEWER = _Meaning(
    StoreError,
    "store.newer-format",
    "a newer keepset has written the store",
    "Nothing was changed. Upgrade keepset on this machine.",
)
NO_LOG = _Meaning(
    StoreError,
    "store.no-log",
    "the store cannot have a write-ahead log",
    "Use a local disk: the file system has no shared memory or no locks between processes.",
)
NO_INDEX = _Meaning(
    StoreError,
    "store.cannot-open",
    "the store cannot be read here",
    "SQLite reads a store through the index of its log, and that is missing and cannot be made in"
    " this folder. Look while a writer has the store open, let somebody open it who may write in"
    " the folder, or copy all of its files to a folder of your own.",
)
NO_STORE = _Meaning(
    NotFoundError,
    "store.not-found",
    "there is no store",
    "A viewer makes none; look at the path: sqlite:///runs.db is relative.",
)
REPLACED = _Meaning(
    StoreError,
    "store.replaced",
    "the database file or its log was moved, deleted or replaced while the store was open",
    "Nothing more is written, since it would be lost: bring the file back, or open the new one.",
)
BUSY_READERS = _Meaning(
    StoreError,
    "store.busy-readers",
    "the rows are gone, but a reader keeps the log that still holds their bytes",
    "End the process that reads the store, then make the same call again to clean the log.",
    retryable=True,
)
NOT_ERASED = _Meaning(
    StoreError,
    "store.not-erased",
    "the rows are gone, but what SQLite left of them in unused bytes could not be overwritten",
    "See that the file can be read and written, then make the same call again; where it has more"
    " than 128 GB, run VACUUM on it.",
    retryable=True,
)
_TEXT = _Meaning(
    UsageError,
    "store.text",
    "a name or an id is not valid text",
    "Tenants, run ids and names must be encodable as UTF-8 (no lone surrogates).",
)
NOT_A_DATABASE = _Meaning(
    StoreError,
    "store.not-a-database",
    "the file is not a SQLite database",
    "Nothing was changed. Give another path, or move that file away.",
)

NO_MEMORY = _Meaning(
    StoreError,
    "store.no-memory",
    "there was not enough memory",
    "Free memory, then try again.",
    retryable=True,
)

_BY_CODE = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_PROTOCOL: LOCKED,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_AUTH: READ_ONLY,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: NOT_A_DATABASE,
    sqlite3.SQLITE_TOOBIG: _TOO_LARGE,
    sqlite3.SQLITE_CONSTRAINT: _CONSTRAINT,
    sqlite3.SQLITE_MISMATCH: _CONSTRAINT,
    sqlite3.SQLITE_NOMEM: NO_MEMORY,
    sqlite3.SQLITE_IOERR: _Meaning(
        StoreError,
        "store.disk",
        "the disk failed to read or write",
        "Look at the system's log for the disk; nothing that was acknowledged is lost.",
    ),
    sqlite3.SQLITE_FULL: _Meaning(
        StoreError,
        "store.full",
        "the disk is full",
        "Free space or raise the quota, then save again; what was saved before is intact.",
    ),
    sqlite3.SQLITE_CANTOPEN: _Meaning(
        StoreError,
        "store.cannot-open",
        "the database file cannot be opened",
        "Check that the folder exists and that this user may read and write in it.",
    ),
}

_BY_TEXT = (
    ("Could not decode to UTF-8", DAMAGED),
    ("Cannot operate on a closed", _CLOSED),
)
"""What Python's own errors begin with, which have no code."""


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether a statement failed only because another connection holds a lock."""
    return _primary(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def lacks_index(error: sqlite3.Error) -> bool:
    """Tell whether a read failed because the index of the log could not be made."""
    return _primary(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def is_full(error: sqlite3.Error) -> bool:
    """Tell whether there was no space left to write."""
    return _primary(error) == sqlite3.SQLITE_FULL


def _primary(error: sqlite3.Error) -> int:
    """The primary result code: the low byte of the extended one, 0 where there is none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def translate(error: Exception, place: str) -> KeepsetError:
    """Make our error of one of `DRIVER_ERRORS`; ours are given back as they are.

    Args:
        error: What was raised.
        place: The store's location, for the message.
    """
    if isinstance(error, KeepsetError):
        return error
    name = getattr(error, "sqlite_errorname", "unknown")
    name = type(error).__name__ if name == "unknown" else name
    return failure(_meaning(error), place, name)


def failure(meaning: _Meaning, place: str, detail: str) -> KeepsetError:
    """Make an error of the tree."""
    return meaning.kind(
        f"{place}: {meaning.what} ({detail})",
        code=meaning.code,
        hint=meaning.hint,
        retryable=meaning.retryable,
    )


def _meaning(error: Exception) -> _Meaning:
    if isinstance(error, UnicodeEncodeError):
        return _TEXT
    if isinstance(error, OverflowError):
        return _TOO_LARGE
    if isinstance(error, sqlite3.Error) and _primary(error):
        return _BY_CODE.get(_primary(error), _FAILED)
    return next((meaning for start, meaning in _BY_TEXT if str(error).startswith(start)), _FAILED)


def closed(place: str) -> KeepsetError:
    """Make the error of a call on a store that is closed."""
    return failure(_CLOSED, place, "closed")
