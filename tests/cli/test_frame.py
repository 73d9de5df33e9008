"""What holds for every command: help, documents, exit codes, where output goes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from keepset import Resume, errors
from keepset.cli import app, output
from tests.cli.terminal import ROOT, SCHEMAS, on_a_terminal, say, start

CONTEXT = click.Context(app.cli)
COMMANDS = app.cli.list_commands(CONTEXT)
GUIDE = (ROOT / "docs" / "cli.md").read_text("utf-8")


def _command(name: str) -> click.Command:
    command = app.cli.get_command(CONTEXT, name)
    assert command is not None
    return command


def test_the_commands_of_the_first_release_are_there() -> None:
    wanted = {"check", "completion", "demo", "diff", "doctor", "runs", "show", "stats", "verify"}
    assert wanted <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(name: str) -> None:
    said = say(name, "--help")
    assert said.code == 0
    assert re.search(rf"^ *keepset {name}\b", said.out, re.MULTILINE)
    assert "--json" in said.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_with_its_schema(name: str) -> None:
    assert f"### keepset {name}\n" in GUIDE
    schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    assert schema["properties"]["schema"]["const"] == f"keepset.{name}/1"


def test_the_guide_documents_no_command_that_is_not_there() -> None:
    assert set(re.findall(r"^### keepset (\S+)$", GUIDE, re.MULTILINE)) == set(COMMANDS)


def test_the_guide_lists_every_exit_code() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    codes = {c.exit_code for c in classes if issubclass(c, errors.KeepsetError)}
    codes |= {0, app.FINDINGS, Resume.UNKNOWN, app.INTERRUPT, app.BROKEN_PIPE}
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", GUIDE, re.MULTILINE)}
    assert listed == codes


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_says_what_it_does(name: str) -> None:
    mute = [
        parameter.name
        for parameter in _command(name).params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert mute == []


def test_the_version_is_printed() -> None:
    assert re.fullmatch(r"keepset \d+\.\d+\.\d+\S*\n", start("--version").out)


def test_a_wrong_command_line_exits_with_2_and_leaves_stdout_empty() -> None:
    said = start("show")
    assert (said.code, said.out) == (2, "")
    assert "RUN" in said.err


def test_a_wrong_command_line_with_json_gives_an_error_document() -> None:
    said = say("show", "--json")
    assert said.code == 2
    assert said.error()["code"] == "usage"


def test_a_command_that_is_misspelt_is_answered_with_the_one_that_is_meant() -> None:
    said = say("chek")
    assert said.code == 2
    assert "Did you mean 'check'?" in said.err
    assert "Did you mean" not in say("zzzz").err


@pytest.mark.parametrize("option", ["--json", "--store", "--tenant"])
def test_an_option_in_front_of_the_command_is_sent_behind_it(option: str) -> None:
    said = say(option, "runs")
    assert said.code == 2
    assert f"{option} goes behind the command" in said.err


def test_an_error_has_its_own_exit_code_for_people_and_for_programs(tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    said = say("runs", "--store", missing)
    assert (said.code, said.out) == (3, "")
    assert "[store.not-found]" in said.err
    said = say("runs", "--store", missing, "--json")
    assert said.code == 3
    assert said.error()["code"] == "store.not-found"
    assert said.error()["hint"]


def test_a_bug_exits_with_1_and_tells_no_text_that_may_hold_a_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("hunter2-in-a-message")

    monkeypatch.setattr(output, "text", broken)
    said = say("completion", "bash")
    assert said.code == 1
    assert "RuntimeError at test_frame.py:" in said.err
    assert app.TRACEBACK in said.err
    assert "hunter2" not in said.err
    monkeypatch.setenv(app.TRACEBACK, "1")
    assert "hunter2" in say("completion", "bash").err


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "text", interrupted)
    said = say("completion", "bash")
    assert said.code == 130
    assert "Traceback" not in said.err
    monkeypatch.setattr(output, "result", interrupted)
    assert say("completion", "bash", "--json").error()["code"] == "interrupted"


def test_a_reader_that_goes_away_is_no_reason_to_complain() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "keepset.cli", "completion", "bash"],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == app.BROKEN_PIPE
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("completion", "bash"), ("completion", "bash", "--json"), ("runs", "--help")]
)
def test_output_that_cannot_be_written_is_an_error_of_its_own(arguments: tuple[str, ...]) -> None:
    said = _into("/dev/full", *arguments)
    assert said.returncode == 11
    assert "output.failed" in said.stderr
    assert "bug" not in said.stderr
    assert len(said.stderr.splitlines()) <= 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_stderr_that_takes_nothing_changes_the_exit_code_only() -> None:
    with Path("/dev/full").open("w") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "keepset.cli", "runs"],
            stdout=subprocess.PIPE,
            stderr=stream,
            check=False,
        )
    assert (done.returncode, done.stdout) == (11, b"")


@pytest.mark.parametrize(("closed", "code"), [(">&-", 11), ("2>&-", 0), (">&- 2>&-", 11)])
def test_a_closed_stream_is_no_bug(closed: str, code: int) -> None:
    command = f"exec {shlex.quote(sys.executable)} -m keepset.cli completion bash {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "bug" not in done.stderr


def test_where_stderr_is_closed_there_is_no_bar_and_all_else_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('[{"question": "why"}]')
    audit = [sys.executable, "-m", "keepset.cli", "audit", str(tmp_path / "state.json"), "--json"]
    done = [
        subprocess.run(
            ["/bin/sh", "-c", f"exec {shlex.join(audit)} {closed}"],
            capture_output=True,
            text=True,
            check=False,
        )
        for closed in ("", "2>&-")
    ]
    assert done[1].returncode == done[0].returncode
    assert json.loads(done[1].stdout)["schema"] == "keepset.audit/1"


def test_a_current_folder_that_is_gone_is_no_bug(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir ../gone && exec {shlex.quote(sys.executable)} -m keepset.cli check a:B --json"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=gone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 11
    assert json.loads(done.stderr)["error"]["code"] == "system.refused"


def _into(path: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    with Path(path).open("w") as stream:
        return subprocess.run(
            [sys.executable, "-m", "keepset.cli", *arguments],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )


def test_what_an_encoding_lacks_is_printed_as_an_escape() -> None:
    said = start("doctor", environment={"PYTHONIOENCODING": "latin-1", "KEEPSET_MODE": "\u0142"})
    assert said.code == 40
    assert "\\u0142" in said.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_names_the_command_and_what_completes_it(shell: str) -> None:
    said = say("completion", shell)
    assert said.code == 0
    assert "_KEEPSET_COMPLETE" in said.out
    found = say("completion", shell, "--json").result("completion")
    assert found["script"].strip() == said.out.strip()


def test_a_shell_is_told_how_a_command_line_may_go_on() -> None:
    words = {"_KEEPSET_COMPLETE": "bash_complete", "COMP_WORDS": "keepset ru", "COMP_CWORD": "1"}
    said = start(environment=words)
    assert said.out.splitlines() == ["plain,runs"]


def test_colour_is_for_terminals_and_for_those_who_want_it() -> None:
    assert "\x1b[" in on_a_terminal("doctor")
    assert "\x1b" not in on_a_terminal("doctor", NO_COLOR="1")
    assert "\x1b" not in start("doctor").out
