"""A job measures a real store, and looks at what the store gives back."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from keepset.cli.bench import sizes
from keepset.cli.bench.jobs import percentile, perform
from keepset.cli.bench.pool import Worker
from keepset.cli.bench.workload import MAKERS
from tests.bench.strange import Forgetful, Locked, enter

NEEDED = {
    "saver": "langgraph.checkpoint.sqlite",
    "delta": "langgraph.checkpoint.sqlite",
    "dbos": "dbos",
}


def _live(path: Path, system: str, workload: str = "lean", **more: Any) -> dict[str, Any]:
    return {
        "job": "live",
        "system": system,
        "workload": workload,
        "steps": 5,
        "durability": "full",
        "path": str(path),
        **more,
    }


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("system", ["keepset", "raw"])
@pytest.mark.parametrize("workload", MAKERS)
def test_what_was_saved_comes_back_and_its_bytes_are_those_of_the_file(
    tmp_path: Path, system: str, workload: str
) -> None:
    path = tmp_path / "store.db"
    answer = perform(_live(path, system, workload))
    assert answer["exact"]
    assert answer["disk_bytes"] > 0
    assert answer["empty_bytes"] + answer["disk_bytes"] == path.stat().st_size
    assert answer["empty_bytes"] + answer["disk_bytes"] == sizes.size(path)
    assert 0 < answer["save"] <= answer["save_p99"]
    assert answer["load"] > 0
    assert answer["load_middle"] <= answer["load_earlier"]


@pytest.mark.parametrize("system", ["keepset", "raw"])
def test_what_is_saved_at_normal_comes_back_as_well(tmp_path: Path, system: str) -> None:
    assert perform(_live(tmp_path / "store.db", system, durability="normal"))["exact"]


@pytest.mark.parametrize("system", NEEDED)
def test_a_peer_that_is_installed_gives_back_what_it_saved(tmp_path: Path, system: str) -> None:
    if not _is_installed(NEEDED[system]):
        pytest.skip(f"{NEEDED[system]} is not installed")
    with Worker(str(tmp_path)) as worker:
        for workload in ("lean", "naive", "drafts", "trim"):
            path = tmp_path / f"{workload}.db"
            answer = worker.do(_live(path, system, workload))
            assert answer["exact"], workload
            assert answer["empty_bytes"] + answer["disk_bytes"] == sizes.size(path)


def test_a_system_that_gives_back_another_state_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(monkeypatch, "forgetful", Forgetful)
    assert not perform(_live(tmp_path / "store.db", "forgetful"))["exact"]


@pytest.mark.parametrize("system", ["keepset", "raw"])
def test_every_thread_of_a_crowd_saves_to_the_one_file(tmp_path: Path, system: str) -> None:
    path = tmp_path / "store.db"
    perform({"job": "open", "system": system, "path": str(path)})
    job = {"job": "hammer", "system": system, "path": str(path), "seconds": 0.5, "threads": 3}
    answer = perform({**job, "prefix": "run"})
    assert len(answer["by_thread"]) == 3
    assert sum(answer["by_thread"]) > 0
    assert answer["refused"] == {}
    assert answer["save"] <= answer["save_p99"] <= answer["save_most"]


def test_a_refused_save_is_counted_by_its_reason_and_tells_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(monkeypatch, "locked", Locked)
    path = str(tmp_path / "store.db")
    job = {"job": "hammer", "system": "locked", "path": path, "seconds": 0.2, "threads": 1}
    answer = perform({**job, "prefix": "run"})
    assert answer["refused"]["OperationalError"] >= 1
    assert answer["by_thread"][0] >= 2
    opened = perform({"job": "open", "system": "locked", "path": path})
    assert opened == {"refused": "OperationalError"}
    assert path not in json.dumps([answer, opened])


def test_the_99th_percentile_of_a_hundred_saves_is_the_slowest() -> None:
    assert percentile(list(range(1, 101)), 0.99) == 100
    assert percentile(list(range(1, 1_001)), 0.99) == 991
    assert percentile([7], 0.99) == 7
