"""Both ways in which SQLite is used keep the contract of backends."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from keepset.backends.sqlite import SQLiteBackend, open_memory, open_sqlite
from keepset.errors import UsageError
from keepset.testing import BackendContract


class TestSQLite(BackendContract):
    def open(self, folder: Path) -> SQLiteBackend:
        return open_sqlite(folder / "runs.db", durability="normal")


class TestMemory(BackendContract):
    lasting: ClassVar[bool] = False

    def open(self, folder: Path) -> SQLiteBackend:
        assert folder.is_dir()
        return open_memory()


def test_a_backend_cannot_change_what_the_contract_asks_of_it() -> None:
    def nothing(_: object, tmp_path: Path) -> None:
        assert tmp_path

    name = next(name for name in dir(BackendContract) if name.startswith("test_"))
    with pytest.raises(UsageError) as caught:
        type("TestLenient", (BackendContract,), {name: nothing})
    assert caught.value.code == "contract.overridden"
    assert type("TestMore", (BackendContract,), {"test_one_more": nothing})
