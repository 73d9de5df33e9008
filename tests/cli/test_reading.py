"""The commands that look into a store: no code needed, nothing changed, persons masked."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from keepset.cli.compare import differences
from keepset.cli.output import one_row, printable
from keepset.cli.render import one_line, render
from tests.cli import shop
from tests.cli.terminal import Said, say, start

if TYPE_CHECKING:
    from pathlib import Path

READING = [
    ("runs",),
    ("show", "ticket-1"),
    ("diff", "ticket-1", "1", "2"),
    ("stats",),
    ("verify",),
    ("doctor",),
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return shop.fill(tmp_path)


def ask(store: Path, *arguments: str) -> Said:
    return say(*arguments, "--store", f"sqlite:///{store}")


def result(store: Path, *arguments: str) -> Any:
    said = ask(store, *arguments, "--json")
    assert said.code == 0, said.err
    return said.result(arguments[0])


def test_runs_lists_each_run_with_where_it_stands(store: Path) -> None:
    found = result(store, "runs")
    assert found["more"] is False
    [run] = found["runs"]
    assert (run["run"], run["status"], run["step"]) == ("ticket-1", "done", "answer")
    assert run["checkpoints"] == 3
    assert "ticket-1" in ask(store, "runs").out


def test_runs_are_chosen_by_status_and_subject_and_paged_by_id(store: Path) -> None:
    shop.fill(store.parent, "ticket-2")
    assert result(store, "runs", "--status", "paused")["runs"] == []
    assert len(result(store, "runs", "--subject", "ada")["runs"]) == 2
    assert result(store, "runs", "--subject", "bob")["runs"] == []
    first = result(store, "runs", "--limit", "1")
    assert (first["runs"][0]["run"], first["more"]) == ("ticket-1", True)
    rest = result(store, "runs", "--after", "ticket-1")
    assert [run["run"] for run in rest["runs"]] == ["ticket-2"]


def test_show_gives_the_newest_checkpoint_without_the_code_that_made_it(store: Path) -> None:
    said = start("show", "ticket-1", "--store", store, "--json")
    found = said.result("show")
    assert found["checkpoint"]["step"] == "answer"
    [item] = found["fields"]["items"]
    assert "Item" in item["$type"]
    assert "lamp" in json.dumps(item)
    assert found["fields"]["size"] == {"$type": "tuple", "items": [1, 3]}


def test_show_gives_any_step_by_number_or_id(store: Path) -> None:
    first = result(store, "show", "ticket-1", "--step", "1")
    assert first["checkpoint"]["step"] == "begin"
    assert first["fields"]["items"] == []
    again = result(store, "show", "ticket-1", "--step", first["checkpoint"]["id"])
    assert again == first


def test_personal_fields_are_masked_in_show_and_diff_until_they_are_revealed(store: Path) -> None:
    asked = [
        ask(store, *arguments, *how)
        for arguments in (("show", "ticket-1"), ("diff", "ticket-1", "2", "3"))
        for how in ((), ("--json",))
    ]
    for said in asked:
        assert said.code == 0
        assert "question" in said.out
        assert "Ada" not in said.out + said.err
    for arguments in (("show", "ticket-1"), ("diff", "ticket-1", "2", "3")):
        assert "Ada" in ask(store, *arguments, "--reveal").out
    assert result(store, "show", "ticket-1")["masked"] == ["question"]


def test_metadata_is_masked_as_personal_until_it_is_revealed(store: Path) -> None:
    assert result(store, "show", "ticket-1")["checkpoint"]["metadata"] == {"$type": "masked"}
    said = ask(store, "show", "ticket-1")
    assert "model" not in said.out
    assert "(masked; --reveal shows it)" in said.out
    found = result(store, "show", "ticket-1", "--reveal")
    assert found["checkpoint"]["metadata"] == {"model": "m-1"}
    assert '{"model": "m-1"}' in ask(store, "show", "ticket-1", "--reveal").out
    assert result(store, "show", "ticket-1", "--step", "1")["checkpoint"]["metadata"] == {}
    assert "metadata" not in ask(store, "show", "ticket-1", "--step", "1").out


def test_show_names_the_rule_of_each_field_that_is_not_stored(store: Path) -> None:
    found = result(store, "show", "ticket-1")
    assert {name: rule["kind"] for name, rule in found["not_stored"].items()} == {
        "docs": "Refetch",
        "key": "Secret",
        "draft": "Drop",
    }
    shown = ask(store, "show", "ticket-1").out
    assert "(not stored: restored by Refetch(load=fetch, using=items))" in shown
    assert "(not stored: restored by Secret(reference=env:SHOP_KEY))" in shown
    assert "(not stored: left out by Drop)" in shown


def test_a_field_that_the_stored_contract_does_not_speak_of_is_masked(store: Path) -> None:
    with sqlite3.connect(store) as db:
        [(table, column)] = [
            (table, column)
            for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            for (column,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))
            if column == "structure"
        ]
        db.execute(f"UPDATE {table} SET {column} = '{{}}'")  # noqa: S608 - both names are the schema's
    db.close()
    found = result(store, "show", "ticket-1")
    assert found["masked"] == ["items", "notes", "question", "size"]
    assert set(map(json.dumps, found["fields"].values())) == {'{"$type": "masked"}'}


def test_diff_lists_what_was_added_removed_and_changed_by_path(store: Path) -> None:
    changes = {
        change["path"]: change["change"]
        for change in result(store, "diff", "ticket-1", "1", "2")["changes"]
    }
    assert changes == {"items[0]": "added", "notes.old": "removed", "notes.new": "added"}


def test_stats_say_what_a_store_holds(store: Path) -> None:
    found = result(store, "stats")
    assert (found["runs"], found["checkpoints"]) == (1, 3)
    assert found["file_bytes"] > 0
    assert sum(entry["bytes"] for entry in found["bytes_by_field"]) > 0
    said = ask(store, "stats")
    assert said.out.startswith("1 run, 3 checkpoints\n")
    assert "(steps not packed yet)" in said.out
    assert ask(store, "verify").out == "intact: 1 run, 3 checkpoints\n"


def test_an_empty_listing_says_so_and_leaves_stdout_empty(store: Path) -> None:
    said = ask(store, "runs", "--status", "paused", "--tenant", "default")
    assert (said.code, said.out) == (0, "")
    assert said.err == "There are no runs of tenant default that fit --status.\n"
    assert "no runs of tenant other." in ask(store, "runs", "--tenant", "other").err
    assert ask(store, "stats", "--tenant", "other").code == 0


@pytest.mark.parametrize(
    ("given", "code", "name"),
    [
        (".", 11, "store.not-a-file"),
        ("/", 11, "store.not-a-file"),
        ("sqlite:///.", 11, "store.not-a-file"),
        ("sqlite:nope", 2, "store.url"),
        ("memory:", 2, "store.memory"),
        (":memory:", 2, "store.memory"),
        ("sqlite:///:memory:", 2, "store.memory"),
        ("sqlite://nope", 2, "store.url"),
        ("", 2, "usage"),
        (" ", 2, "usage"),
        ("a" * 300, 11, "store.cannot-open"),
        ("runs.db?mode=ro", 3, "store.not-found"),
    ],
)
@pytest.mark.parametrize("command", ["runs", "doctor"])
def test_a_store_that_is_named_wrongly_is_no_bug(
    command: str, given: str, code: int, name: str
) -> None:
    said = say(command, "--store", given, "--json")
    assert (said.code, said.error()["code"]) == (code, name)


def test_verify_finds_an_intact_store_intact_and_a_changed_byte(store: Path) -> None:
    found = result(store, "verify")
    assert (found["runs"], found["checkpoints"], found["problems"]) == (1, 3, [])
    with sqlite3.connect(store) as db:
        db.execute("UPDATE step SET name = 'forged' WHERE name = 'pick'")
    db.close()
    said = ask(store, "verify", "--json")
    assert said.code == 7
    assert said.result("verify")["problems"]
    said = ask(store, "verify")
    assert said.code == 7
    assert "damaged" in said.out


def test_a_run_or_step_that_is_not_there_exits_with_3(store: Path) -> None:
    for arguments, code in (
        (("show", "nobody"), "run.not-found"),
        (("diff", "nobody", "1", "2"), "run.not-found"),
        (("verify", "nobody"), "run.not-found"),
        (("show", "ticket-1", "--step", "9"), "checkpoint.not-found"),
        (("show", "ticket-1", "--tenant", "other"), "run.not-found"),
    ):
        said = ask(store, *arguments, "--json")
        assert (said.code, said.error()["code"]) == (3, code)


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])
def test_a_command_that_reads_creates_no_store(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    said = ask(tmp_path / "none.db", *arguments)
    assert said.code == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])
def test_a_command_that_reads_changes_no_byte_of_a_store(
    store: Path, arguments: tuple[str, ...]
) -> None:
    before = hashlib.sha256(store.read_bytes()).digest()
    assert ask(store, *arguments).code == 0
    assert hashlib.sha256(store.read_bytes()).digest() == before


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])
def test_a_file_that_is_not_ours_is_refused_and_left_as_it_is(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    other = tmp_path / "other.db"
    other.write_text("not a database, and longer than a page header of 100 bytes " * 4)
    before = other.read_bytes()
    said = ask(other, *arguments, "--json")
    assert said.code == 11
    assert said.error()["code"].startswith("store.")
    assert other.read_bytes() == before


def test_the_store_may_be_named_in_the_environment_or_as_a_path(store: Path) -> None:
    assert say("runs", "--store", store).code == 0
    assert start("runs", environment={"KEEPSET_STORE": f"sqlite:///{store}"}).code == 0
    assert start("runs", "--store", "runs.db", folder=store.parent).code == 0
    assert say("runs").code == 2


def test_a_memory_store_has_nothing_to_look_at() -> None:
    said = say("runs", "--store", "memory:", "--json")
    assert (said.code, said.error()["code"]) == (2, "store.memory")


def test_doctor_finds_nothing_wrong_with_a_new_store(store: Path) -> None:
    found = result(store, "doctor")
    assert found["failed"] == 0
    names = {line["name"] for line in found["lines"]}
    assert {"keepset", "Python", "SQLite library", "free space", "format"} <= names


def test_doctor_says_what_to_do_about_a_file_that_others_may_read(store: Path) -> None:
    store.chmod(0o644)
    said = ask(store, "doctor", "--json")
    assert said.code == 40
    fixes = [line["fix"] for line in said.result("doctor")["lines"] if line["state"] == "fail"]
    assert any(f"chmod 600 {store}" in fix for fix in fixes)
    assert ask(store, "doctor").code == 40


def test_doctor_looks_at_the_machine_without_a_store_and_at_the_mode() -> None:
    assert say("doctor").code == 0
    said = start("doctor", environment={"KEEPSET_MODE": "relaxed"})
    assert said.code == 40
    assert "KEEPSET_MODE" in said.out


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert printable("a\x1b[31mb\u202ec\ud800") == "a\\x1b[31mb\\u202ec\\ud800"
    assert "\x1b" not in one_line(render({"\x1b]0;": "\x9b31m"}), 80)
    assert one_line(render("x" * 50), 10) == '"xxxxxxxx…'
    assert one_row("a\nb\tc") == "a\\nb\\tc"


def test_a_name_with_a_line_break_forges_no_row(tmp_path: Path) -> None:
    store = shop.fill(tmp_path, "a\nforged-row  Ticket")
    assert len(ask(store, "runs").out.splitlines()) == 2
    assert len(ask(store, "show", "b\nforged").err.splitlines()) == 2


def test_a_long_name_is_not_broken_where_it_is_read_by_a_program(tmp_path: Path) -> None:
    name = "n" * 400
    store = shop.fill(tmp_path, name)
    assert name in ask(store, "runs").out


def test_a_run_id_that_would_command_a_terminal_is_escaped_wherever_it_is_printed(
    tmp_path: Path,
) -> None:
    evil = "a\x1b[2J\u202e"
    store = shop.fill(tmp_path, evil)
    shown = [ask(store, *arguments) for arguments in (("runs",), ("show", evil), ("show", "b\x1b"))]
    assert "a\\x1b[2J\\u202e" in shown[0].out
    assert all("\x1b" not in said.out + said.err for said in shown)
    assert result(store, "runs")["runs"][0]["run"] == evil


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), {"$type": "float", "text": "nan"}),
        (b"ab", {"$type": "bytes", "size": 2, "hex": "6162"}),
        ({1: "a"}, {"$type": "dict", "items": [[1, "a"]]}),
        ({"$type": "x"}, {"$type": "dict", "items": [["$type", "x"]]}),
        (10**30, 10**30),
        ((1,), {"$type": "tuple", "items": [1]}),
    ],
)
def test_what_json_lacks_is_shown_by_its_type(value: object, shown: object) -> None:
    assert render(value) == shown


def test_a_number_beyond_what_python_writes_in_decimal_is_shown_all_the_same() -> None:
    large = 1 << 20_000
    assert render(large) == {"$type": "int", "text": hex(large)}
    assert render(Fraction(1, large)) == {"$type": "Fraction", "text": "(too long)"}
    assert json.dumps(render(1 << 12_999))


def test_a_difference_tells_one_and_true_apart() -> None:
    assert [d["path"] for d in differences({"a": 1, "b": 0.0}, {"a": True, "b": -0.0})] == [
        "a",
        "b",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to anything")
def test_a_store_that_may_only_be_read_can_be_looked_at(store: Path) -> None:
    store.chmod(0o400)
    assert ask(store, "runs").code == 0
