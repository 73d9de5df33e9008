"""In, some steps, out, keepset gone: a thread that went that way is one that never left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langgraph.checkpoint.sqlite import SqliteSaver

from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.exporting import legs
from tests.adapters.langgraph.exporting.stories import last_leg, process, require_same
from tests.cli.terminal import say

legs.growing()


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


def _travel(old: Any, url: str, *, is_bound: bool) -> None:
    legs.walk(old, (0,))
    with KeepsetSaver(url, fallback=old) as saver:
        legs.walk(saver, (1,), saver.bind if is_bound else None)


@pytest.mark.parametrize("is_bound", [True, False], ids=["bound", "by itself"])
def test_a_thread_that_came_from_sqlite_and_went_back_is_one_that_never_left(
    tmp_path: Path, url: str, *, is_bound: bool
) -> None:
    stayed = str(tmp_path / "stayed.sqlite")
    with SqliteSaver.from_conn_string(stayed) as saver:
        legs.walk(saver, (0, 1))
    with SqliteSaver.from_conn_string(str(tmp_path / "old.sqlite")) as old:
        _travel(old, url, is_bound=is_bound)
    said = say("export", url, "--to", f"sqlite:///{tmp_path}/new.sqlite", "--apply", "--json")
    assert said.code == 0, said.out
    assert said.result("export")["runs"]["taken"] == len(legs.WAYS)
    require_same(last_leg(str(tmp_path / "new.sqlite")), last_leg(stayed))


def test_a_thread_that_was_imported_and_exported_is_one_that_never_left(
    tmp_path: Path, url: str
) -> None:
    stayed, old = str(tmp_path / "stayed.sqlite"), str(tmp_path / "old.sqlite")
    with SqliteSaver.from_conn_string(stayed) as saver:
        legs.walk(saver, (0, 1))
    with SqliteSaver.from_conn_string(old) as saver:
        legs.walk(saver, (0,))
    assert say("import", old, "--into", url, "--apply").code == 0
    with KeepsetSaver(url) as ours:
        legs.walk(ours, (1,), ours.bind)
    assert say("export", url, "--to", f"sqlite:///{tmp_path}/new.sqlite", "--apply").code == 0
    require_same(last_leg(str(tmp_path / "new.sqlite")), last_leg(stayed))


def test_a_store_that_was_imported_and_exported_at_once_is_there_already(
    tmp_path: Path, url: str
) -> None:
    old = str(tmp_path / "old.sqlite")
    with SqliteSaver.from_conn_string(old) as saver:
        legs.walk(saver, (0, 1))
    assert say("import", old, "--into", url, "--apply").code == 0
    said = say("export", url, "--to", f"sqlite:///{old}", "--json")
    assert said.result("export")["runs"]["there"] == len(legs.WAYS), said.out


def test_a_thread_that_began_here_goes_on_there(tmp_path: Path, url: str) -> None:
    stayed = str(tmp_path / "stayed.sqlite")
    with SqliteSaver.from_conn_string(stayed) as saver:
        legs.walk(saver, (0, 1))
    with KeepsetSaver(url) as ours:
        legs.walk(ours, (0, 1), ours.bind)
    assert say("export", url, "--to", f"sqlite:///{tmp_path}/new.sqlite", "--apply").code == 0
    require_same(last_leg(str(tmp_path / "new.sqlite")), last_leg(stayed))


def test_where_keepset_is_said_to_be_gone_it_cannot_be_imported() -> None:
    done = process("control")
    assert done.returncode != 0
    assert "ModuleNotFoundError: keepset" in done.stderr
