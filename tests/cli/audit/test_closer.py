"""The command with `--deep` and `--pii`: exit codes, documents, pages, and files to go on from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from tests.audit import naive
from tests.audit.test_deep import ONLY_DEEP
from tests.cli.terminal import say

MAIL = "ada@example.org"


def store(path: Path, question: str) -> Path:
    builder = StateGraph(naive.Research)
    builder.add_node("pay", lambda _: {"payment": {"attempts": 1, "charged": True}})
    builder.add_edge(START, "pay")
    builder.add_edge("pay", END)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"question": question}, {"configurable": {"thread_id": "ticket"}})
    return path


def test_a_secret_that_only_deep_knows_is_an_error_on_every_surface(tmp_path: Path) -> None:
    place = store(tmp_path / "runs.sqlite", f"Why is {ONLY_DEEP} refused?")
    assert say("audit", place).code == 0
    said = say("audit", place, "--deep", "--json")
    assert said.code == 40
    found = said.result("audit")
    assert found["eyes"] == ["deep"]
    deep = {one["surface"] for one in found["findings"] if one["code"] == "secret.deep"}
    assert {"state", "input"} <= deep
    assert all(one["severity"] == "error" for one in found["findings"] if "deep" in one["code"])
    assert ONLY_DEEP not in said.out


def test_the_screen_and_the_page_say_what_was_found_and_by_what_it_was_looked(
    tmp_path: Path,
) -> None:
    place, page = store(tmp_path / "runs.sqlite", f"Is {ONLY_DEEP} mine?"), tmp_path / "page.html"
    said = say("audit", place, "--deep", "--html", page)
    assert said.code == 40
    assert "with --deep" in said.out
    assert "clojars" in said.out
    assert "--deep --write-contract" in said.out
    text = page.read_text("utf-8")
    assert "clojars" in text
    assert ONLY_DEEP not in said.out + said.err + text


def test_personal_data_is_a_warning_and_exits_with_40(tmp_path: Path) -> None:
    pytest.importorskip("presidio_analyzer", reason="--pii is asked for where it is installed")
    place = store(tmp_path / "runs.sqlite", f"Write to {MAIL}, please.")
    contract, page = tmp_path / "state.py", tmp_path / "page.html"
    said = say("audit", place, "--pii", "--write-contract", contract, "--html", page, "--json")
    assert said.code == 40
    found = said.result("audit")
    personal = [one for one in found["findings"] if one["code"] == "personal.email"]
    assert {one["severity"] for one in personal} == {"warning"}
    assert ("state", "question") in {(one["surface"], one["place"]) for one in personal}
    fields = {one["field"]: one["personal"] for one in found["fields"]}
    assert fields["question"]["personal.email"] > 0
    assert fields["payment"] == {}
    assert "ks.Keep(personal=True)" in contract.read_text("utf-8")
    assert "personal data: e-mail addresses" in page.read_text("utf-8")
    assert MAIL not in said.out + page.read_text("utf-8") + contract.read_text("utf-8")


@pytest.mark.parametrize(
    ("option", "package", "extra"),
    [("--deep", "kingfisher_sdk", "deep"), ("--pii", "presidio_analyzer", "audit")],
)
def test_without_the_package_the_command_says_which_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    said = say("audit", store(tmp_path / "runs.sqlite", "Why?"), option, "--json")
    assert said.code == 2
    assert said.error()["hint"] == f'pip install "keepset[{extra}]"'


def test_a_reading_does_not_go_on_from_one_that_looked_less_closely(tmp_path: Path) -> None:
    place, kept = store(tmp_path / "runs.sqlite", "Why?"), tmp_path / "audit.part"
    assert say("audit", place, "--resume", kept, "--limit-time", "0").code == 50
    said = say("audit", place, "--resume", kept, "--limit-time", "0", "--deep", "--json")
    assert said.error()["code"] == "audit.resume-other"
