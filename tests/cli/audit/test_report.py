"""An audit in the terminal: worst first, on one screen, and with what to type next."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

from keepset.audit.report import Audit
from keepset.cli.audit.report import print_report
from tests.audit import naive
from tests.audit.memory import MemoryReader
from tests.audit.test_survey import Rows, audit, state
from tests.cli.terminal import on_a_terminal, say

AGAIN = ("keepset", "audit", "check points.sqlite")


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(MemoryReader(naive.saver(fails=True)))


def printed(one: Audit, *, every: bool = False) -> list[str]:
    out = io.StringIO()
    with redirect_stdout(out):
        print_report(one, AGAIN, every=every)
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
    assert len(lines) <= 30
    (secrets,) = [line for line in lines if line.startswith("a secret (")]
    assert "state: field_0 and 99 more places" in secrets
    assert any(line == "… and 91 more fields: --all" for line in lines)
    assert sum("field_" in line for line in printed(audit(Rows(*rows)), every=True)) == 200


def test_no_value_of_the_store_is_printed(found: Audit) -> None:
    text = "\n".join(printed(found))
    assert not any(
        value in text for value in (naive.KEY, naive.METADATA_KEY, naive.WORKDIR, "sky blue")
    )


def test_a_name_that_would_be_obeyed_by_a_terminal_is_escaped() -> None:
    text = "\n".join(printed(audit(Rows(state("a", 0, "x\x1b[2Jy", naive.KEY)))))
    assert "\x1b" not in text


@dataclass
class Ours:
    """A class that a load imports."""

    name: str


class Laden(TypedDict, total=False):
    question: str
    doc_ids: list[str]
    docs: list[dict[str, str]]
    db: str
    api_key: str
    notes: dict[str, Any]
    workdir: str
    messages: Annotated[list[Any], add_messages]


def _work(_: Laden) -> Laden:
    ids = [f"doc-{number}" for number in range(40)]
    answer = AIMessage("An answer.", response_metadata={"headers": {"x": "y" * 30_000}})
    return {
        "doc_ids": ids,
        "docs": [{"id": one, "text": f"{one} " + "of the document " * 30} for one in ids],
        "db": "<sqlite3.Connection object at 0x7f3a2b1c4d50>",
        "api_key": naive.KEY,
        "notes": {"item": Ours("lamp"), **{f"of_{c}": naive.KEY for c in "abcdefghijklmn"}},
        "workdir": naive.WORKDIR,
        "messages": [answer],
    }


def laden(path: Path) -> None:
    """A store of eight fields with nearly all that an audit finds."""
    builder: Any = StateGraph(Laden)
    builder.add_node("work", _work)
    builder.add_node("rest", lambda _: {"question": "again?"})
    builder.add_node("fail", lambda _: dict[str, str]()[naive.KEY])  # its error quotes the key
    builder.add_edge(START, "work")
    builder.add_edge("work", "rest")
    builder.add_edge("rest", "fail")
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = builder.compile(checkpointer=saver)
        for number in range(6):
            with pytest.raises(KeyError):
                graph.invoke(
                    {"question": "why?"}, {"configurable": {"thread_id": f"ticket-{number}"}}
                )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma secure_delete = off")  # some builds zero what is deleted
        connection.execute("delete from checkpoints where thread_id = 'ticket-1'")
        connection.execute(
            "update writes set value = x'c1ff' where thread_id = 'ticket-2' and channel = 'docs'"
        )
        connection.commit()


def test_on_a_narrow_terminal_the_line_to_type_next_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a-checkpoint-file-with-a-long-name.sqlite")
    laden(path)
    written = on_a_terminal("audit", path, columns=60, NO_COLOR="1").splitlines()
    assert written[-2].endswith(f"audit {path} --write-contract state.py")
    assert written[-1].endswith(f"audit {path} --html audit.html")


def test_a_store_with_nearly_all_that_can_be_found_fits_on_a_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("checkpoints.sqlite")
    laden(path)
    written = on_a_terminal("audit", path, columns=100, NO_COLOR="1")
    lines = written[written.index(str(path)) :].splitlines()
    assert len(lines) <= 30
    assert all(len(line) <= 100 for line in lines)
    text = "\n".join(lines)
    assert "a secret (" in text
    assert "more places" in text
    assert "the text of an object (sqlite3.Connection)" in text
    assert "not to be read" in text
    assert "rows of writes that belong" in text
    assert "path.temporary" in text
    assert "of it deleted" in text
    assert "unfinished" in text
    assert lines[-2].startswith("Next: ")
    every = say("audit", path, "--all").out
    assert "notes.of_n" in every
    assert "… and" not in every
