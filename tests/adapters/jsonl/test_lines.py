"""Any run as lines of JSON, one for each checkpoint."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.adapters.jsonl.writing import writing
from keepset.adapters.openai_agents.session import SessionRun
from keepset.backends.driver import drive
from keepset.errors import UsageError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.exporting.legs import config
from tests.adapters.langgraph.saver.graphs import outer
from tests.cli.terminal import say
from tests.run.states import Chat, Item


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with a run of ours, with a fork, and a LangGraph thread that waits."""
    tmp_path.chmod(0o700)
    made = f"sqlite:///{tmp_path}/runs.db"
    with ks.open(made) as store:
        run = store.run(Chat, "note")
        first = run.save("ask", {"question": "why?", "items": [Item("a", ["b"])]})
        run.save("answer", {"question": "why?", "anything": (1, b"\0")})
        store.run(Chat, "note").fork(first).save("other", {"question": "else?"})
    with KeepsetSaver(made) as saver:
        outer(saver).invoke({"log": ["in"]}, config("t"))
    return made


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def test_every_checkpoint_of_any_run_is_a_line_with_what_it_holds(url: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.jsonl"
    assert say("export", url, "--to", target).code == 0
    assert not target.exists()
    assert "compared" not in say("export", url, "--to", target).out
    said = say("export", url, "--to", target, "--apply", "--json")
    assert (said.code, said.result("export")["runs"]["taken"]) == (0, 2), said.out
    lines = _lines(target)
    note = [line for line in lines if line["run_id"] == "note"]
    assert [line["index"] for line in note] == [0, 1, 2]
    assert {line["name"] for line in note} == {"ask", "answer", "other"}
    ids = {line["name"]: line["checkpoint"] for line in note}
    parents = {line["name"]: line["parent"] for line in note}
    assert parents == {"ask": "", "answer": ids["ask"], "other": ids["ask"]}
    values = {line["name"]: line["state"] for line in note}
    item = {"$type": "object", "value": ["Chat/Item", {"name": "a", "tags": ["b"]}]}
    assert values["ask"]["items"] == [item]
    assert values["answer"]["anything"]["$type"] == "tuple"
    thread = [line for line in lines if line["run_id"] == "t"]
    asked = [write for line in thread for write in line["writes"]]
    assert "__interrupt__" in {write["channel"] for write in asked}


def test_a_run_is_in_the_file_once_however_it_is_called_and_often_it_is_named(
    url: str, tmp_path: Path
) -> None:
    with ks.open(url) as store:
        store.run(Chat, "langgraph#mine").save("ask", {"question": "why?"})
    assert say("export", url, "--to", tmp_path / "all.jsonl", "--apply").code == 0
    assert {line["run_id"] for line in _lines(tmp_path / "all.jsonl")} == {
        "langgraph#mine",
        "note",
        "t",
    }
    named = ("--runs", "note", "--runs", "note")
    said = say("export", url, "--to", tmp_path / "one.jsonl", *named, "--apply", "--json")
    assert said.result("export")["runs"]["taken"] == 1
    assert len(_lines(tmp_path / "one.jsonl")) == 3


@pytest.mark.parametrize(("at", "told"), [(2**62, "9999-12-31T23:59"), (-1, "1970-01-01T00:00")])
def test_a_time_that_no_calendar_has_does_not_stop_an_export(
    url: str, tmp_path: Path, at: int, told: str
) -> None:
    with ks.open(url) as store:
        drive(SessionRun(store.services, "odd").adding([], "c1", "", at), store.services.backend)
    said = say("export", url, "--to", tmp_path / "a.jsonl", "--runs", "odd", "--apply")
    assert said.code == 0, said.err
    assert _lines(tmp_path / "a.jsonl")[0]["time"].startswith(told)


def test_a_file_that_is_there_is_replaced_only_when_that_is_said(url: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.jsonl"
    target.write_text("mine")
    refused = say("export", url, "--to", target, "--apply", "--json")
    assert (refused.code, refused.error()["code"]) == (2, "file.there")
    assert target.read_text() == "mine"
    assert say("export", url, "--to", target, "--apply", "--replace").code == 0
    assert len(_lines(target)) > 3
    assert [path.name for path in tmp_path.iterdir() if ".part" in path.name] == []


def test_a_file_that_comes_there_meanwhile_is_not_replaced(url: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.jsonl"

    def export(store: ks.Store) -> None:
        with writing(store, str(target), is_applied=True, replaces=False) as lines:
            lines.run("note")
            target.write_text("another export's")

    with ks.open(url) as store, pytest.raises(UsageError) as refused:
        export(store)
    assert refused.value.code == "file.there"
    assert target.read_text() == "another export's"
    assert [path.name for path in tmp_path.iterdir() if ".part" in path.name] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_export_that_is_told_to_end_leaves_nothing_half_done(
    url: str, tmp_path: Path, number: signal.Signals
) -> None:
    with ks.open(url) as store:
        for name in range(150):
            run = store.run(Chat, f"run-{name}")
            for step in range(5):
                run.save("step", {"count": step})
        checkpoints = store.stats().checkpoints
    target = tmp_path / "runs.jsonl"
    words = [sys.executable, "-m", "keepset.cli", "export", url, "--to", str(target), "--apply"]
    export = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while export.poll() is None and not list(tmp_path.glob(".*.part")):
        pass
    export.send_signal(number)
    code = export.wait(60)
    assert code in {-number, 130, 0}
    assert target.exists() or code, "it was told before its end, or the file is there"
    assert not target.exists() or len(_lines(target)) == checkpoints
    assert list(tmp_path.glob(".*.part")) == []


def test_what_a_killed_export_has_left_is_removed_by_the_next(url: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.jsonl"
    (tmp_path / ".runs.jsonl.0123456789abcdef.part").write_text("half")
    assert say("export", url, "--to", target, "--apply").code == 0
    assert len(_lines(target)) > 3
    assert list(tmp_path.glob(".*.part")) == []


@pytest.mark.usefixtures("url")
def test_lines_are_never_written_over_a_store(tmp_path: Path) -> None:
    (tmp_path / "runs.db").rename(tmp_path / "runs.jsonl")
    (tmp_path / "runs.db.key").rename(tmp_path / "runs.jsonl.key")
    before = (tmp_path / "runs.jsonl").read_bytes()
    own = f"sqlite:///{tmp_path}/runs.jsonl"
    said = say("export", own, "--to", tmp_path / "runs.jsonl", "--replace", "--apply", "--json")
    assert (said.code, said.error()["code"]) == (2, "file.database")
    assert (tmp_path / "runs.jsonl").read_bytes() == before


def test_a_run_that_is_not_there_is_told_and_has_no_line(url: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.jsonl"
    said = say("export", url, "--to", target, "--runs", "none", "--runs", "t", "--apply", "--json")
    assert (said.code, said.result("export")["runs"]["left"]) == (40, 1)
    assert {line["run_id"] for line in _lines(target)} == {"t"}


def test_a_run_that_is_damaged_leaves_no_line_and_the_others_are_whole(
    url: str, tmp_path: Path
) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "damaged")
        for number in range(40):
            run.save("step", {"count": number})
    with sqlite3.connect(tmp_path / "runs.db") as db:
        db.execute("update step set digest = x'00' where id = (select max(id) from step)")
    db.close()
    target = tmp_path / "runs.jsonl"
    said = say("export", url, "--to", target, "--apply", "--json")
    result = said.result("export")
    assert (said.code, result["runs"]["unread"], result["runs"]["taken"]) == (50, 1, 2)
    assert result["told"][0]["run"] == "damaged"
    assert {line["run_id"] for line in _lines(target)} == {"note", "t"}


@pytest.mark.parametrize("applies", [(), ("--apply",)])
def test_a_folder_that_is_not_there_is_an_error(
    url: str, tmp_path: Path, applies: tuple[str, ...]
) -> None:
    said = say("export", url, "--to", tmp_path / "none" / "x.jsonl", *applies, "--json")
    assert (said.code, said.error()["code"]) == (11, "file.cannot-write")


def test_a_file_of_json_needs_no_langgraph_and_the_tables_say_that_they_do(
    url: str, tmp_path: Path
) -> None:
    script = [
        "import sys",
        "class Gone:",
        "    def find_spec(self, name, path=None, target=None):",
        "        if name.partition('.')[0] == 'langgraph':",
        "            raise ModuleNotFoundError(name, name=name)",
        "sys.meta_path.insert(0, Gone())",
        "from keepset.cli.app import main",
        "main(sys.argv[1:])",
    ]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-c",
            "\n".join(script),
            "export",
            url,
            "--apply",
            "--to",
            *words,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert run(str(tmp_path / "runs.jsonl")).returncode == 0
    tables = run(str(tmp_path / "new.sqlite"), "--json")
    assert (tables.returncode, json.loads(tables.stderr)["error"]["code"]) == (
        2,
        "export.not-installed",
    )


def test_an_audit_reads_the_file(url: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.jsonl"
    assert say("export", url, "--to", target, "--apply").code == 0
    said = say("audit", target, "--no-measure", "--json")
    result = json.loads(said.out)["result"]
    assert said.code in {0, 40}
    assert (result["kind"], result["runs"]["count"], result["runs"]["checkpoints"]) == (
        "json",
        2,
        6,
    )
