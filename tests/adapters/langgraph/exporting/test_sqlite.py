"""Threads into a file of LangGraph's SqliteSaver: whole or not at all, and never over another."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.exporting.legs import config
from tests.adapters.langgraph.exporting.stories import fill, put
from tests.adapters.langgraph.saver.graphs import outer
from tests.cli.terminal import say
from tests.run.states import Chat

MANY = 40


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "new.sqlite"


def _export(url: str, target: Path, *options: str) -> Any:
    said = say("export", url, "--to", target, "--json", *options)
    return said.result("export")


def _counts(url: str, target: Path, *options: str) -> dict[str, int]:
    runs: dict[str, int] = _export(url, target, *options)["runs"]
    return {outcome: times for outcome, times in runs.items() if times}


def _there(target: Path) -> list[Any]:
    with SqliteSaver.from_conn_string(str(target)) as saver:
        return [one.checkpoint for one in saver.list(None)]


def test_a_dry_run_writes_nothing_and_says_what_would_be_exported(url: str, target: Path) -> None:
    put(url, "t", {"text": "a"}, {"text": "b"})
    said = say("export", url, "--to", target)
    assert (said.code, target.exists()) == (0, False)
    assert "1 run can be exported, 2 checkpoints" in said.out
    assert "--apply" in said.out


def test_a_thread_that_is_there_is_compared_and_never_written_over_unasked(
    url: str, target: Path
) -> None:
    put(url, "t", {"text": "a"})
    assert _counts(url, target, "--apply") == {"taken": 1}
    first = _there(target)
    assert _counts(url, target, "--apply") == {"there": 1}
    with KeepsetSaver(url) as saver:
        at = config("t")
        found = saver.get_tuple(at)
        assert found is not None
        later = {**found.checkpoint, "id": f"f{found.checkpoint['id'][1:]}"}
        saver.put(found.config, later, {"source": "loop", "step": 9}, {})
    assert _counts(url, target, "--apply") == {"grown": 1}
    assert _there(target) == first
    assert _counts(url, target, "--replace") == {"taken": 1}
    assert _there(target) == first
    assert _counts(url, target, "--apply", "--replace") == {"taken": 1}
    assert len(_there(target)) == 2
    assert _counts(url, target, "--apply", "--replace") == {"there": 1}


def test_a_thread_that_went_on_there_is_left_and_another_one_of_its_name_is_told(
    url: str, target: Path
) -> None:
    with KeepsetSaver(url) as ours:
        graph = outer(ours)
        graph.invoke({"log": ["in"]}, config("t"))
    put(url, "other", {"text": "ours"})
    assert _counts(url, target, "--apply") == {"taken": 2}
    with SqliteSaver.from_conn_string(str(target)) as saver:
        outer(saver).invoke(Command(resume="yes"), config("t"))
        saver.delete_thread("other")
        outer(saver).invoke({"log": ["theirs"]}, config("other"))
    before = _there(target)
    assert _counts(url, target, "--apply") == {"ahead": 1, "differs": 1}
    assert _there(target) == before
    assert say("export", url, "--to", target).code == 40


def test_what_is_there_and_cannot_be_read_is_another_thread(url: str, target: Path) -> None:
    put(url, "t", {"text": "a"})
    assert _counts(url, target, "--apply") == {"taken": 1}
    with sqlite3.connect(target) as db:
        db.execute("update checkpoints set type = 'msgpack+aes'")
    db.close()
    result = _export(url, target, "--apply")
    assert (result["runs"]["differs"], result["told"][0]["hint"]) == (
        1,
        "--replace writes it anew.",
    )
    assert _counts(url, target, "--apply", "--replace") == {"taken": 1}
    assert _counts(url, target) == {"there": 1}


@pytest.mark.parametrize(
    "damage",
    [
        "update checkpoints set checkpoint = x'ff'",  # a number
        "update checkpoints set checkpoint = x'c0'",
        "update checkpoints set checkpoint = x'81ae6368616e6e656c5f76616c75657307'",
        "update checkpoints set metadata = '[1]'",
        "update checkpoints set type = x'ff'",
        "update writes set task_id = x'ff'",
        "update writes set type = null",
    ],
)
def test_what_is_there_and_is_no_checkpoint_is_another_thread(
    url: str, target: Path, damage: str
) -> None:
    with KeepsetSaver(url) as saver:
        outer(saver).invoke({"log": ["in"]}, config("t"))
    assert _counts(url, target, "--apply") == {"taken": 1}
    with sqlite3.connect(target) as db:
        db.execute(damage)
    db.close()
    assert _counts(url, target, "--apply") == {"differs": 1}
    assert _counts(url, target, "--apply", "--replace") == {"taken": 1}


@pytest.mark.parametrize("beside", ["-wal", "-shm", "-journal", ".key"])
def test_what_lies_beside_a_store_is_no_place_to_export_to(
    url: str, tmp_path: Path, beside: str
) -> None:
    put(url, "t", {"text": "a"})
    said = say("export", url, "--to", f"{url}{beside}", "--apply", "--json")
    assert (said.code, said.error()["code"]) == (2, "export.own-store")
    assert _counts(url, tmp_path / "new.sqlite") == {"taken": 1}


@pytest.mark.parametrize(
    "table",
    [
        "table checkpoints (thread_id text)",
        "table writes (a)",
        "view checkpoints as select 1 as thread_id",
    ],
)
def test_a_dry_run_refuses_the_tables_that_would_refuse_the_rows(
    url: str, target: Path, table: str
) -> None:
    put(url, "t", {"text": "a"})
    with sqlite3.connect(target) as db:
        db.execute(f"create {table}")
    db.close()
    for options in ((), ("--apply",)):
        said = say("export", url, "--to", target, "--json", *options)
        assert (said.code, said.error()["code"]) == (11, "export.target")


def test_a_pipe_is_no_place_to_export_to_and_nobody_waits_for_it(url: str, tmp_path: Path) -> None:
    put(url, "t", {"text": "a"})
    for name, options in (("a.sqlite", ()), ("a.jsonl", ("--replace",))):
        os.mkfifo(tmp_path / name)
        said = say("export", url, "--to", tmp_path / name, "--apply", "--json", *options)
        assert said.code == 11
        assert (tmp_path / name).is_fifo()


def test_one_run_can_be_named_and_one_that_is_not_there_is_told(url: str, target: Path) -> None:
    for name in ("a", "b"):
        put(url, name, {"text": name})
    assert _counts(url, target, "--runs", "a", "--apply") == {"taken": 1}
    assert _counts(url, target, "--runs", "c") == {"left": 1}
    assert say("export", url, "--to", target, "--runs", "c").code == 40


def test_another_tenants_runs_stay_where_they_are(url: str, target: Path) -> None:
    put(url, "ours", {"text": "a"})
    put(url, "theirs", {"text": "b"}, tenant="other")
    assert _counts(url, target, "--tenant", "other", "--apply") == {"taken": 1}
    assert [one["channel_values"] for one in _there(target)] == [{"text": "b"}]


def test_a_run_that_is_no_thread_is_listed_and_left(url: str, target: Path) -> None:
    with ks.open(url) as store:
        store.run(Chat, "note").save("ask", {"question": "why?"})
    put(url, "t", {"text": "a"})
    result = _export(url, target, "--apply")
    assert (result["runs"]["taken"], result["runs"]["left"]) == (1, 1)
    (run,) = result["told"]
    assert (run["run"], run["why"]) == ("note", "it is no LangGraph thread")


def test_hostile_ids_are_exported_like_any_other(url: str, target: Path) -> None:
    names = ["%s", "a'; drop table checkpoints; --", "..", "é" * 100, '"', "a\nb", "?"]
    for name in names:
        put(url, name, {"text": name})
    assert _counts(url, target, "--apply") == {"taken": len(names)}
    assert {one["channel_values"]["text"] for one in _there(target)} == set(names)


@pytest.mark.parametrize("value", [(1, 2), {"a": [(1,)]}, "\ud800", frozenset({(1, 2)})])
def test_what_the_host_makes_another_value_of_leaves_its_thread_out_with_the_path(
    url: str, target: Path, value: Any
) -> None:
    put(url, "t", {"fine": 1}, {"fine": 1, "odd": value})
    result = _export(url, target, "--apply")
    assert result["runs"]["left"] == 1
    assert result["told"][0]["left"][0]["path"].startswith("odd")
    assert _there(target) == []


def test_metadata_that_are_no_json_leave_their_thread_out_with_the_key(
    url: str, target: Path
) -> None:
    with KeepsetSaver(url, metadata_keys=["who"]) as saver:
        at: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "who": b"me"}}
        checkpoint: Any = {**empty_checkpoint(), "channel_values": {"a": 1}}
        saver.put(at, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})
    result = _export(url, target, "--apply")
    (left,) = result["told"][0]["left"]
    assert (result["runs"]["left"], left["surface"], left["path"]) == (1, "metadata", "who")
    assert _there(target) == []


def test_values_that_the_host_does_hold_are_exactly_the_same(url: str, target: Path) -> None:
    values = {
        "nan": float("nan"),
        "zero": -0.0,
        "large": 1 << 60,
        "text": "a\0b é \u2028",
        "bytes": b"\xff\0",
        "nested": {"a": [1, True, 1.0, None, {"b": []}]},
        "keys": {1: "one", "1": "text"},
    }
    put(url, "t", values)
    assert _counts(url, target, "--apply") == {"taken": 1}


def test_a_change_that_is_accepted_is_listed_and_then_there_already(url: str, target: Path) -> None:
    put(url, "t", {"odd": (1, 2)})
    result = _export(url, target, "--apply", "--accept-changes")
    assert (result["runs"]["taken"], result["told"][0]["left"][0]["path"]) == (1, "odd")
    assert [one["channel_values"] for one in _there(target)] == [{"odd": [1, 2]}]
    assert _counts(url, target, "--apply", "--accept-changes") == {"there": 1}


@pytest.mark.parametrize("applies", [(), ("--apply",)])
def test_a_place_that_cannot_be_written_is_an_error_and_nothing_is_left(
    url: str, tmp_path: Path, applies: tuple[str, ...]
) -> None:
    put(url, "t", {"text": "a"})
    missing = say("export", url, "--to", f"sqlite:///{tmp_path}/none/x.sqlite", *applies, "--json")
    assert (missing.code, missing.error()["code"]) == (11, "export.target")
    (tmp_path / "text.sqlite").write_text("this is no database" * 100)
    other = say("export", url, "--to", tmp_path / "text.sqlite", *applies, "--json")
    assert (other.code, other.error()["code"]) == (11, "export.target")
    own = say("export", url, "--to", url, *applies, "--json")
    assert (own.code, own.error()["code"]) == (2, "export.own-store")


def _start(url: str, target: Path, *, limit: int = 0) -> subprocess.Popen[str]:
    lines = [
        "import resource",
        f"limit = {limit}",
        "limit and resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))",
        "from keepset.cli.app import main",
        f"main(['export', {url!r}, '--to', {str(target)!r}, '--apply', '--json'])",
    ]
    return subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _threads_in(target: Path) -> int:
    try:
        with sqlite3.connect(f"file:{target}?mode=ro", uri=True) as db:
            found = db.execute("select count(distinct thread_id) from checkpoints").fetchone()
    except sqlite3.OperationalError:  # it is being made
        return 0
    return int(found[0])


def _many(url: str) -> None:
    with KeepsetSaver(url) as saver:
        for number in range(MANY):
            states = [{"text": f"{number} {step} " + "x" * 2_000} for step in range(8)]
            fill(saver, f"t{number:02}", *states)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_export_that_is_ended_leaves_whole_threads_and_the_next_one_goes_on(
    url: str, target: Path, number: signal.Signals
) -> None:
    _many(url)
    process = _start(url, target)
    while process.poll() is None and _threads_in(target) < 5:
        pass
    process.send_signal(number)  # nothing is sent where it has ended meanwhile
    process.communicate()
    assert process.returncode in {-number, 130, 0}
    counts = _counts(url, target)
    assert counts.pop("there") + counts.pop("taken", 0) == MANY
    assert counts == {}
    assert set(_counts(url, target, "--apply")) <= {"there", "taken"}
    assert _counts(url, target) == {"there": MANY}


def test_a_disk_that_is_full_is_an_error_and_what_is_there_is_whole(url: str, target: Path) -> None:
    _many(url)
    process = _start(url, target, limit=300_000)
    _, err = process.communicate()
    assert (process.returncode, "export.target" in err) == (11, True), err
    counts = _counts(url, target)
    assert set(counts) <= {"there", "taken"}
    assert sum(counts.values()) == MANY


def test_two_exports_at_once_give_what_one_gives(url: str, target: Path) -> None:
    _many(url)
    both = [_start(url, target) for _ in range(2)]
    for process in both:
        _, err = process.communicate()
        assert process.returncode == 0, err
    assert _counts(url, target) == {"there": MANY}


def test_a_thread_that_grows_meanwhile_is_exported_as_it_was_at_one_moment(
    url: str, target: Path
) -> None:
    put(url, "t", {"text": "begin"})
    stop = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            with KeepsetSaver(url) as saver:
                graph = outer(saver)
                while not stop.is_set():
                    graph.invoke({"log": ["in"]}, config("busy"))
                    graph.invoke(Command(resume="yes"), config("busy"))
        except BaseException as error:  # noqa: BLE001 - the test tells it
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):
            counts = _counts(url, target, "--apply", "--replace")
            assert set(counts) <= {"taken", "there"}
            checkpoints = _listed(target)
            ids = {one.checkpoint["id"] for one in checkpoints}
            for one in checkpoints:
                parent = (one.parent_config or {}).get("configurable", {}).get("checkpoint_id")
                assert parent is None or parent in ids
                assert set((one.metadata or {}).get("parents", {}).values()) <= ids
    finally:
        stop.set()
        writer.join()
    assert failed == []


def _listed(target: Path) -> list[Any]:
    with SqliteSaver.from_conn_string(str(target)) as saver:
        return list(saver.list(None))


def test_a_store_in_a_file_that_may_only_be_read_is_exported(url: str, target: Path) -> None:
    put(url, "t", {"text": "a"})
    path = Path(url.removeprefix("sqlite:///"))
    path.chmod(0o400)
    before = path.read_bytes()
    assert _counts(url, target, "--apply") == {"taken": 1}
    assert path.read_bytes() == before
