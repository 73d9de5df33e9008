"""Real processes, really killed: what was acknowledged is there, and the run goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import keepset as ks
from keepset.errors import ConflictError
from tests.run.states import Chat

WRITER = """
import sys
import keepset as ks
from tests.run.states import Chat

store = ks.open(sys.argv[1], timeout=60)
run = store.run(Chat, sys.argv[2])
state = run.state or {"messages": [], "count": 0}
limit = int(sys.argv[3])
while state["count"] < limit:
    state["count"] += 1
    state["messages"].append({"n": state["count"], "text": "word " * 40})
    run.save(f"step {state['count']}", state)
    print(state["count"], flush=True)
"""


def start(url: str, run_id: str, limit: int) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, run_id, str(limit)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("seed", range(4))
def test_after_kill_9_every_acknowledged_step_is_there_and_the_run_resumes(
    tmp_path: Path, seed: int
) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    chance = random.Random(seed)  # noqa: S311 - when to kill
    acknowledged = 0
    for _ in range(3):
        process = start(url, "r", 10_000)
        assert process.stdout is not None
        enough = acknowledged + chance.randint(1, 90)
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged >= enough:
                break
        process.send_signal(signal.SIGKILL)
        acknowledged = max([acknowledged, *(int(line) for line in process.stdout)])
        process.wait()
        process.stdout.close()
        with ks.open(url) as store:
            verified = store.verify()
            assert verified.problems == ()
            state = store.run(Chat, "r").state
            assert state["count"] in (acknowledged, acknowledged + 1)
            assert [m["n"] for m in state["messages"]] == list(range(1, state["count"] + 1))
            assert verified.checkpoints == state["count"]
            acknowledged = state["count"]


def test_two_processes_on_one_file_lose_no_step_and_see_no_lock_error(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    processes = [start(url, f"run {n}", 150) for n in range(2)]
    for process in processes:
        output, _ = process.communicate(timeout=90)
        assert process.returncode == 0
        assert output.split()[-1] == "150"
    with ks.open(url) as store:
        assert store.verify().checkpoints == 300
        assert store.verify().problems == ()


def test_a_run_that_another_process_has_taken_over_refuses_its_old_writer(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.save("zero", {"count": 0, "messages": []})
        process = start(url, "r", 3)
        process.communicate(timeout=60)
        with pytest.raises(ConflictError):
            run.save("late", {"count": 9, "messages": []})
        assert store.run(Chat, "r").state["count"] == 3
