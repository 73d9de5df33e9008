"""Who works on a run is told by the commands that look into a store, and by `can_resume`."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import keepset as ks
from keepset.verdict.status import Resume
from tests.cli.terminal import say
from tests.run.leased import process, said
from tests.run.states import Chat


def asked(url: str, *arguments: str) -> Any:
    found = say(*arguments, "--store", url, "--json")
    assert found.code == 0, found.err
    return found.result(arguments[0])


def test_a_run_at_work_names_its_process_until_that_has_ended(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with process(url) as child:
        assert said(child) == "saved"
        held = asked(url, "show", "r")["lease"]
        host = os.uname().nodename
        assert (held["pid"], held["host"], held["over"]) == (child.pid, host, False)
        assert asked(url, "runs")["runs"][0]["lease"] == held
        words = f"process {child.pid} on {host}"
        assert words in say("show", "r", "--store", url).out
        assert words in say("runs", "--store", url).out
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert asked(url, "show", "r")["lease"]["over"] is True
        assert "which has ended" in say("show", "r", "--store", url).out


def test_a_run_that_nobody_works_on_has_no_lease(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with process(url) as child:
        assert said(child) == "saved"
        assert said(child, "pause") == "paused"
        assert asked(url, "show", "r")["lease"] is None
        assert "leased" not in say("show", "r", "--store", url).out
        assert "leased" not in say("runs", "--store", url).out


def test_a_run_at_work_is_to_be_drained_before_it_is_resumed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store, process(url) as child:
        assert said(child) == "saved"
        report = store.can_resume("r", contract=Chat)
        assert (report.verdict, report.reasons[0].code) == (Resume.DRAIN, "run.leased")
        assert f"process {child.pid}" in report.reasons[0].message
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert store.can_resume("r", contract=Chat).verdict is Resume.AS_IS
