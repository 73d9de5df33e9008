"""Where bytes live: every backend executes the same plans, each in one transaction."""

from __future__ import annotations

from keepset.backends.driver import adrive, drive
from keepset.backends.port import Backend, Setting, Settings, StoredFile

__all__ = ["Backend", "Setting", "Settings", "StoredFile", "adrive", "drive"]
