"""What is said of runs that were moved is complete, and small however many there are."""

from __future__ import annotations

import pytest

from keepset.adapters.moved import LeftOut, Moved, Outcome
from keepset.cli.moving.report import Told, as_data, print_report
from keepset.cli.moving.tally import TOLD, Tally

WORDS = {outcome: f"were {outcome.value}" for outcome in Outcome}
TRIED = Told("a.sqlite", "b.db", is_applied=False, words=WORDS, again="keepset import --apply")


def tally(*moved: Moved) -> Tally:
    counted = Tally()
    for one in moved:
        counted.add(one)
    return counted


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], 0),
        ([Outcome.TAKEN, Outcome.THERE, Outcome.AHEAD], 0),
        ([Outcome.TAKEN, Outcome.LEFT], 40),
        ([Outcome.GROWN], 40),
        ([Outcome.DIFFERS], 40),
        ([Outcome.LEFT, Outcome.UNREAD], 50),
    ],
)
def test_the_exit_code_is_the_worst_that_became_of_a_run(
    outcomes: list[Outcome], code: int
) -> None:
    assert tally(*(Moved("r", outcome) for outcome in outcomes)).code() == code


def test_a_run_that_was_taken_without_a_value_is_a_finding() -> None:
    left = LeftOut("c1", "", "state", "db", "sqlite3.Connection")
    assert tally(Moved("r", Outcome.TAKEN, left=(left,))).code() == 40


def test_a_report_on_very_many_runs_stays_small_and_counts_them_all() -> None:
    counted = tally(*(Moved(str(n), Outcome.LEFT, 2, 10) for n in range(TOLD + 5)))
    data = as_data(counted, TRIED)
    assert len(data["told"]) == TOLD
    assert data["more"] == 5
    assert data["runs"]["left"] == TOLD + 5
    assert data["checkpoints"]["left"] == 2 * (TOLD + 5)


def test_a_run_that_needs_a_look_is_told_and_counts_however_many_others_are_told() -> None:
    left = LeftOut("c1", "", "state", "db", "sqlite3.Connection")
    said = [Moved(str(n), Outcome.TAKEN, why="to be given: docs") for n in range(TOLD)]
    counted = tally(*said, Moved("less", Outcome.TAKEN, left=(left,)), Moved("x", Outcome.GROWN))
    assert [one.run for one in counted.told[:3]] == ["less", "x", "0"]
    assert (len(counted.told), counted.more) == (TOLD, 2)
    assert tally(*said, Moved("less", Outcome.TAKEN, left=(left,))).code() == 40


def test_a_person_reads_which_value_was_in_the_way_and_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = LeftOut("c1", "inner:7", "write", "client", "app.Client", is_needed=True)
    moved = Moved("t\n1", Outcome.LEFT, 3, 2_000_000, hint="Add --types.", left=(left,))
    print_report(tally(moved, Moved("t2", Outcome.TAKEN, 5, 100)), TRIED)
    assert capsys.readouterr().out.splitlines() == [
        "t\\n1: were left",
        "  write client: app.Client; a resume would read it (checkpoint inner:7 c1)",
        "  Add --types.",
        "",
        "1 run were taken, 5 checkpoints",
        "1 run were left, 3 checkpoints",
        "all that can be was written to memory, read back and compared, value by value",
        "2.0 MB read of a.sqlite",
        "this was a dry run: nothing was written",
        "to do it: keepset import --apply",
    ]


def test_secrets_that_were_withheld_are_counted_by_kind_and_place() -> None:
    place = ("secret.openai", "api_key")
    counted = tally(
        Moved("a", Outcome.TAKEN, withheld={place: 2}),
        Moved("b", Outcome.TAKEN, withheld={place: 3}),
    )
    assert as_data(counted, TRIED)["withheld"] == [
        {"kind": "secret.openai", "path": "api_key", "times": 5}
    ]


def test_what_is_the_same_of_many_runs_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    def left_out(run: str, *, needed: bool) -> Moved:
        left = LeftOut(f"c{run}", "", "state", "order", "app.Order", is_needed=needed)
        return Moved(run, Outcome.LEFT, 1, 10, hint="Add --types.", left=(left,))

    done = [left_out(f"done-{n}", needed=False) for n in range(9)]
    print_report(tally(left_out("paused", needed=True), *done), TRIED)
    assert capsys.readouterr().out.splitlines()[:7] == [
        "paused: were left",
        "  state order: app.Order; a resume would read it (checkpoint cpaused)",
        "  Add --types.",
        "done-0: were left",
        "  state order: app.Order (checkpoint cdone-0)",
        "  Add --types.",
        "  the same of 8 more runs: done-1, done-2, done-3, done-4, done-5 and 3 others",
    ]


def test_where_no_run_can_be_taken_no_line_is_printed_that_would_do_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_report(tally(Moved("a", Outcome.LEFT), Moved("b", Outcome.THERE)), TRIED)
    assert capsys.readouterr().out.splitlines()[-1] == "this was a dry run: nothing was written"


def test_bytes_and_times_are_written_as_by_every_other_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    withheld = {("secret.name", "key"): 1, ("secret.name", "token"): 1_200}
    print_report(tally(Moved("a", Outcome.TAKEN, 1, 37_000, withheld=withheld)), TRIED)
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        "withheld 1 time: key (secret.name)",
        "withheld 1,200 times: token (secret.name)",
    ]
    assert "37.0 KB read of a.sqlite" in said


def test_a_report_says_nothing_of_bytes_and_of_paths_that_there_are_none_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = LeftOut("c1", "", "write", "", "the order is another")
    print_report(tally(Moved("a", Outcome.DIFFERS, 1, left=(left,))), TRIED)
    said = capsys.readouterr().out
    assert "  write: the order is another (checkpoint c1)\n" in said
    assert "0 B" not in said
