"""What a loss of power leaves: the files as they were last synced, and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import keepset as ks
from tests.run.machine.powered import state_of
from tests.run.states import Chat

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("cc")
CUTS = 30 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 4
AFTER = {"full": 40, "normal": 150}  # saves; at normal the log has to be full once
Acknowledged = dict[str, int]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or COMPILER is None,
    reason="what is synced is watched through LD_PRELOAD, which needs Linux and a compiler",
)


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("disk") / "disk.so"
    source = Path(__file__).parent / "machine" / "disk.c"
    assert COMPILER is not None
    command = [
        COMPILER,
        "-shared",
        "-fPIC",
        "-Wall",
        "-Werror",
        "-o",
        str(made),
        str(source),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return made


@contextmanager
def saving(
    disk: Path, folder: Path, durability: str, way: str
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Start a process that saves; at the end of the block it is gone."""
    durable = folder / "durable"
    durable.mkdir()
    command = [sys.executable, "-m", "tests.run.machine.powered"]
    with subprocess.Popen(
        [*command, f"sqlite:///{folder / 'runs.db'}", durability, way],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            "LD_PRELOAD": str(disk),
            "DURABLE": str(durable),
        },
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as process:
        try:
            yield process, durable
        finally:
            process.kill()


def cut(process: subprocess.Popen[bytes], durable: Path, to: Path, after: int) -> Acknowledged:
    """Stop the process after some saves, and copy what is durable; give what it acknowledged."""
    assert process.stdout is not None
    said = b""
    while said.count(b"\n") < after:
        more = process.stdout.read(512)
        assert more, "the process has ended"
        said += more
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    os.set_blocking(process.stdout.fileno(), False)
    said += process.stdout.read() or b""
    os.set_blocking(process.stdout.fileno(), True)
    to.mkdir()
    for file in durable.iterdir():
        if file.suffix != ".draft":
            shutil.copy(file, to / file.name)
    process.send_signal(signal.SIGCONT)
    whole = said[: said.rindex(b"\n")].decode().split("\n")
    told = [line.rsplit(" ", 1) for line in whole if line.count(" ") == 2]
    return {name: int(number) for name, number in told}


def stored(folder: Path) -> Acknowledged:
    """Open what is durable; give the newest checkpoint of each run, and check all of them."""
    if not (folder / "runs.db").exists():
        return {}
    with ks.open(f"sqlite:///{folder / 'runs.db'}") as store:
        assert store.verify().problems == ()
        newest = {}
        for row in store.runs():
            state = store.run(Chat, row.run.key.run_id).state
            assert state == state_of(state["count"])
            assert row.checkpoints == state["count"]
            newest[row.run.key.run_id] = state["count"]
        return newest


@pytest.mark.parametrize("way", ["alone", "threads", "tasks"])
def test_a_save_returns_only_when_a_loss_of_power_cannot_take_it(
    tmp_path: Path, disk: Path, way: str
) -> None:
    with saving(disk, tmp_path, "full", way) as (process, durable):
        for number in range(CUTS):
            folder = tmp_path / f"cut {number}"
            acknowledged = cut(process, durable, folder, AFTER["full"])
            left = stored(folder)
            assert acknowledged
            assert {
                n: left.get(n, 0) for n in acknowledged if left.get(n, 0) < acknowledged[n]
            } == {}


@pytest.mark.parametrize("way", ["alone", "threads"])
def test_at_normal_a_loss_of_power_takes_the_newest_saves_alone_and_each_of_them_whole(
    tmp_path: Path, disk: Path, way: str
) -> None:
    lost = 0
    before: Acknowledged = {}
    with saving(disk, tmp_path, "normal", way) as (process, durable):
        for number in range(CUTS):
            folder = tmp_path / f"cut {number}"
            acknowledged = cut(process, durable, folder, AFTER["normal"])
            left = stored(folder)
            assert all(left[name] >= count for name, count in before.items())
            lost += sum(max(0, count - left.get(n, 0)) for n, count in acknowledged.items())
            before = left
    assert before  # the log was moved into the database meanwhile
    assert lost  # what is tested at full does happen
