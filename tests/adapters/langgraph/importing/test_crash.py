"""Whatever ends an import, each thread is there whole or not at all, and the next one goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import keepset as ks
from keepset.adapters import landing
from keepset.errors import StoreError
from keepset.langgraph import KeepsetSaver
from tests.adapters.landed import held
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import KINDS, everything, fill, outcomes, taken
from tests.backends.sqlite.disks import small_disk
from tests.cli.terminal import ROOT, say

CLASSES = (stores.Colour, stores.Order, stores.Card)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        fill(saver)
    return place


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def threads_here(url: str) -> list[str]:
    """What somebody sees who asks for all threads."""
    with KeepsetSaver(url, types=CLASSES) as saver:
        return sorted({one.config["configurable"]["thread_id"] for one in saver.list(None)})


def interrupted(path: Path, url: str, reads: int, by: str) -> tuple[int, str]:
    """Import until so many checkpoints were read; give the exit code and stderr."""
    module = "tests.adapters.langgraph.importing.crashing"
    child = subprocess.run(
        [sys.executable, "-m", module, str(reads), by, str(path), url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "half\n" in child.stderr
    return child.returncode, child.stderr


def require_whole(path: Path, url: str) -> None:
    """Look at all threads that are there, then import the others."""
    whole = threads_here(url)
    listed = say("runs", "--store", url, "--json").result("runs")["runs"]
    assert [one["run"] for one in listed] == whole
    with ks.open(url) as store:
        assert [one.run.key.run_id for one in store.runs()] == whole
    with stores.on_sqlite(path) as old, KeepsetSaver(url, types=CLASSES) as ours:
        for thread in whole:
            assert everything(ours, thread) == everything(old, thread)
    again = outcomes(taken(path, url))
    assert again == {one: "there" if one in whole else "taken" for one in KINDS}
    assert threads_here(url) == sorted(KINDS)
    with ks.open(url) as store:
        assert held(store) == sorted(KINDS)
        assert store.verify().problems == ()


@pytest.mark.parametrize("reads", [1, 5, 15, 25, 30])
def test_a_process_that_is_killed_leaves_no_half_thread_and_the_next_goes_on(
    path: Path, url: str, reads: int
) -> None:
    assert interrupted(path, url, reads, "SIGKILL")[0] == -signal.SIGKILL
    require_whole(path, url)


def test_what_a_killed_import_has_left_is_told_by_the_doctor_and_removed_a_day_later(
    path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(path, url, 1, "SIGKILL")
    told = {
        one["name"]: one
        for one in say("doctor", "--store", url, "--json").result("doctor")["lines"]
    }
    assert (told["taken over half"]["state"], told["taken over half"]["value"]) == ("warn", "1 run")
    assert "keepset import --apply" in told["taken over half"]["fix"]
    with ks.open(url) as store:
        (half,) = held(store)
    other = next(thread for thread in KINDS if not half.startswith(landing._begin(thread)))
    another = ("import", path, "--into", url, "--apply", "--runs", other)
    say(*another)
    with ks.open(url) as store:
        assert sorted(held(store)) == sorted((half, other)), "it may still be at work"
    monkeypatch.setattr(landing, "_A_DAY", 0)
    say(*another)
    with ks.open(url) as store:
        assert held(store) == [other]
    assert "taken over half" not in say("doctor", "--store", url).out


def test_an_interrupt_leaves_what_is_there_whole_and_says_how_to_go_on(
    path: Path, url: str
) -> None:
    code, said = interrupted(path, url, 25, "SIGINT")
    assert code == 130
    assert "each whole; the same command goes on" in said
    with ks.open(url) as store:
        assert not any("#" in name for name in held(store))
    require_whole(path, url)


def test_two_imports_at_once_take_every_thread_over_once(path: Path, url: str) -> None:
    ks.open(url).close()
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: outcomes(taken(path, url)), range(2)))
    for thread in KINDS:
        assert {one[thread] for one in both} <= {"taken", "there"}
        assert "taken" in {one[thread] for one in both}
    with ks.open(url) as store:
        assert held(store) == sorted(KINDS)


def test_a_full_disk_ends_an_import_by_name_and_leaves_no_half_thread(
    path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, 2 << 20):
        url = f"sqlite:///{folder}/runs.db"
        ks.open(url).close()
        left = os.statvfs(folder)
        filler = folder / "filler"
        filler.write_bytes(b"\0" * (left.f_bavail * left.f_bsize - (96 << 10)))
        with pytest.raises(StoreError) as refused:
            taken(path, url)
        assert refused.value.code == "store.full"
        filler.unlink()
        whole = threads_here(url)
        with stores.on_sqlite(path) as old, KeepsetSaver(url, types=CLASSES) as ours:
            for thread in whole:
                assert everything(ours, thread) == everything(old, thread)
        assert set(outcomes(taken(path, url)).values()) <= {"taken", "there"}
        assert threads_here(url) == sorted(KINDS)
