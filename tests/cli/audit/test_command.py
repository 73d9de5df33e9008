"""The command on stores that LangGraph's own saver wrote: exit codes, documents, files."""

from __future__ import annotations

import hashlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from tests.audit import naive
from tests.cli.terminal import Said, say, start


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("langgraph") / "checkpoints.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        naive.fill(saver, runs=4, fails=True)
    return path


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clean") / "checkpoints.sqlite"
    builder = StateGraph(naive.Research)
    builder.add_node("pay", lambda _: {"payment": {"attempts": 1, "charged": True}})
    builder.add_edge(START, "pay")
    builder.add_edge("pay", END)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"question": "Why?"}, {"configurable": {"thread_id": "ticket"}})
    return path


def result(*arguments: str | Path, code: int = 40) -> Any:
    said = say("audit", *arguments, "--json")
    assert said.code == code, said.err
    return said.result("audit")


def test_a_store_with_secrets_in_it_exits_with_40_and_names_them(store: Path) -> None:
    found = result(store)
    assert found["kind"] == "langgraph-sqlite"
    assert found["runs"]["count"] == 4
    assert found["runs"]["unfinished"] == 4
    assert found["complete"]
    places = {(one["code"], one["surface"], one["place"]) for one in found["findings"]}
    assert ("secret.format", "state", "api_key") in places
    assert ("secret.format", "error", "__error__") in places
    assert any(code == "secret.format" and where == "metadata" for code, where, _ in places)
    verdicts = {one["field"]: one["keep"] for one in found["fields"]}
    assert [name for name, keep in verdicts.items() if not keep] == [
        *("db", "api_key", "workdir", "docs")
    ]


def test_a_store_in_which_all_belongs_exits_with_0_and_is_called_clean(clean: Path) -> None:
    said = say("audit", clean)
    assert said.code == 0, said.out
    assert "Clean: everything was read" in said.out


def test_a_sample_without_findings_exits_with_50(clean: Path) -> None:
    with sqlite3.connect(clean) as database:
        runs = database.execute("SELECT count(DISTINCT thread_id) FROM checkpoints").fetchone()
    assert runs == (1,)
    said = say("audit", clean, "--limit-time", "0")
    assert said.code == 50, said.out
    assert "Clean" not in said.out
    assert "100.0% of the bytes was not looked at" in said.out


def test_nothing_in_the_store_is_changed(store: Path) -> None:
    def digest() -> list[str]:
        files = sorted(store.parent.iterdir())
        return [f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]

    before = digest()
    say("audit", store)
    assert digest() == before


def test_it_is_run_from_a_shell_and_prints_no_value(store: Path) -> None:
    said = start("audit", store.name, folder=store.parent)
    assert said.code == 40
    assert "a secret (" in said.out
    assert f"audit {store.name} --write-contract state.py" in said.out
    everything = said.out + said.err
    assert not any(v in everything for v in (naive.KEY, naive.METADATA_KEY, naive.WORKDIR))


def test_a_page_and_a_contract_are_written_beside_the_report(store: Path, tmp_path: Path) -> None:
    page, contract = tmp_path / "audit.html", tmp_path / "audited.py"
    said = say("audit", store, "--html", page, "--write-contract", contract)
    assert said.code == 40, said.err
    assert "What is in" in page.read_text("utf-8")
    assert start("check", "audited:State", folder=tmp_path).code == 0
    again = say("audit", store, "--write-contract", contract)
    assert again.code == 2
    assert "file.there" in again.err


@pytest.mark.parametrize("option", ["--html", "--write-contract", "--resume"])
def test_a_place_where_nothing_can_be_written_is_told_before_a_store_is_read(
    tmp_path: Path, option: str
) -> None:
    """Else the reading of a large store would be for nothing."""
    said = say("audit", tmp_path / "no-store", option, tmp_path / "no-folder" / "file")
    assert said.code == 11
    assert "file.cannot-write" in said.err
    there = tmp_path / "there"
    there.write_text("x")
    if option != "--resume":
        said = say("audit", tmp_path / "no-store", option, there)
        assert (said.code, "file.there" in said.err) == (2, True)


