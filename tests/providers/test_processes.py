"""A process is known to have ended where that is certain, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys

from keepset.providers import has_ended, this_process


def sleeping() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def test_a_process_that_runs_has_not_ended() -> None:
    assert this_process() == this_process()
    assert not has_ended(this_process())
    with sleeping() as child:
        assert not has_ended(this_process()._replace(pid=child.pid, started=""))
        child.kill()


def test_a_process_that_was_killed_has_ended_whether_or_not_its_parent_has_asked() -> None:
    with sleeping() as child:
        other = this_process()._replace(pid=child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        if sys.platform == "linux":
            assert has_ended(other)
    assert has_ended(other)


def test_another_process_that_was_given_the_number_is_not_the_one_that_had_it() -> None:
    me = this_process()
    assert has_ended(me._replace(started="1")) is bool(me.started)


def test_nothing_is_known_of_a_process_elsewhere() -> None:
    """On another machine, in another container, or of one that said nothing of where it runs."""
    gone = this_process()._replace(pid=2**30)
    assert has_ended(gone)
    assert not has_ended(gone._replace(machine="another boot"))
    assert not has_ended(gone._replace(machine=""))
    assert not has_ended(this_process()._replace(pid=2**80, started=""))
