"""Real processes, really killed: what was acknowledged is there, and the run goes on."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
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
        assert store.break_lease("r")
        process = start(url, "r", 3)
        process.communicate(timeout=60)
        with pytest.raises(ConflictError):
            run.save("late", {"count": 9, "messages": []})
        assert store.run(Chat, "r").state["count"] == 3


FORKED = """
import os, sys
import keepset as ks
from keepset.errors import ConflictError
from tests.run.states import Chat

store = ks.open(sys.argv[1])
run, own = store.run(Chat, "shared"), store.run(Chat, "parent")
run.save("before", {"count": 0})
child = os.fork()
if child == 0:
    run.save("child", {"count": 1})
    for count in range(20):
        store.run(Chat, "child").save("step", {"count": count})
    os._exit(0)
for count in range(20):
    own.save("step", {"count": count})
status = os.waitpid(child, 0)[1]
try:
    run.save("late", {"count": 2})
except ConflictError as error:
    print(status, error.code)
"""


def test_after_a_fork_one_of_both_goes_on_with_a_run_and_the_other_is_refused(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, url],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ["0", "conflict.head"]
    with ks.open(url) as store:
        assert store.run(Chat, "shared").state == {"count": 1}
        verified = store.verify()
    assert (verified.checkpoints, verified.problems) == (42, ())


def test_a_backup_that_is_taken_while_a_process_saves_is_a_whole_store(tmp_path: Path) -> None:
    """As the docs say: SQLite's own backup, and the key file beside it."""
    path, copy = tmp_path / "runs.db", tmp_path / "copy.db"
    process = start(f"sqlite:///{path}", "r", 10_000)
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(20)][-1]
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    process.kill()
    process.communicate()
    shutil.copy(f"{path}.key", f"{copy}.key")
    copy.chmod(0o600)
    with ks.open(f"sqlite:///{copy}") as store:
        verified = store.verify()
        assert verified.problems == ()
        assert verified.checkpoints >= told
        assert store.run(Chat, "r").state["count"] == verified.checkpoints