def test_a_file_that_keeps_what_is_counted_is_written_for_nothing_else(
    store: Path, tmp_path: Path
) -> None:
    said = say("audit", store, "--html", tmp_path / "one", "--resume", tmp_path / "one")
    assert (said.code, "file.twice" in said.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(store: Path, tmp_path: Path) -> None:
    copy, page = tmp_path / "copy.sqlite", tmp_path / "audit.html"
    copy.write_bytes(store.read_bytes())
    said = say("audit", copy, "--html", copy)
    assert (said.code, "file.database" in said.err) == (2, True)
    assert copy.read_bytes() == store.read_bytes()
    assert say("audit", copy, "--no-measure", "--html", page).code == 40
    assert say("audit", copy, "--no-measure", "--html", page).code == 40
    page.write_text("<!doctype html>\n<title>mine</title>")
    said = say("audit", copy, "--no-measure", "--html", page)
    assert (said.code, "say --replace" in said.err) == (2, True)
    assert "mine" in page.read_text()
    assert say("audit", copy, "--no-measure", "--html", page, "--replace").code == 40
    assert "mine" not in page.read_text()


@pytest.mark.parametrize("table", ["checkpoints", "writes"])
def test_bytes_where_the_kind_of_a_value_should_stand_are_told_and_no_bug(
    store: Path, tmp_path: Path, table: str
) -> None:
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(store.read_bytes())
    with sqlite3.connect(copy) as database:
        database.execute(f"update {table} set type = x'ff00' where rowid = 1")  # noqa: S608 - one of two
    database.close()
    found = result(copy, "--no-measure", code=50)
    assert any(one["code"] == "audit.unreadable" for one in found["findings"])


def test_a_part_of_the_runs_is_read_where_a_sample_is_asked_for(store: Path) -> None:
    found = result(store, "--sample", "50%", "--no-measure")
    assert found["sample"]["runs"] == 2
    assert found["runs"]["count"] == 4
    [one] = [
        one for one in found["findings"] if one["place"] == "api_key" and one["surface"] == "state"
    ]
    assert one["estimates"]["runs"]["low"] >= 2


def test_a_store_above_the_limit_is_sampled_by_itself(store: Path) -> None:
    assert result(store, "--all-below", "1KB", "--no-measure")["sample"] is not None
    assert result(store, "--all-below", "10MB", "--no-measure")["sample"] is None
    said = say("audit", store, "--all-below", "10MB", "--no-measure")
    assert "--all-below10000000--no-measure--write-contract" in "".join(said.out.split())


def test_what_the_runs_would_take_in_keepset_is_measured(store: Path) -> None:
    measured = result(store)["measured"]
    assert len(measured["runs"]) == 4
    assert 0 < measured["kept"] < measured["ours"] < measured["theirs"]


def test_a_damaged_value_exits_with_50_whatever_else_there_is(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(store.read_bytes())
    with sqlite3.connect(copy) as database:
        database.execute("UPDATE writes SET value = x'c1c1' WHERE channel = 'docs'")
    found = result(copy, code=50)
    assert not found["complete"]
    assert any(one["code"] == "audit.unreadable" for one in found["findings"])


def test_deleted_data_that_is_still_in_the_file_is_told(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(store.read_bytes())
    database = sqlite3.connect(copy)
    database.execute("PRAGMA secure_delete = OFF")
    database.execute("DELETE FROM checkpoints WHERE thread_id = 'ticket-1'")
    database.commit()
    database.close()
    found = result(copy)
    assert found["deleted_bytes"] > 0
    codes = {one["code"] for one in found["findings"]}
    assert {"audit.deleted-bytes", "audit.orphans"} <= codes


def refused(*arguments: str | Path) -> Said:
    return say("audit", *arguments)


def test_a_wrong_place_or_option_is_refused_with_what_to_do(tmp_path: Path, store: Path) -> None:
    assert refused(tmp_path / "none.sqlite").code == 3
    other = tmp_path / "other.bin"
    other.write_bytes(b"\x00\x01nothing")
    assert refused(other).code == 2
    said = refused(store, "--table", "checkpoints")
    assert (said.code, "audit.columns" in said.err) == (2, True)
    for option, value in (("--sample", "x"), ("--sample", "0"), ("--all-below", "much")):
        assert refused(store, option, value).code == 2


def test_any_table_is_audited_by_the_names_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE history (chat TEXT, n INTEGER, body TEXT)")
        body = json.dumps({"messages": [{"role": "user", "content": f"my key is {naive.KEY}"}]})
        database.execute("INSERT INTO history VALUES ('chat-1', 1, ?)", (body,))
    database.close()
    columns = ("--table", "history", "--run", "chat", "--step", "n", "--value", "body")
    found = result(path, *columns)
    assert found["runs"]["count"] == 1
    assert any(one["code"].startswith("secret.") for one in found["findings"])


def test_a_reading_that_time_ended_goes_on_with_the_next_command(
    store: Path, tmp_path: Path
) -> None:
    part = tmp_path / "audit.part"
    asked = ("--resume", part, "--no-measure")
    assert say("audit", store, *asked, "--limit-time", "0").code == 50
    assert part.exists()
    other = say("audit", store, *asked)
    assert (other.code, "audit.resume-other" in other.err) == (2, True)
    found = result(store, *asked, "--limit-time", "600")
    assert found["complete"]
    assert not part.exists()


def test_an_interrupt_says_that_it_can_be_gone_on_with(tmp_path: Path) -> None:
    path, part = tmp_path / "many.sqlite", tmp_path / "audit.part"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE history (chat TEXT, n INTEGER, body TEXT)")
        rows = ((f"chat-{n:06}", 1, '{"text": "hello"}') for n in range(300_000))
        database.executemany("INSERT INTO history VALUES (?, ?, ?)", rows)
        database.execute("CREATE INDEX by_chat ON history (chat, n)")
    database.close()
    columns = ("--table", "history", "--run", "chat", "--step", "n", "--value", "body")
    audit = ("audit", str(path), *columns, "--resume", str(part))
    words = [sys.executable, "-m", "keepset.cli", *audit]
    reading = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not part.exists():
        assert reading.poll() is None
        time.sleep(0.05)  # it is written after two seconds of reading
    reading.send_signal(signal.SIGINT)
    out, err = reading.communicate(timeout=60)
    assert (reading.returncode, out) == (130, "")
    assert "what was counted is kept" in err
    assert part.exists()


def test_a_saver_that_has_not_saved_yet_left_a_store_without_runs(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        saver.setup()
    said = say("audit", path)
    assert said.code == 0
    assert "Clean: there is no run in it" in said.out
    assert "unfinished" not in said.out
