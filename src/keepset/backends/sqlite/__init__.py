"""Stores in SQLite: one file on one machine, or a private one in memory."""

from __future__ import annotations

from keepset.backends.sqlite.backend import SQLiteBackend, open_memory, open_sqlite
from keepset.backends.sqlite.connecting import Durability
from keepset.backends.sqlite.files import is_to_be_made, locate

__all__ = ["Durability", "SQLiteBackend", "is_to_be_made", "locate", "open_memory", "open_sqlite"]
