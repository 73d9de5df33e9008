"""What was killed goes on at once in another process, and what lives is left alone."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import keepset as ks
from keepset.errors import ConflictError
from tests.run.leased import (
    PATIENCE,
    lease,
    process,
    refusal,
    said,
    until,
)
from tests.run.states import Chat


def ahead(store: ks.Store, seconds: int) -> None:
    """Set the clock by which a store judges the leases of others."""
    store.services.leases._now = lambda: store.services.now() + seconds * 1000


def test_what_was_killed_goes_on_at_once_and_what_lives_does_not(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store, process(url) as child:
        assert said(child) == "saved"
        run = store.run(Chat, "r")
        assert run.state == {"count": 1}
        error = refusal(lambda: run.save("mine", {"count": 2}))
        assert error.code == "run.leased"
        assert f"process {child.pid} on {os.uname().nodename}" in error.message
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert lease(store) is not None
        run.save("mine", {"count": 2})
        assert store.run(Chat, "r").state == {"count": 2}


def test_a_process_that_was_killed_and_not_yet_asked_for_counts_as_killed(tmp_path: Path) -> None:
    """As a child whose parent does not wait for it."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store, process(url) as child:
        assert said(child) == "saved"
        child.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        store.run(Chat, "r").save("mine", {"count": 2})


def test_a_run_that_is_paused_goes_on_elsewhere_while_its_process_lives(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store, process(url) as child:
        assert said(child) == "saved"
        assert said(child, "pause") == "paused"
        store.run(Chat, "r").save("mine", {"count": 2}, status="paused")
        assert said(child, "more") == "conflict.token"


def test_a_process_that_ends_without_a_word_gives_its_leases_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store, process(url) as child:
        assert said(child) == "saved"
        assert lease(store) is not None
        child.communicate("end\n", timeout=PATIENCE)
        assert lease(store) is None


def test_a_process_that_was_stopped_for_too_long_stores_nothing_more(tmp_path: Path) -> None:
    """Here the clock of the one that takes over is ahead, instead of a wait."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store, process(url) as child:
        assert said(child) == "saved"
        child.send_signal(signal.SIGSTOP)
        run = store.run(Chat, "r")
        assert refusal(lambda: run.save("early", {"count": 7})).code == "run.leased"
        ahead(store, 31)
        run.save("mine", {"count": 7})
        child.send_signal(signal.SIGCONT)
        assert said(child, "more") == "conflict.token"
        assert store.run(Chat, "r").state == {"count": 7}


def test_a_lease_of_a_lost_machine_ends_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        del run
        until(lambda: lease(store) is None)
        now = store.services.now()
        with sqlite3.connect(path) as other:
            held = ("pod-7\nanother boot\n1\n1\nstore", 1, now + 30_000)
            other.execute("UPDATE run SET lease_by = ?, lease_number = ?, lease_until = ?", held)
        other.close()
        late = store.run(Chat, "r")
        error = refusal(lambda: late.save("two", {"count": 2}))
        assert error.code == "run.leased"
        assert "process 1 on pod-7" in error.message
        ahead(store, 31)
        late.save("two", {"count": 2})


def test_a_run_that_was_shared_by_a_fork_is_not_taken_from_the_parent(tmp_path: Path) -> None:
    """The child is another process: it may go on with the run once its parent has ended."""
    with ks.open(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store.run(Chat, "r").save("two", {"count": 2})
            except ConflictError as error:
                code = 0 if error.code == "run.leased" else 2
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        run.save("two", {"count": 2})
