"""An audit in the terminal: worst first, on one screen, and with what to type next."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import pytest

from keepset.audit.report import Audit
from keepset.cli.audit.report import print_report
from tests.audit import naive
from tests.audit.memory import MemoryReader
from tests.audit.test_survey import Rows, audit, state

AGAIN = ("keepset", "audit", "check points.sqlite")


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(MemoryReader(naive.saver(fails=True)))


def printed(one: Audit) -> list[str]:
    out = io.StringIO()
    with redirect_stdout(out):
        print_report(one, AGAIN)
    return out.getvalue().splitlines()


def test_secrets_come_first_and_what_to_type_next_comes_last(found: Audit) -> None:
    lines = printed(found)
    head = next(n for n, line in enumerate(lines) if line.startswith("what does not belong"))
    assert "a secret (" in lines[head + 1]
    assert lines[-1].strip() == "keepset audit 'check points.sqlite' --html audit.html"
    assert lines[-2].startswith("Next: keepset audit 'check points.sqlite' --write-contract")


def test_one_thing_on_several_surfaces_is_one_line(found: Audit) -> None:
    lines = [line for line in printed(found) if "api_key" in line and "a secret (" in line]
    assert any("state, pending writes: api_key" in line for line in lines)


def test_the_verdicts_read_as_those_of_the_demo(found: Audit) -> None:
    text = "\n".join(printed(found))
    assert "and fetched again from doc_ids" in text
    assert "a secret in a durable store" in text
    assert "4 of 8 fields belong" in text


def test_a_report_fits_on_a_screen_however_many_fields_there_are() -> None:
    rows = [state("a", 0, f"field_{number}", naive.KEY) for number in range(100)]
    lines = printed(audit(Rows(*rows)))
    assert len(lines) <= 40
    assert sum("more: --json" in line for line in lines) == 2


def test_no_value_of_the_store_is_printed(found: Audit) -> None:
    text = "\n".join(printed(found))
    assert not any(
        value in text for value in (naive.KEY, naive.METADATA_KEY, naive.WORKDIR, "sky blue")
    )


def test_a_name_that_would_be_obeyed_by_a_terminal_is_escaped() -> None:
    text = "\n".join(printed(audit(Rows(state("a", 0, "x\x1b[2Jy", naive.KEY)))))
    assert "\x1b" not in text
