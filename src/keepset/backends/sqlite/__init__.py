"""Stores in SQLite: one file on one machine, or a private one in memory."""

from __future__ import annotations

from keepset.backends.sqlite.backend import SQLiteBackend, open_memory, open_sqlite
from keepset.backends.sqlite.connecting import Durability

__all__ = ["Durability", "SQLiteBackend", "open_memory", "open_sqlite"]
