"""Runs with several lines, and the ways to name one of their checkpoints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.cli.counts import counted
from keepset.cli.lines import Lines, short, spans
from keepset.cli.times import iso
from keepset.errors import UsageError
from keepset.providers import now_ms
from tests.cli.terminal import Said, on_a_terminal, say

RUN = "a-run-whose-id-is-as-long-as-those-of-real-hosts-0123456789"


class Draft(TypedDict, total=False):
    text: Annotated[str, ks.Keep()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three steps, forked after the second, with a newest save on the older line."""
    path = tmp_path_factory.mktemp("lines") / "runs.db"
    with ks.open(f"sqlite:///{path}") as opened:
        run = opened.run(Draft, RUN)
        for word in ("one", "two", "three"):
            run.save(word, Draft(text=word))
        fork = run.fork(run.history()[1].id)
        other = fork.save("other", Draft(text="other"))
        while now_ms() <= other.at:  # what was saved later has a later time
            pass
        run.save("last", Draft(text="last"), status="done")
    return path


def ask(store: Path, *arguments: str) -> Said:
    return say(*arguments, "--store", store)


def show(store: Path, *arguments: str) -> Any:
    said = ask(store, "show", RUN, *arguments, "--json")
    assert said.code == 0, said.err
    return said.result("show")


def test_show_stands_where_runs_says_that_the_run_stands(store: Path) -> None:
    [run] = ask(store, "runs", "--json").result("runs")["runs"]
    found = show(store)
    assert found["checkpoint"]["id"] == run["checkpoint"]
    assert (found["checkpoint"]["step"], found["line"]) == ("other", 1)


def test_show_says_which_lines_there_are_and_which_a_resume_goes_on_with(store: Path) -> None:
    lines = show(store)["lines"]
    assert [(line["line"], line["checkpoints"], line["resumes"]) for line in lines] == [
        (0, 4, False),
        (1, 1, True),
    ]
    assert lines[1]["forked_after"] == show(store, "--step", "2")["checkpoint"]["id"]
    said = ask(store, "show", RUN)
    assert "step 3 of line 1" in said.out
    assert "step 2 of line 0" in said.out
    assert "A resume goes on with line 1" in said.err


def test_a_line_may_be_chosen_and_has_its_own_numbers(store: Path) -> None:
    assert show(store, "--line", "1")["checkpoint"]["step"] == "other"
    assert show(store, "--line", "1", "--step", "3")["checkpoint"]["step"] == "other"
    assert show(store, "--line", "0", "--step", "3")["checkpoint"]["step"] == "three"
    assert show(store, "--line", "1", "--step", "1")["checkpoint"]["step"] == "one"
    said = ask(store, "show", RUN, "--line", "2", "--json")
    assert (said.code, said.error()["code"]) == (3, "line.not-found")


def test_a_checkpoint_of_any_line_is_found_by_its_id_and_by_its_begin_or_end(store: Path) -> None:
    wanted = show(store, "--line", "1")["checkpoint"]
    for named in (wanted["id"], short(wanted["id"]), wanted["id"][-6:], wanted["id"][:-1]):
        found = show(store, "--step", named)
        assert found["checkpoint"]["id"] == wanted["id"]
        assert found["line"] == 1
    assert ask(store, "show", RUN, "--step", wanted["id"][-5:]).code == 3


def test_every_id_that_the_listing_prints_is_accepted(store: Path) -> None:
    listed = re.findall(r"Z  ([0-9a-f]{8}) ", ask(store, "show", RUN, "--line", "1").out)
    assert len(listed) == 3
    steps = [show(store, "--step", named)["checkpoint"]["step"] for named in listed]
    assert steps == ["one", "two", "other"]


def test_a_begin_that_several_ids_have_is_refused_with_all_of_them(store: Path) -> None:
    begin = show(store)["checkpoint"]["id"][:6]
    said = ask(store, "show", RUN, "--step", begin, "--json")
    assert (said.code, said.error()["code"]) == (2, "checkpoint.ambiguous")
    assert said.error()["hint"].count("step ") == 5


