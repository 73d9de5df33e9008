"""The report of a proof in a terminal and in a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from functools import cache

import pytest

from keepset.cli.prove import sentences
from tests.cli.prove import flows
from tests.cli.terminal import ROOT
from tests.prove.oracle import Oracle, proven

AGAIN = "keepset prove shop:flow"
ESCAPE = "\x1b"


def _program(name: str) -> list[str]:
    source = (
        "from keepset.cli.prove.report import print_report\n"
        "from tests.cli.prove import flows\n"
        f"print_report(flows.{name}(), {AGAIN!r})\n"
    )
    return [sys.executable, "-c", source]


@cache
def piped(name: str) -> str:
    done = subprocess.run(_program(name), cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@cache
def shown(name: str, columns: int = 80, **environment: str) -> str:
    """What a terminal of so many columns is sent."""
    ours, theirs = pty.openpty()
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        _program(name),
        cwd=ROOT,
        stdout=theirs,
        stderr=theirs,
        env={**kept, "TERM": "xterm-256color", "COLUMNS": str(columns), **environment},
    )
    os.close(theirs)
    chunks = []
    try:
        while chunk := os.read(ours, 4096):
            chunks.append(chunk)
    except OSError:  # how Linux says that the other end of a terminal is closed
        pass
    os.close(ours)
    process.wait()
    return b"".join(chunks).decode().replace("\r\n", "\n")


def _map(text: str) -> dict[str, str]:
    """The cells of each row of a heat map."""
    rows = re.findall(r"^(\S+) +((?:[NRD?.] +)*[NRD?.])$", text, re.MULTILINE)
    return {name: cells.replace(" ", "") for name, cells in rows}


def test_the_most_telling_verdicts_stand_first_and_say_what_went_wrong_and_where() -> None:
    text = piped("ticket")
    [headline, *_] = text.splitlines()
    assert headline.startswith("Ticket: 5 needed, 1 refetch differs, 2 restored, 6 not needed")
    order = [text.index(f"\n{name} ") for name in ("question", "charged", "news", "db", "cache")]
    assert order == sorted(order)
    assert re.search(
        r"^charged +needed +after find: what observe gave: 2 instead of 1", text, re.MULTILINE
    )
    assert re.search(r"^second +not needed +one of first, second is needed", text, re.MULTILINE)


def test_the_heat_map_reads_without_colour() -> None:
    cells = _map(piped("ticket"))
    assert cells["question"] == "NNNN"
    assert cells["price"] == ".N.."
    assert cells["news"] == ".DDD"
    assert cells["db"] == ".RRR"
    assert cells["cache"] == "...."
    assert _map(piped("half_measured"))["weather"] == "?N"


def test_a_workflow_that_differs_at_one_point_is_not_repeatable_and_it_is_said_in_what() -> None:
    text = piped("half_repeatable")
    assert set("".join(_map(text).values())) == {"?"}
    assert re.search(r"^Inconclusive: .*\b(plan|weather)\b", text, re.MULTILINE)


def test_the_letters_and_the_numbers_of_the_points_are_explained() -> None:
    text = piped("ticket")
    assert re.search(
        r"^1 after find +2 after read +3 after charge +4 after confirm$", text, re.MULTILINE
    )
    assert re.search(
        r"^N needed +D refetch differs +R restored +\. not needed$", text, re.MULTILINE
    )


def test_what_suffices_is_said_with_what_comes_back_by_rule_and_what_is_needed_together() -> None:
    text = piped("ticket")
    assert "7 of 14 fields suffice: question, ids, topic, news, charged, price, first;" in text
    assert "docs, db come back by rule; dropping any one breaks a resume." in text
    assert "Needed together: one of first, second (kept here: first)." in text
    assert "Not compared, since runs of which nothing was changed differ in it: receipt." in text
    assert "strays from a run without an end" in text


def test_each_finding_has_its_code_and_what_to_do() -> None:
    text = piped("ticket")
    assert "The declared contract: 2 errors, " in text
    assert "error charged: dropped, and needed after find" in text
    assert "[prove.dropped-but-needed]\n  Declare Keep().\n" in text


def test_the_last_line_says_what_to_type_next() -> None:
    assert piped("ticket").splitlines()[-1] == f"Next: {AGAIN} --write-contract"
    assert piped("unrepeatable").splitlines()[-1].startswith(f"Next: {AGAIN} --pin clock")
    assert "--output FIELD" in piped("hostile").splitlines()[-1]


def test_what_cannot_be_repeated_is_said_with_what_differs_and_what_helps() -> None:
    text = piped("unrepeatable")
    assert "not repeatable. Two runs of which nothing was changed differ in word." in text
    assert "a fake model" in text


def test_a_pipe_gets_no_colour_and_no_line_is_broken() -> None:
    text = piped("ticket")
    assert ESCAPE not in text
    assert max(map(len, text.splitlines())) > 120


def test_a_terminal_gets_colour_and_no_line_is_longer_than_it() -> None:
    text = shown("ticket")
    assert ESCAPE in text
    plain = shown("ticket", NO_COLOR="1")
    assert ESCAPE not in plain
    assert max(map(len, plain.splitlines())) <= 80
    assert _map(plain) == _map(piped("ticket"))


def test_many_points_go_on_below_under_their_numbers() -> None:
    plain = shown("wide", NO_COLOR="1")
    assert max(map(len, plain.splitlines())) <= 80
    heads = [
        [int(number) for number in line.split()]
        for line in plain.splitlines()
        if re.fullmatch(r" +\d+( +\d+)+", line)
    ]
    assert len(heads) == 2
    assert [number for line in heads for number in line] == list(range(1, 22))
    assert "21 after step_20" in plain


def test_a_name_forges_neither_a_row_nor_a_colour() -> None:
    text = piped("hostile")
    assert ESCAPE not in text
    assert "a\\x1b[31m\\nb" in text
    assert flows.HOSTILE in text


@pytest.mark.parametrize("name", ["sound", "locked", "stale", "half_measured"])
def test_a_proof_of_any_kind_has_a_report(name: str) -> None:
    text = piped(name)
    assert text.splitlines()[-1].startswith("Next: ")


def test_a_contract_that_needs_nothing_changed_is_not_told_to_change() -> None:
    assert sentences.next_step(flows.half_measured(), AGAIN) == f"{AGAIN} --html proof.html"


def test_what_suffices_is_not_said_of_points_at_which_nothing_could_be_measured() -> None:
    def wrong(point: str, left_out: frozenset[str]) -> str | None:
        return "OSError" if point == "after two" or "a" in left_out else None

    partly = proven(Oracle(("after one", "after two"), wrong), ["a", "b"])
    said = sentences.sufficient(partly)
    assert said.startswith("1 of 2 fields suffices: a;")
    assert said.endswith("That holds for the points that could be measured.")
