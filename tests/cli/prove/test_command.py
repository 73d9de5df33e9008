"""`keepset prove` as a person types it: options, exit codes, and what it prints and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cli.terminal import Said, on_a_terminal, say, start

WILD = "tests.prove.wild"
ONE = ("--jobs", "1")
WORD = ("--input", '{"word": "PLANTED"}')


def prove(name: str, *options: str | Path) -> Said:
    """Prove one of the wild workflows, one trial at a time."""
    return say("prove", f"{WILD}:{name}", *ONE, *options)


def fields(result: Any) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in result["fields"]}


@pytest.fixture(scope="module")
def sound() -> Said:
    """A contract with which nothing is wrong."""
    return prove("sound", *WORD, "--output", "answer", "--json")


def test_a_sound_contract_exits_with_0_and_its_json_fits_the_schema(sound: Said) -> None:
    assert sound.code == 0
    result = sound.result("prove")
    assert fields(result) == {"word": "needed", "size": "not needed", "answer": "not needed"}
    assert (result["errors"], result["outputs"]) == (0, ["answer"])


def test_progress_is_no_part_of_the_output(sound: Said) -> None:
    assert json.loads(sound.out)
    assert "1 point x 3 fields" in sound.err
    assert "\x1b" not in sound.out + sound.err


def test_what_is_dropped_and_needed_exits_with_40_and_is_told() -> None:
    said = prove("unsound", "--pin", "none")
    assert said.code == 40
    assert "prove.dropped-but-needed" in said.out
    assert "KeyError in confirm" in said.out


def test_what_cannot_be_repeated_exits_with_50_and_says_what_differs() -> None:
    said = prove("unrepeatable", "--json")
    assert said.code == 50
    result = said.result("prove")
    assert not result["conclusive"]
    assert "word" in result["unlike"]


def test_a_worker_shows_nothing_of_what_the_workflow_prints_unless_it_is_asked_to() -> None:
    quiet = start("prove", f"{WILD}:printing", *ONE, *WORD, "--json", "--field", "flag")
    assert quiet.code == 0
    assert quiet.result("prove")["name"] == "State"
    assert "PLANTED on" not in quiet.err
    loud = ("--show-prints", "--json", "--field", "flag")
    told = start("prove", f"{WILD}:printing", *ONE, *WORD, *loud)
    assert told.result("prove")["name"] == "State"
    assert "PLANTED on stdout" in told.err
    assert "PLANTED on the descriptor" in told.err


def test_no_value_of_a_run_is_printed_or_written(tmp_path: Path) -> None:
    page, xml = tmp_path / "proof.html", tmp_path / "proof.xml"
    said = prove("sound", *WORD, "--html", page, "--junit", xml)
    everything = said.out + said.err + page.read_text("utf-8") + xml.read_text("utf-8")
    assert "PLANTED" not in everything
    assert "--input INPUT.json" in said.out


def test_a_page_and_junit_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    page, xml = tmp_path / "proof.html", tmp_path / "proof.xml"
    assert prove("unsound", "--html", page, "--junit", xml).code == 40
    assert page.read_text("utf-8").startswith("<!doctype html>")
    root = ET.fromstring(xml.read_text("utf-8"))  # noqa: S314 - we wrote it
    assert root.findall(".//failure")


@pytest.mark.parametrize("option", ["--html", "--junit"])
def test_a_path_that_cannot_be_written_is_refused_before_anything_runs(
    option: str, tmp_path: Path
) -> None:
    said = prove("unsound", option, tmp_path / "nowhere" / "proof", "--json")
    assert said.code == 11
    assert said.error()["code"] == "file.cannot-write"


@pytest.mark.parametrize("option", ["--html", "--junit", "--write-contract"])
def test_only_what_it_has_made_itself_is_written_over_unless_that_is_said(
    option: str, tmp_path: Path
) -> None:
    path = tmp_path / "proof"
    path.write_text("<!doctype html>\n<testsuites name='mine'/>")
    said = prove("unsound", option, path, "--json")
    assert (said.code, said.error()["code"]) == (2, "file.there")
    assert "mine" in path.read_text()
    if option != "--write-contract":
        assert prove("unsound", option, path, "--replace").code == 40
        assert prove("unsound", option, path).code == 40, "it is one that it has made"
        assert "mine" not in path.read_text()


def test_a_page_and_junit_are_not_written_to_one_file(tmp_path: Path) -> None:
    both = ("--html", tmp_path / "one", "--junit", tmp_path / "one")
    assert prove("unsound", *both, "--json").error()["code"] == "file.twice"


def test_a_dry_run_says_how_many_runs_it_would_take_and_proves_nothing() -> None:
    said = prove("sound", *WORD, "--dry-run", "--json")
    plan = said.result("prove")["plan"]
    assert (said.code, plan["points"], plan["grouped"]) == (0, ["after count"], False)
    assert plan["fields"] == ["word", "size", "answer"]
    assert plan["runs"] > 3
    told = prove("sound", *WORD, "--dry-run", "--crash", "--most", "0")
    assert told.out.startswith("1 point x 3 fields: about ")
    assert told.out.rstrip().endswith("fields in groups, each with a SIGKILL")
    assert prove("unrepeatable", "--dry-run").out == "there is nothing that could be tried\n"


def test_one_field_at_one_point_can_be_tried_alone() -> None:
    said = prove("leaving", *WORD, "--field", "flag", "--at", "after begin", "--json")
    result = said.result("prove")
    assert fields(result) == {"flag": "needed"}
    (cell,) = result["fields"][0]["cells"]
    assert (cell["point"], cell["verdict"]) == ("after begin", "needed")
    assert cell["differences"][0]["what"] == "SystemExit in leave"


def test_a_trial_that_takes_too_long_is_given_up() -> None:
    only = ("--field", "flag", "--at", "after begin", "--timeout", "1.5")
    again = prove("hanging", *WORD, *only).out
    assert "--timeout 1.5" in again.splitlines()[-1]
    said = prove("hanging", *WORD, *only, "--json")
    (cell,) = said.result("prove")["fields"][0]["cells"]
    assert cell["differences"][0]["what"] == "timeout"


def test_with_crash_another_process_resumes_and_the_world_is_observed() -> None:
    options = ("--observe", f"{WILD}:processes", "--crash", "--field", "flag", "--json")
    result = prove("two_lives", *WORD, *options).result("prove")
    (strayed,) = result["strayed"]
    assert strayed["differences"][0]["kind"] == "effect"


def test_the_input_may_be_json_a_file_or_a_name(tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text('[{"word": "w"}]', "utf-8")
    for given in (path, f"{WILD}:INPUT"):
        result = prove("sound", "--input", given, "--field", "word", "--json").result("prove")
        assert fields(result) == {"word": "needed"}


WRONG: dict[str, tuple[tuple[str, ...], int, str]] = {
    "a module that is not there": (("nowhere:build",), 2, "reference.import"),
    "a name that is not there": ((f"{WILD}:nothing",), 2, "reference.name"),
    "no name at all": (("nothing",), 2, "reference.syntax"),
    "something that is no workflow": ((f"{WILD}:INPUT",), 2, "prove.target"),
    "a factory that fails": ((f"{WILD}:broken",), 2, "prove.factory"),
    "a field that is not there": ((f"{WILD}:sound", *WORD, "--field", "x"), 2, "prove.field"),
    "an output that is not there": ((f"{WILD}:sound", *WORD, "--output", "x"), 2, "prove.field"),
    "a point that is not there": ((f"{WILD}:sound", *WORD, "--at", "after x"), 2, "prove.point"),
    "JSON that is none": ((f"{WILD}:sound", "--input", "{PLANTED"), 2, "prove.json"),
    "a file that is not there": ((f"{WILD}:sound", "--input", "no.json"), 3, "prove.no-file"),
    "several inputs": ((f"{WILD}:sound", "--input", "[{}, {}]"), 2, "prove.turns"),
    "answers to no question": ((f"{WILD}:sound", *WORD, "--answers", '["y"]'), 2, "prove.turns"),
    "a world that is no function": (
        (f"{WILD}:sound", *WORD, "--world", f"{WILD}:SECRET"),
        2,
        "prove.function",
    ),
    "a world that fails": (
        (f"{WILD}:sound", *WORD, "--between", f"{WILD}:broken"),
        2,
        "prove.world",
    ),
    "something else to pin": ((f"{WILD}:sound", "--pin", "weather"), 2, "usage"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_on_the_command_line_is_told_by_a_code(case: str) -> None:
    arguments, code, name = WRONG[case]
    said = say("prove", *arguments, *ONE, "--json")
    assert said.code == code
    error = said.error()
    assert (error["code"], bool(error["hint"])) == (name, True)
    assert "PLANTED" not in said.err
    assert "sk-proj" not in said.err


@pytest.mark.parametrize("mode", ["strict", "observe"])
def test_the_mode_of_an_operator_does_not_decide(mode: str) -> None:
    # In strict mode a store refuses what this workflow keeps, so that no trial would go on.
    arguments = ("prove", f"{WILD}:completion", *ONE, "--input", "{}", "--output", "text", "--json")
    plain = start(*arguments).result("prove")
    assert fields(plain) == {"response": "needed", "text": "not needed"}
    assert start(*arguments, environment={"KEEPSET_MODE": mode}).result("prove") == plain


def test_on_a_terminal_there_is_progress_and_it_is_gone_at_the_end() -> None:
    shown = on_a_terminal("prove", f"{WILD}:sound", *ONE, *WORD, "--pin", "none")
    assert "looking" in shown
    assert "resuming" in shown
    assert "needed" in shown.rpartition("resuming")[2]
