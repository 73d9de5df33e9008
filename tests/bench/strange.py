"""Systems that do what a good one must not do."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from keepset.cli.bench.system import SYSTEMS, Begin, Entry, Loaded, Save
from keepset.cli.bench.systems import raw
from keepset.cli.bench.workload import Change, History, State


class Forgetful(raw.Measured):
    """Gives back the newest state without its last message."""

    def load(self, path: Path, history: History, mark: Any | None) -> Loaded:
        loaded = super().load(path, history, mark)
        loaded.state["messages"].pop()
        return loaded


class Locked(raw.Measured):
    """Refuses every third save and every opening."""

    def create(self, path: Path) -> None:
        raise sqlite3.OperationalError(f"database is locked: {path}")

    @contextmanager
    def open(self, path: Path) -> Iterator[Begin]:
        super().create(path)
        with super().open(path) as begin:

            def strange(run_id: str) -> Save:
                save = begin(run_id)
                count = 0

                def refusing(state: State, change: Change) -> None:
                    nonlocal count
                    count += 1
                    if count == 3:
                        raise sqlite3.OperationalError(f"database is locked: {path}")
                    save(state, change)

                return refusing

            yield strange


def enter(patch: pytest.MonkeyPatch, name: str, measured: type) -> None:
    """Make a system known in this process under a name."""
    module = ModuleType(name)
    vars(module)["Measured"] = measured
    patch.setitem(sys.modules, f"keepset.cli.bench.systems.{name}", module)
    patch.setitem(SYSTEMS, name, Entry(name, name))
