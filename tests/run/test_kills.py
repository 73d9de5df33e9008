"""A real process that is killed at any moment of any operation has kept what it was told."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import keepset as ks
from tests.run.machine.killed import found
from tests.run.machine.script import Script

ROOT = Path(__file__).parents[2]
KILLS = 30 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 5
MOST = 120


def until_killed(url: str, durability: str, seed: int, start: int, moment: int) -> int:
    """Let a process follow the script, kill it, and give what it has acknowledged last."""
    command = [sys.executable, "-m", "tests.run.machine.killed", url, durability]
    with subprocess.Popen(
        [*command, str(seed), str(start)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        acknowledged = start
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged >= start + moment:
                break
        process.kill()
        rest = process.stdout.read().split("\n")
        return max([acknowledged, *(int(line) for line in rest[:-1] if line)])


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_what_was_acknowledged_before_kill_9_is_there_and_nothing_is_torn(
    tmp_path: Path, durability: str
) -> None:
    """Saves, forks, pending writes, prunings and deletions; killed in any of them."""
    path = tmp_path / "runs.db"
    url = f"sqlite:///{path}"
    seed = random.SystemRandom().randrange(2**32)
    chance = random.Random(seed)  # noqa: S311 - any moment will do
    script, done = Script(seed), 0
    for _ in range(KILLS):
        done = until_killed(url, durability, seed, done, chance.randint(1, MOST))
        while script.number < done:
            script.apply(script.next())
        with ks.open(url) as store:
            assert store.verify().problems == ()
            held = found(store)
            store.delete("nobody")  # finishes the cleaning that a kill may have interrupted
        if held != script.expected():  # the operation that was under way has landed
            script.apply(script.next())
            done += 1
        assert held == script.expected(), f"seed {seed}, operation {done}"
        data = path.read_bytes()
        assert not [name for name in script.gone if name.encode() in data], f"seed {seed}"
        assert all(name.encode() in data for life in script.lives.values() for name in life.names)