def test_diff_compares_checkpoints_of_two_lines(store: Path) -> None:
    other = show(store, "--line", "1")["checkpoint"]
    said = ask(store, "diff", RUN, "3", short(other["id"]), "--line", "0", "--json")
    found = said.result("diff")
    assert (found["old"]["branch"], found["new"]["branch"]) == (0, 1)
    assert found["changes"] == [
        {"path": "text", "change": "changed", "old": "three", "new": "other"}
    ]
    said = ask(store, "diff", RUN, "2", "3", "--line", "1", "--json")
    assert said.result("diff")["changes"][0]["new"] == "other"
    assert ask(store, "diff", RUN, "2", "3").err == "1 difference\n"


def test_a_run_of_one_line_is_shown_without_a_word_about_lines(tmp_path: Path) -> None:
    with ks.open(f"sqlite:///{tmp_path}/runs.db") as opened:
        opened.run(Draft, RUN).save("one", Draft(text="one"))
    said = ask(tmp_path / "runs.db", "show", RUN)
    assert "line" not in said.out + said.err


def test_neither_an_id_nor_a_time_is_broken_on_a_narrow_terminal(store: Path) -> None:
    found = show(store, "--line", "1")
    printed = on_a_terminal("show", RUN, "--line", "1", "--store", store, NO_COLOR="1")
    for checkpoint in found["checkpoints"]:
        assert f"{checkpoint['at']}  {short(checkpoint['id'])}" in printed
    listing = on_a_terminal("runs", "--store", store, NO_COLOR="1")
    assert found["checkpoints"][0]["at"][:10] in listing
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\s", listing)
    assert all(len(line) <= 80 for line in (printed + listing).splitlines())


def test_the_newest_twenty_checkpoints_are_listed_unless_all_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as opened:
        run = opened.run(Draft, RUN)
        for number in range(1, 24):
            run.save(f"step-{number}", Draft(text=str(number)))
    found = show(path)
    assert [c["seq"] for c in found["checkpoints"]] == list(range(23, 3, -1))
    assert found["earlier"] == 3
    said = ask(path, "show", RUN)
    assert said.out.index("field") < said.out.index("step-22")
    assert "step-3 " not in said.out
    assert "3 earlier checkpoints" in said.err
    assert "step-3 " in ask(path, "show", RUN, "--all").out
    assert show(path, "--all")["earlier"] == 0


def test_a_step_that_is_not_there_is_answered_with_those_that_are(store: Path) -> None:
    said = ask(store, "show", RUN, "--step", "9")
    assert said.code == 3
    assert "Line 1 has the steps 1-3." in said.err


def test_a_number_is_a_step_before_it_is_a_part_of_an_id() -> None:
    def checkpoint(name: str, seq: int) -> ks.Checkpoint:
        return ks.Checkpoint(name, seq, "s", "running", 0, "", 0)

    lines = Lines({0: [checkpoint("b-123456", 123456), checkpoint("a-123456", 1)]}, 0)
    assert lines.find("123456").id == "b-123456"
    with pytest.raises(UsageError):
        lines.find("-123456")


@pytest.mark.parametrize(
    ("numbers", "written"), [([], ""), ([3], "3"), ([1, 2, 3, 5], "1-3, 5"), ([7, 1], "1, 7")]
)
def test_numbers_are_written_as_spans(numbers: list[int], written: str) -> None:
    assert spans(numbers) == written


def test_one_thing_is_not_many() -> None:
    assert [counted(n, "run") for n in (0, 1, 2, 1_000)] == [
        "0 runs",
        "1 run",
        "2 runs",
        "1,000 runs",
    ]


def test_a_time_that_no_calendar_has_does_not_stop_a_listing() -> None:
    assert iso(0) == "1970-01-01T00:00:00Z"
    assert iso(10**18).startswith("9999-12-31")
    assert iso(-1) == "1970-01-01T00:00:00Z"
